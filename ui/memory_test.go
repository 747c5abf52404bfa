package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/api/apitest"
)

func TestLargeMessagesArePrefetchedOneAtATime(t *testing.T) {
	set := with(func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		for n := range 4 {
			h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: fmt.Sprint("Large ", n), Text: strings.Repeat("some words ", 50<<10)})
		}
		h.server.SetDelay(time.Second)
	})
	play(t, set, func(h *harness) {
		most := 0
		for range 40 {
			h.wait(200 * time.Millisecond)
			most = max(most, h.app.store.Prefetching())
		}
		if most != 1 {
			t.Errorf("%d large messages were prefetched at the same time", most)
		}
	})
}
