package rest

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// preferredWait is the wait preference of Prefer fields (RFC 7240, section 4.3). The first one counts; one that
// is not a whole number of seconds is as if it were not there.
func preferredWait(prefer []string) (time.Duration, bool) {
	for preference := range elements(prefer) {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // of a larger number, seconds is the most there is
			return 0, false
		}
		return time.Duration(seconds) * time.Second, true
	}
	return 0, false
}
