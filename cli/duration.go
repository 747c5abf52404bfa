package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"mayfly/api"
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
	text := strings.TrimSpace(s)
	if _, err := strconv.Atoi(text); err == nil {
		text += "s"
	}
	d, err := api.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("want a duration such as 90, 30m, 1h30m or 2d")
	}
	return d, nil
}
