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

// sessionTimeout ends a session that its client has left without a word.
const sessionTimeout = 30 * time.Minute

// Handler serves any number of clients over streamable HTTP. A request carries its API key as for the REST API; client
// returns what works with that key, or an error when the key is not valid.
func Handler(client func(ctx context.Context, key string) (*api.Client, error), o Options) http.Handler {
	sessions := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		c, err := client(r.Context(), r.Header.Get("X-API-Key"))
		if err != nil {
			return nil
		}
		return New(c, o)
	}, &sdk.StreamableHTTPOptions{SessionTimeout: sessionTimeout, Logger: o.Log})

	// The SDK ties a session to the user of a bearer token, so that nobody else can use it. Ours is the key.
	verify := func(ctx context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		key := r.Header.Get("X-API-Key")
		if _, err := client(ctx, key); err != nil {
			return nil, auth.ErrInvalidToken
		}
		sum := sha256.Sum256([]byte(key))
		return &auth.TokenInfo{UserID: hex.EncodeToString(sum[:])}, nil
	}
	bound := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(sessions)
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer key")
		bound.ServeHTTP(w, r)
	}))
}
