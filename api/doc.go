// Package api is the API of a temporary inbox service as Go.
package api
