package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"mayfly/service"
)

// maxSeconds is what a lifetime is cut to before it becomes a time.Duration: about 68 years, longer
// than any plan's.
const maxSeconds = 1<<31 - 1

// readNewInbox reads the body of a create request. An error is meant for the client.
func readNewInbox(w http.ResponseWriter, r *http.Request) (service.NewInbox, error) {
	var n service.NewInbox
	fields, err := readObject(w, r)
	if err != nil {
		return n, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		switch name {
		case "domain":
			n.Domain, err = textField(name, value)
		case "username":
			n.Username, err = textField(name, value)
		case "ttl":
			n.TTL, err = secondsField(name, value)
		default:
			err = invalid("Unknown field %.50q; known are domain, username and ttl", name)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func textField(name string, value json.RawMessage) (string, error) {
	var s *string
	if err := json.Unmarshal(value, &s); err != nil || s == nil {
		return "", invalid("Field %q must be a string", name)
	}
	if *s == "" {
		return "", invalid("Field %q is empty: leave it out for the default", name)
	}
	return *s, nil
}

func secondsField(name string, value json.RawMessage) (time.Duration, error) {
	var n *json.Number
	if value[0] == '"' || json.Unmarshal(value, &n) != nil || n == nil {
		return 0, invalid("Field %q must be a whole number of seconds", name)
	}
	seconds, err := n.Int64()
	if err != nil {
		return 0, invalid("Field %q must be a whole number of seconds", name)
	}
	if seconds <= 0 {
		return 0, invalid("Field %q must be a positive number of seconds", name)
	}
	return time.Duration(min(seconds, maxSeconds)) * time.Second, nil
}
