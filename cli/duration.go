package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// duration is a flag's value: a Go duration (30m, 1h30m), whole days (2d), or a bare number of
// seconds. It is never negative.
type duration time.Duration

func (d *duration) Set(s string) error {
	v, err := parseDuration(s)
	if err != nil {
		return err
	}
	*d = duration(v)
	return nil
}

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return d.text()
}

// text formats the duration without trailing units of zero: 1h, not 1h0m0s.
func (d duration) text() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (d *duration) Type() string { return "duration" }

func parseDuration(s string) (time.Duration, error) {
	malformed := errors.New("want a duration such as 90, 30m, 1h30m or 2d")
	text := strings.TrimSpace(s)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return inRange(float64(n)*float64(time.Second), malformed)
	}
	var days time.Duration
	if before, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(before, 10, 32)
		if err != nil {
			return 0, malformed
		}
		if days, err = inRange(float64(n)*24*float64(time.Hour), malformed); err != nil || rest == "" {
			return days, err
		}
		text = rest
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return 0, malformed
	}
	return inRange(float64(days)+float64(v), malformed)
}

func inRange(nanoseconds float64, malformed error) (time.Duration, error) {
	if nanoseconds < 0 || nanoseconds >= math.MaxInt64 {
		return 0, malformed
	}
	return time.Duration(nanoseconds), nil
}
