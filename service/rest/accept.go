package rest

import (
	"mime"
	"strconv"
	"strings"
)

// prefersRaw reports whether Accept fields prefer message/rfc822 to JSON. A tie goes to JSON, as
// does a request that accepts neither.
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

// mediaRanges parses Accept fields. Malformed elements are ignored.
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

// quality returns the weight of the most specific range that matches a media type, 0 if none does.
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
