package service

import "testing"

func TestMessageID(t *testing.T) {
	t.Parallel()
	for _, seq := range []uint64{1, 31, 32, 1 << 40, ^uint64(0)} {
		id := NewMessageID(seq)
		if got, ok := MessageSeq(id); !ok || got != seq {
			t.Errorf("%s has the sequence number %d, want %d", id, got, seq)
		}
	}
	id := NewMessageID(7)
	for _, wrong := range []string{"", "msg_", id[:30], id[:30] + "0", id[:30] + "07", id[:30] + "+7", id[:30] + "-7", id[:30] + "7_7", id[:30] + "A", "inbox_" + id[4:], id + "00000000000000"} {
		if _, ok := MessageSeq(wrong); ok {
			t.Errorf("%q can be an ID", wrong)
		}
	}
}
