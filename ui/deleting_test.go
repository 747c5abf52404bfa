package ui

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/internal/fortest"
	"mayfly/ui/uitest"
)

func TestTheQuestionBeforeDeleting(t *testing.T) {
	for _, c := range []struct {
		messages []int // of each inbox
		gone     bool
		want     []string
		keep     string
	}{
		{[]int{0}, false, []string{"Delete this inbox?", "inbox-0@b.example", "0 messages will be deleted with it. This cannot be undone."}, "keep it"},
		{[]int{1}, false, []string{"1 message will be deleted with it."}, "keep it"},
		{[]int{3}, true, []string{"Remove this inbox from the list?", "inbox-0@b.example", "It no longer exists."}, "keep it"},
		{[]int{0, 1}, false, []string{"Delete 2 inboxes?", "1 message will be deleted with them.", "inbox-0@", "inbox-1@"}, "keep them"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, false, []string{"Delete 12 inboxes?", "66 messages will be deleted with them.", "inbox-0@", "inbox-5@", "and 6 more"}, "keep them"},
	} {
		a := online(t)
		a.store.Drop("a")
		for n, messages := range c.messages {
			i, _ := a.store.Put(api.Inbox{ID: fmt.Sprint("inbox_", n), Email: fmt.Sprintf("inbox-%d@b.example", n), ExpiresAt: now.Add(time.Hour)}, now.Add(-time.Duration(n)*time.Second))
			i.Keys = make([]string, messages)
			if c.gone {
				i.Expires = now
			}
		}
		a.updateLists()
		a.selectInbox("inbox_0")
		if len(c.messages) > 1 {
			a.focus = 0
			a.inboxes.MarkAll()
		}
		a.perform(table{actions: a.actions(nil)}.byID("delete-inbox"))
		d := a.dialogs[0]
		uitest.DrawDialog(t, d, 80, 24).See(append(c.want, "y delete", "esc "+c.keep)...)
		uitest.DrawDialog(t, d, 20, 6).See("y delete", "esc")
		if r := press(d, "d", "enter", "esc"); !r.Close || r.Do != nil {
			t.Errorf("esc leads to %+v", r)
		}
		r := press(d, "d", "enter", "y")
		if !r.Close || r.Do == nil {
			t.Fatalf("y leads to %+v", r)
		}
		r.Do()
		if began := a.footer.latest(); began.Session != a.session() || began.About != "inbox_0" || len(c.messages) > 1 && began.Total != len(c.messages) {
			t.Errorf("y begins %+v", began)
		}
	}
}

func TestDeletingOneAfterTheOther(t *testing.T) {
	var ids []string
	play(t, setting{width: 120, height: 36, before: func(h *harness) {
		for _, name := range []string{"ada", "refused", "gone"} {
			ids = append(ids, h.inboxNamed(name, time.Hour).ID)
			time.Sleep(time.Second)
		}
	}}, func(h *harness) {
		h.server.Delete(ids[2])
		h.server.FailIf(apitest.Forbidden, -1, func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, ids[1]) && r.Method == http.MethodDelete
		})
		h.press("h", "*", "d", "y")
		h.wait(time.Second)
		h.see("! 1 of 3 inboxes could not be deleted: d tries again")
		if got := h.app.store.Order; len(got) != 1 || got[0] != ids[1] {
			t.Errorf("left are %q", got)
		}
	})
}

func TestWhatIsSaidOfADeletion(t *testing.T) {
	for _, c := range []struct {
		x     deletion
		last  deleted
		inbox bool
		want  string
	}{
		{deletion{words: wholeInboxes, total: 1, what: "ada@b.example"}, deleted{}, true, "deleted ada@b.example"},
		{deletion{words: wholeInboxes, total: 1, what: "ada@b.example"}, deleted{gone: true}, true, "ada@b.example is off the list: it no longer existed"},
		{deletion{words: wholeInboxes, total: 1, what: "ada@b.example", failed: 1}, deleted{err: api.ErrForbidden}, true, "! " + api.ErrForbidden.Error()},
		{deletion{words: wholeInboxes, total: 3, what: "3 inboxes"}, deleted{gone: true}, true, "deleted 3 inboxes"},
		{deletion{words: wholeInboxes, total: 3, what: "3 inboxes", failed: 2}, deleted{}, true, "! 2 of 3 inboxes could not be deleted: D tries again"},
		{deletion{words: singleMessages, total: 3, what: "3 messages", failed: 2}, deleted{}, false, "! 2 of 3 messages could not be deleted: D tries again"},
		{deletion{words: singleMessages, total: 1, what: "“Hello”"}, deleted{gone: true}, false, "deleted “Hello”"},
		{deletion{words: singleMessages, total: 3, what: "3 messages"}, deleted{err: api.ErrUnsupported}, false, "! this service cannot delete single messages"},
		{deletion{words: allMessages, total: 1, what: "ada@b.example"}, deleted{}, false, "emptied ada@b.example"},
	} {
		got := c.x.outcome(c.last, c.inbox, "D")
		if got.Err != nil {
			got.Text = "! " + got.Err.Error()
		}
		if got.Text != c.want {
			t.Errorf("%q, want %q", got.Text, c.want)
		}
	}
}

func TestAHostileNameInTheQuestion(t *testing.T) {
	for _, w := range []int{20, 30, 64} {
		a := online(t)
		i, _ := a.store.Put(api.Inbox{ID: uitest.Hostile, Email: uitest.Hostile + "@" + uitest.Hostile, ExpiresAt: now.Add(time.Hour)}, now)
		a.updateLists()
		a.selectInbox(i.ID)
		a.perform(table{actions: a.actions(nil)}.byID("delete-inbox"))
		uitest.DrawDialog(t, a.dialogs[0], w, 8)
		a.focus = 0
		a.inboxes.MarkAll()
		a.perform(table{actions: a.actions(nil)}.byID("delete-inbox"))
		uitest.DrawDialog(t, a.dialogs[1], w, 8)
	}
}

func TestAMessageThatIsDeletedElsewhere(t *testing.T) {
	play(t, setting{width: 80, height: 24, service: extended, before: someMail}, func(h *harness) {
		h.wait(time.Second)
		h.press("j", "Z")
		m := h.app.message() // which has the whole screen
		fortest.Must(h.t, h.server.Client(api.Options{}).DeleteMessage(h.t.Context(), m.InboxID, m.ID))
		h.wait(time.Second)
		h.see("No longer exists: “", "Welcome!")
	})
}
