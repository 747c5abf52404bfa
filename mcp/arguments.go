package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/google/jsonschema-go/jsonschema"

	"mayfly/render"
)

// bound limits an argument that is a number.
type bound struct {
	name        string
	least, most float64
	unit        string // one of them, in words
}

// arguments reads the arguments of a call. The error says in words what is wrong with them, where
// the SDK would quote the schema.
func arguments[T any](s *jsonschema.Schema, bounds []bound, data json.RawMessage) (T, error) {
	var in T
	given := map[string]any{}
	if len(data) > 0 && json.Unmarshal(data, &given) != nil {
		return in, errors.New("the arguments must be a JSON object")
	}
	maps.DeleteFunc(given, func(_ string, v any) bool { return v == nil })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if s.Properties[name] == nil {
			return in, fmt.Errorf("there is no argument %s; this tool takes %s", render.Clean(name), strings.Join(s.PropertyOrder, ", "))
		}
		if want := kinds[s.Properties[name].Type]; !want.fits(given[name]) {
			return in, fmt.Errorf("%s must be %s", name, want.name)
		}
	}
	for _, name := range s.Required {
		if given[name] == nil || given[name] == "" {
			return in, fmt.Errorf("%s is missing: %s", name, s.Properties[name].Description)
		}
	}
	for _, b := range bounds {
		switch n, ok := given[b.name].(float64); {
		case ok && n < b.least:
			return in, fmt.Errorf("%s is at least %.0f %s", b.name, b.least, english.PluralWord(int(b.least), b.unit, ""))
		case ok && n > b.most:
			return in, fmt.Errorf("%s is at most %.0f %s", b.name, b.most, english.PluralWord(int(b.most), b.unit, ""))
		}
	}
	data, err := json.Marshal(given)
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(data, &in)
}

// kind is a type of JSON schema.
type kind struct {
	name string
	fits func(any) bool
}

var kinds = map[string]kind{
	"string":  {"a string", func(v any) bool { _, ok := v.(string); return ok }},
	"boolean": {"true or false", func(v any) bool { _, ok := v.(bool); return ok }},
	"integer": {"a whole number", func(v any) bool { n, ok := v.(float64); return ok && n == math.Trunc(n) }},
}
