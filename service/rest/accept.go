package rest

import (
	"mime"
	"strconv"
	"strings"
)

// prefersRaw reports whether a request with these Accept fields would rather have a message as
// message/rfc822 than as JSON. In a tie, and when neither is acceptable, JSON it is.
func prefersRaw(accept []string) bool {
	if len(accept) == 0 {
		return false
	}
	ranges := mediaRanges(accept)
	return quality(ranges, "message", "rfc822") > quality(ranges, "application", "json")
}

// mediaRange is an element of an Accept field (RFC 9110, section 12.5.1).
type mediaRange struct {
	main, sub string
	q         float64
}

// mediaRanges reads Accept fields. An element that cannot be read counts for nothing.
func mediaRanges(accept []string) []mediaRange {
	var ranges []mediaRange
	for element := range elements(accept) {
		name, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		main, sub, ok := strings.Cut(name, "/")
		if !ok {
			continue
		}
		q := 1.0
		if s, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(s, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		ranges = append(ranges, mediaRange{main, sub, q})
	}
	return ranges
}

// quality is what the most specific range that fits a media type gives it, 0 without one.
func quality(ranges []mediaRange, main, sub string) float64 {
	best, q := 0, 0.0
	for _, r := range ranges {
		specific := 0
		switch {
		case r.main == main && r.sub == sub:
			specific = 3
		case r.main == main && r.sub == "*":
			specific = 2
		case r.main == "*" && r.sub == "*":
			specific = 1
		}
		if specific > best || specific == best && specific > 0 && r.q > q {
			best, q = specific, r.q
		}
	}
	return q
}
