package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Quota is the rate limit of a key as a service announces it in the header fields RateLimit and
// RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers).
type Quota struct {
	Limit     int           // requests; 0 if not announced
	Window    time.Duration // in this time; 0 if not announced
	Remaining int           // requests left; -1 if not announced
	Reset     time.Duration // until there are more, from the answer on; 0 if not announced
}

// parseQuota reads the first policy, or of several the one for a minute; false if the fields are
// absent or malformed.
func parseQuota(h http.Header) (Quota, bool) {
	q := Quota{Remaining: -1}
	var name string
	found := false
	for _, item := range items(h["Ratelimit-Policy"]) {
		limit, okLimit := item.number("q")
		seconds, okWindow := item.number("w")
		if !okLimit || !okWindow || seconds == 0 || found && seconds != 60 {
			continue
		}
		name, found = item.name, true
		q.Limit, q.Window = limit, time.Duration(seconds)*time.Second
		if seconds == 60 {
			break
		}
	}
	for _, item := range items(h["Ratelimit"]) {
		remaining, ok := item.number("r")
		if !ok || found && name != item.name {
			continue
		}
		q.Remaining = remaining
		if seconds, ok := item.number("t"); ok {
			q.Reset = time.Duration(seconds) * time.Second
		}
		return q, true
	}
	return q, found
}

// item is a member of a structured field list (RFC 9651) of the simple kind that these fields have:
// a name with parameters.
type item struct {
	name       string
	parameters map[string]string
}

func items(values []string) []item {
	var all []item
	for _, value := range values {
		for member := range strings.SplitSeq(value, ",") {
			parts := strings.Split(member, ";")
			it := item{name: strings.Trim(strings.TrimSpace(parts[0]), `"`), parameters: map[string]string{}}
			for _, p := range parts[1:] {
				key, v, _ := strings.Cut(strings.TrimSpace(p), "=")
				it.parameters[key] = v
			}
			all = append(all, it)
			if len(all) == 16 {
				return all
			}
		}
	}
	return all
}

// number returns a parameter between 0 and a million.
func (i item) number(name string) (int, bool) {
	n, err := strconv.Atoi(i.parameters[name])
	return n, err == nil && n >= 0 && n <= 1_000_000
}

// RetryAfter reads the field Retry-After (RFC 9110, 10.2.3), in seconds or as a date; 0 without
// one, a day at most.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	var d time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		d = date.Sub(now)
	}
	return max(0, min(d, 24*time.Hour))
}
