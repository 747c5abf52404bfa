package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPersonIsToldOfAServiceThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for header, want := range map[string]string{"": "mayfly: api.example does not answer", "wait=25": ""} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example/v1/inboxes", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Prefer", header)
			var said strings.Builder
			_, err = (slowWarner{silent{}, &said}).RoundTrip(r)
			synctest.Wait()
			if err == nil || !strings.Contains(said.String(), want) || want == "" && said.Len() > 0 {
				t.Errorf("%q: %v, %q", header, err, said.String())
			}
		}
	})
}
