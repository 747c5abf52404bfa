package mcp

import (
	"errors"
	"fmt"
	"math"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/render"
)

// explain rewrites err for an agent: what happened, the API's code, and what to do. It is nil for
// nil.
func explain(err error) error {
	if err == nil {
		return nil
	}
	text := render.Clean(err.Error())
	if todo := remedy(err); todo != "" {
		text += ". " + todo
	}
	return errors.New(text)
}

func remedy(err error) string {
	switch {
	case errors.Is(err, api.ErrUnauthorized):
		return "Ask the user to set MAYFLY_API_KEY to a valid key."
	case errors.Is(err, api.ErrForbidden):
		return "The plan of the API key does not allow this; ask the user for another key."
	case errors.Is(err, watch.ErrGone):
		return "create_inbox makes another."
	case errors.Is(err, errNoInbox):
		return "list_inboxes lists those there are."
	case errors.Is(err, api.ErrNotFound):
		return "The inbox or message does not exist, has expired, or was deleted; list_inboxes and list_messages show what exists."
	case errors.Is(err, api.ErrRateLimited):
		var e *api.Error
		if errors.As(err, &e) && e.RetryAfter > 0 {
			return fmt.Sprintf("Wait %.0f seconds before the next call.", math.Ceil(e.RetryAfter.Seconds()))
		}
		return "Wait a minute before the next call."
	case errors.Is(err, api.ErrUnavailable):
		return "Check that the service is running (`mayfly up` starts the local one), then try again."
	case errors.Is(err, api.ErrUnsupported):
		return "This service does not support it."
	}
	return ""
}
