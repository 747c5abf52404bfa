package service

import "testing"

func TestMessageID(t *testing.T) {
	t.Parallel()
	for _, place := range []uint64{1, 31, 32, 1 << 40, ^uint64(0)} {
		id := NewMessageID(place)
		if got, ok := MessagePlace(id); !ok || got != place {
			t.Errorf("%s has place %d, want %d", id, got, place)
		}
	}
	id := NewMessageID(7)
	for _, wrong := range []string{"", "msg_", id[:30], id[:30] + "0", id[:30] + "07", id[:30] + "+7", id[:30] + "-7", id[:30] + "7_7", id[:30] + "A", "inbox_" + id[4:], id + "00000000000000"} {
		if _, ok := MessagePlace(wrong); ok {
			t.Errorf("%q can be an ID", wrong)
		}
	}
}
