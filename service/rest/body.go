package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"mayfly/service"
)

// maxBody is the size limit of a request's body, in bytes.
const maxBody = 64 << 10

// invalid returns an error that tells the client what is wrong with its request.
func invalid(format string, args ...any) error {
	return service.Errorf(service.Invalid, format, args...)
}

// readObject reads the fields of a request's body, one JSON object with each at most once. An empty
// body stands for an empty object. An error is meant for the client.
func readObject(w http.ResponseWriter, r *http.Request) (map[string]json.RawMessage, error) {
	if r.ContentLength > maxBody { // the announced length suffices to refuse it
		w.Header().Set("Connection", "close")
		return nil, invalid("The body is larger than %d bytes", maxBody)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, invalid("The body is larger than %d bytes", maxBody)
		}
		return nil, invalid("The body could not be read")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if err := wantJSON(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	return objectFields(body)
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
