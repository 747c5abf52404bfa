package assets

import "embed"

// Samples holds messages to try the application with: samples/*.eml, without From, To, Date and
// Message-ID.
//
//go:embed samples
var Samples embed.FS
