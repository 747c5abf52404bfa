package assets

import _ "embed"

// Clients is what mail clients do not support: packaging/clients makes it, and render/client reads it.
//
//go:embed clients.txt
var Clients string
