package api

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration as [time.ParseDuration] does, also one that begins with whole days, of
// which there are at most 65,535: 2d, 1d12h.
func ParseDuration(s string) (time.Duration, error) {
	before, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(before, 10, 16)
	days := time.Duration(n) * 24 * time.Hour
	if err != nil || rest == "" {
		return days, err
	}
	d, err := time.ParseDuration(rest)
	if err == nil && (d < 0 || days+d < 0) {
		err = errors.New("the duration is negative or too long")
	}
	return days + d, err
}
