package local

import (
	"encoding/json"
	"net/http"
)

// controlPath is where the admin socket serves what follows.
const controlPath = "/control/"

// control answers the clients of the service.
type control struct {
	life  *lifetime
	known chan struct{} // closed when state is set
	state State
}

// newControl returns the handler, which waits until state is set and known is closed.
func newControl(life *lifetime) (*control, http.Handler) {
	c := &control{life: life, known: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+controlPath+"attach", c.attach)
	mux.HandleFunc("GET "+controlPath+"state", c.do(func() bool { return true }))
	mux.HandleFunc("POST "+controlPath+"keep", c.do(life.keep))
	mux.HandleFunc("POST "+controlPath+"yield", c.do(life.yield))
	mux.HandleFunc("POST "+controlPath+"stop", c.do(life.stop))
	return c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-c.known:
			mux.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// attach answers with the state, and again if the service is stopped. The request is open until the
// client leaves or the service ends.
func (c *control) attach(w http.ResponseWriter, r *http.Request) {
	if !c.life.attach() {
		w.WriteHeader(http.StatusConflict)
		return
	}
	defer c.life.detach()
	c.answer(w)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-c.life.ended:
		c.answer(w)
	case <-r.Context().Done():
	}
}

// do returns a handler that does something and answers with the state.
func (c *control) do(something func() bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !something() {
			w.WriteHeader(http.StatusConflict)
		}
		c.answer(w)
	}
}

func (c *control) answer(w http.ResponseWriter) {
	_ = json.NewEncoder(w).Encode(c.life.state(c.state)) // it fails when the client has left
}
