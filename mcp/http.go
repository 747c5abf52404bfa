package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
)

// sessionTimeout ends a session that its client has abandoned.
const sessionTimeout = 30 * time.Minute

// tokenClient is the name under which the token of a request carries the client for its key.
const tokenClient = "client"

// token is the key of a request's token in its context.
type token struct{}

// Handler serves any number of clients over streamable HTTP. Requests carry an API key as for the
// REST API, or as a bearer token (RFC 6750), since many clients can be given no other. client
// returns an API client for a key, or [api.ErrUnauthorized] if the key is invalid.
func Handler(client func(ctx context.Context, key string) (*api.Client, error), o Options) http.Handler {
	// One server for all sessions: a server is large, and clients that never end their sessions
	// leave many.
	server := newServer(func(r sdk.Request) *api.Client { return r.GetExtra().TokenInfo.Extra[tokenClient].(*api.Client) }, o)
	sessions := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{SessionTimeout: sessionTimeout, Logger: o.Log})

	// The SDK ties a session to the user of a bearer token, so that nobody else can use it. Our
	// user is the key.
	verified := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		return ctx.Value(token{}).(*auth.TokenInfo), nil
	}
	bound := auth.RequireBearerToken(verified, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(sessions)
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := keyOf(r)
		if key == "" {
			refuse(w, `Bearer realm="mayfly"`, "an API key is required, as Authorization: Bearer KEY or as X-API-Key: KEY")
			return
		}
		c, err := client(r.Context(), key)
		switch {
		case errors.Is(err, api.ErrUnauthorized):
			refuse(w, `Bearer realm="mayfly", error="invalid_token"`, "the API key is not valid")
			return
		case err != nil:
			http.Error(w, "the service cannot check the API key now; try again later", http.StatusServiceUnavailable)
			return
		}
		sum := sha256.Sum256([]byte(key))
		info := &auth.TokenInfo{UserID: hex.EncodeToString(sum[:]), Extra: map[string]any{tokenClient: c}}
		r = r.Clone(context.WithValue(r.Context(), token{}, info))
		r.Header.Set("Authorization", "Bearer key")
		bound.ServeHTTP(w, r)
	}))
}

// keyOf returns the API key of a request, "" without one.
func keyOf(r *http.Request) string {
	if key := r.Header.Get("X-API-Key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

func refuse(w http.ResponseWriter, challenge, text string) {
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, text, http.StatusUnauthorized)
}
