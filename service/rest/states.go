package rest

import (
	"encoding/json"
	"net/http"

	"mayfly/api"
	"mayfly/service"
)

// maxState bounds the body of a change of what clients keep of an inbox: twice what the service keeps at most, in base64.
const maxState = 512 << 10

// statesMemory is what reading all states of a key can take, with the answer.
const statesMemory = 4 * service.MaxClientStates

// listStates answers with what clients keep of the key's inboxes.
func (s *Server) listStates(w *response, r *http.Request) error {
	release, err := s.options.Large.Reserve(r.Context(), w.key.ID, statesMemory)
	if err != nil {
		return err
	}
	defer release()
	states, err := s.service.ClientStates(r.Context(), w.key)
	if err != nil {
		return err
	}
	return w.sendTagged(r, api.States{States: states})
}

// setState replaces what clients keep of an inbox, unless another client has replaced it.
func (s *Server) setState(w *response, r *http.Request) error {
	body, err := readBody(w, r, maxState)
	if err != nil {
		return err
	}
	var c api.StateChange
	if json.Unmarshal(body, &c) != nil || c.After == nil {
		return invalid(`The body must be one JSON object with the fields "before", base64 or null, and "after", base64`)
	}
	release, err := s.options.Large.Reserve(r.Context(), w.key.ID, statesMemory)
	if err != nil {
		return err
	}
	defer release()
	err = s.service.SetClientState(r.Context(), w.key, r.PathValue("inbox"), c.Before, c.After)
	if service.ErrorCode(err) == service.Taken {
		w.sendError(http.StatusPreconditionFailed, "Another client has changed it")
		return nil
	}
	if err != nil {
		return err
	}
	return w.sendJSON(http.StatusOK, struct{}{})
}
