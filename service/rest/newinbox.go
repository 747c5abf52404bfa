package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"time"

	"mayfly/service"
)

// maxBody is the size limit of a request's body, in bytes.
const maxBody = 64 << 10

// maxSeconds is what a lifetime is cut to before it becomes a time.Duration: about 68 years, longer
// than any plan's.
const maxSeconds = 1<<31 - 1

// invalid returns an error that tells the client what is wrong with its request.
func invalid(format string, args ...any) error {
	return service.Errorf(service.Invalid, format, args...)
}

// readNewInbox reads the body of a create request: one JSON object of known fields, each of the
// right type and at most once. An empty body stands for an empty object. An error is meant for the
// client.
func readNewInbox(w http.ResponseWriter, r *http.Request) (service.NewInbox, error) {
	var n service.NewInbox
	if r.ContentLength > maxBody { // the announced length suffices to refuse it
		w.Header().Set("Connection", "close")
		return n, invalid("The body is larger than %d bytes", maxBody)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return n, invalid("The body is larger than %d bytes", maxBody)
		}
		return n, invalid("The body could not be read")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return n, nil
	}
	if err := wantJSON(r.Header.Get("Content-Type")); err != nil {
		return n, err
	}
	fields, err := objectFields(body)
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

// wantJSON checks a content type. Without one, the body is taken for JSON.
func wantJSON(contentType string) error {
	if contentType == "" {
		return nil
	}
	if name, _, err := mime.ParseMediaType(contentType); err != nil || name != "application/json" {
		return invalid("The body must be JSON: send it with Content-Type: application/json")
	}
	return nil
}

// objectFields splits a JSON object into its fields. Unlike encoding/json it rejects duplicate
// names, does not fold case, and accepts nothing after the object.
func objectFields(body []byte) (map[string]json.RawMessage, error) {
	if !json.Valid(body) {
		return nil, invalid("The body is not one valid JSON value")
	}
	fields := map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(body))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, invalid("The body must be a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, invalid("The body is not valid JSON")
		}
		key := name.(string) // names in a valid object are strings
		if _, ok := fields[key]; ok {
			return nil, invalid("Field %.50q appears twice", key)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, invalid("The body is not valid JSON")
		}
		fields[key] = value
	}
	return fields, nil
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
