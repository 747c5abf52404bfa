package service

import "sync"

// hub is a publish-subscribe hub within the process. A topic is the ID of an inbox, or the ID of a
// key for its list of inboxes. Publishing carries no data: it wakes the subscribers, which then
// read the store. The subscribers of a topic share a channel; a topic without any takes no memory.
type hub struct {
	mu          sync.Mutex
	topics      map[string]*topic
	subscribers int // of all topics
}

type topic struct {
	changed     chan struct{}
	subscribers int
}

func newHub() *hub { return &hub{topics: make(map[string]*topic)} }

// subscribe returns a channel that is closed at the next notification of the topic, and the
// function that ends the subscription.
func (h *hub) subscribe(id string) (changed <-chan struct{}, unsubscribe func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[id]
	if t == nil {
		t = &topic{changed: make(chan struct{})}
		h.topics[id] = t
	}
	t.subscribers++
	h.subscribers++
	return t.changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.subscribers--
		if t.subscribers--; t.subscribers == 0 && h.topics[id] == t {
			delete(h.topics, id)
		}
	}
}

// count returns the number of subscribers.
func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.subscribers
}

// notify wakes the subscribers of a topic.
func (h *hub) notify(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[id]; t != nil {
		close(t.changed)
		delete(h.topics, id)
	}
}

// notifyAll wakes the subscribers of all topics.
func (h *hub) notifyAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		close(t.changed)
	}
	clear(h.topics)
}
