package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"mayfly/internal/sockets"
)

// Ready returns nil if the service at a base URL is ready, else why not, as its /readyz says:
// [ErrUnavailable], or [ErrUnexpected] if it has none. It makes one request, without a key. On
// loopback any certificate will do, since it is for the name that others know the service by.
func Ready(ctx context.Context, baseURL string) error {
	base, err := parseBase(baseURL, true)
	if err != nil {
		return err
	}
	a, err := getReadiness(ctx, base)
	if err != nil {
		return notReady(base, withoutURL(err))
	}
	switch {
	case a.status == http.StatusOK && a.isJSON():
		return nil
	case a.status < 500:
		return fmt.Errorf("%w: %s/readyz answered %d with %s; is the URL right?", ErrUnexpected, base, a.status, a.describe())
	}
	text := fmt.Sprintf("it answered %d %s", a.status, http.StatusText(a.status))
	if said := errorText(a.body); a.isJSON() && said != "" {
		text = printable(said)
	}
	return notReady(base, errors.New(text))
}

func notReady(base *url.URL, cause error) error {
	return fmt.Errorf("the service at %s is not ready: %w", base, &lostError{cause: cause})
}

// maxReadiness is how much is read of an answer of /readyz, in bytes.
const maxReadiness = 64 << 10

func getReadiness(ctx context.Context, base *url.URL) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.String()+"/readyz", nil)
	if err != nil {
		return nil, err
	}
	transport := NewTransport()
	transport.DisableKeepAlives = true
	if sockets.IsLoopback(base.Hostname()) {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReadiness))
	return &answer{response.StatusCode, response.Header, body}, err
}
