// Package assets holds the data that is built into the program.
package assets

import _ "embed"

// OpenAPI is the description of the REST API (OpenAPI 3.1, YAML).
//
//go:embed openapi.yaml
var OpenAPI []byte
