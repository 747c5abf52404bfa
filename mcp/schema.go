package mcp

import (
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"mayfly/internal/message"
)

// input is the schema of a tool's arguments. It panics on an error, as output does, which only a
// mistake in this package can cause.
func input[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[attachedFile]():  {Type: "object"},
		reflect.TypeFor[message.Check](): {Type: "object"},
	}})
	if err != nil {
		panic(err)
	}
	simplify(s)
	return s
}

// output is the schema of a tool's result, with only the fields that a program needs to go on: models
// do not see it, and it is a large part of the list of tools.
func output[T any](fields []string) *jsonschema.Schema {
	s := input[T]()
	s.Required = nil
	maps.DeleteFunc(s.Properties, func(name string, _ *jsonschema.Schema) bool { return !slices.Contains(fields, name) })
	s.PropertyOrder = fields
	for _, p := range s.Properties {
		if p.Items != nil {
			p.Items.Required = nil
		}
	}
	return s
}

// simplify leaves a single type each, since some clients know no others.
func simplify(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	s.AdditionalProperties = nil // arguments that there are not are refused in words
	if s.Items != nil {
		simplify(s.Items)
	}
	for _, p := range s.Properties {
		simplify(p)
	}
}
