package cli

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"

	"mayfly/internal/message"
)

// writeArchive writes a message and its attachments as a tar archive.
func writeArchive(w io.Writer, m *message.Message, attachments map[int][]byte) error {
	archive := tar.NewWriter(w)
	add := func(name string, content []byte) error {
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: m.ReceivedAt})
		if err == nil {
			_, err = archive.Write(content)
		}
		return err
	}
	var err error
	if m.Raw != nil {
		err = add("message.eml", m.Raw)
	} else {
		err = add("message.txt", []byte(m.PlainText()+"\n"))
	}
	for i := range m.Attachments {
		if content, ok := attachments[i]; ok {
			err = errors.Join(err, add(fmt.Sprintf("%02d-%s", i+1, m.FileName(i)), content))
		}
	}
	return errors.Join(err, archive.Close())
}
