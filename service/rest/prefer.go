package rest

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// preferredWait returns the wait preference of Prefer fields (RFC 7240, section 4.3), and whether
// there is one. The first counts; one that is not a whole number of seconds is ignored.
func preferredWait(prefer []string) (time.Duration, bool) {
	for preference := range elements(prefer) {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
		// Of a number out of range, ParseUint returns the largest that is in it.
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
		return time.Duration(seconds) * time.Second, true
	}
	return 0, false
}
