package mcp

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
)

var (
	yes = ptr(true)
	no  = ptr(false)
)

func ptr[T any](v T) *T { return &v }

// readOnly has the hints of a tool that changes nothing and stays within the service.
func readOnly() *sdk.ToolAnnotations {
	return &sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: no, IdempotentHint: true, OpenWorldHint: no}
}

// bound limits a property of an input schema.
type bound func(properties map[string]*jsonschema.Schema)

func between(name string, least, most float64) bound {
	return func(p map[string]*jsonschema.Schema) { p[name].Minimum, p[name].Maximum = &least, &most }
}

func atMost(name string, characters int) bound {
	return func(p map[string]*jsonschema.Schema) { p[name].MaxLength = &characters }
}

func anID(name string) bound {
	return func(p map[string]*jsonschema.Schema) { p[name].MinLength, p[name].MaxLength = ptr(1), ptr(200) }
}

// input is the schema of a tool's arguments. It panics on an error, which only a mistake in this
// package can cause.
func input[T any](bounds ...bound) *jsonschema.Schema {
	s := schema[T]()
	for _, b := range bounds {
		b(s.Properties)
	}
	return s
}

// output is the schema of a tool's result.
func output[T any]() *jsonschema.Schema { return schema[T]() }

func schema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: apiSchemas()})
	if err != nil {
		panic(err)
	}
	return s
}

// apiSchemas are the schemas of the API's objects, which have their own MarshalJSON.
func apiSchemas() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[api.Inbox](): object(
			required("id", "string", "id of the inbox"),
			required("email", "string", "address of the inbox"),
			required("created_at", "string", "time of creation, RFC 3339"),
			required("expires_at", "string", "time from which the inbox is gone, RFC 3339"),
			optional("ttl", "integer", "lifetime granted, in seconds"),
			optional("message_count", "integer", "number of messages"),
			optional("status", "string", "active, or another word of the service"),
		),
		reflect.TypeFor[api.Summary](): object(
			required("id", "string", "id of the message"),
			required("from", "string", "sender, untrusted"),
			optional("from_name", "string", "display name of the sender, untrusted"),
			required("subject", "string", "subject, untrusted"),
			required("received_at", "string", "time of receipt, RFC 3339"),
			required("size", "integer", "size in bytes"),
		),
		reflect.TypeFor[api.Attachment](): object(
			required("id", "string", "id of the attachment"),
			required("filename", "string", "file name, untrusted"),
			required("content_type", "string", "media type, untrusted"),
			required("size", "integer", "size in bytes"),
			required("content_id", "string", "content ID, untrusted"),
			required("inline", "boolean", "whether it is shown within the message"),
		),
	}
}

type property struct {
	name, kind, description string
	required                bool
}

func required(name, kind, description string) property {
	return property{name, kind, description, true}
}

func optional(name, kind, description string) property {
	return property{name, kind, description, false}
}

func object(properties ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, p := range properties {
		s.Properties[p.name] = &jsonschema.Schema{Type: p.kind, Description: p.description}
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}
