// Package assets embeds the program's data.
package assets

import _ "embed"

// OpenAPI is the description of the REST API (OpenAPI 3.1, YAML).
//
//go:embed openapi.yaml
var OpenAPI []byte

// Clients is what mail clients do not support, as packaging/clients writes it.
//
//go:embed clients.txt
var Clients string
