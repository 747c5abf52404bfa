package pebble

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"mayfly/service"
)

// A backup has everything that was acknowledged before it, wherever the database keeps it, and
// nothing later.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	svc := service.New(s, service.Options{Domains: []string{"one.test"}})
	ctx := t.Context()
	_, key, err := svc.CreateKey(ctx, "", service.Enterprise)
	if err != nil {
		t.Fatal(err)
	}
	in, err := svc.CreateInbox(ctx, key, service.NewInbox{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := svc.Recipient(ctx, in.Address)
	if err != nil {
		t.Fatal(err)
	}
	raw := func(i int) []byte {
		return append(fmt.Appendf(nil, "Subject: %d\r\n\r\n", i), bytes.Repeat([]byte{byte('a' + i%26)}, 100+i*500)...)
	}
	const n = 40
	for i := range n {
		if i == n/2 { // some in tables and value files, some in the log
			if err := s.db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := svc.Deliver(ctx, service.Delivery{To: []service.Recipient{to}, Raw: raw(i)}); err != nil {
			t.Fatal(err)
		}
	}
	backup := filepath.Join(dir, "backup")
	if err := s.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(ctx, backup); err == nil {
		t.Error("a backup went over another")
	}
	if err := svc.DeleteInbox(ctx, key, in.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	restored, err := Open(backup, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	svc = service.New(restored, service.Options{})
	list, err := svc.Messages(ctx, key, in.ID, service.Page{})
	if err != nil || list.Total != n || len(list.Messages) != n {
		t.Fatalf("%d of %d messages, %v", len(list.Messages), list.Total, err)
	}
	for i, sum := range list.Messages {
		m, err := svc.Message(ctx, key, in.ID, sum.ID)
		if err != nil || !bytes.Equal(m.Raw, raw(n-1-i)) {
			t.Errorf("message %d: %d bytes, %v", n-1-i, len(m.Raw), err)
		}
	}
}
