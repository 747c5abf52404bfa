package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
)

// sessionTimeout ends a session that its client has abandoned.
const sessionTimeout = 30 * time.Minute

// tokenClient is the name under which the token of a request carries the client for its key.
const tokenClient = "client"

// Handler serves any number of clients over streamable HTTP. Requests carry an API key as for the
// REST API. client returns an API client for a key, or an error if the key is invalid.
func Handler(client func(ctx context.Context, key string) (*api.Client, error), o Options) http.Handler {
	// One server for all sessions: a server is large, and clients that never end their sessions
	// leave many.
	server := newServer(func(r sdk.Request) *api.Client { return r.GetExtra().TokenInfo.Extra[tokenClient].(*api.Client) }, o)
	sessions := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{SessionTimeout: sessionTimeout, Logger: o.Log})

	// The SDK ties a session to the user of a bearer token, so that nobody else can use it. Our
	// user is the key.
	verify := func(ctx context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		key := r.Header.Get("X-API-Key")
		c, err := client(ctx, key)
		if err != nil {
			return nil, auth.ErrInvalidToken
		}
		sum := sha256.Sum256([]byte(key))
		return &auth.TokenInfo{UserID: hex.EncodeToString(sum[:]), Extra: map[string]any{tokenClient: c}}, nil
	}
	bound := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(sessions)
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer key")
		bound.ServeHTTP(w, r)
	}))
}
