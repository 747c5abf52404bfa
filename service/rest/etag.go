package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// matchesETag reports whether If-None-Match fields contain the entity tag, by weak comparison (RFC
// 9110, sections 8.8.3.2 and 13.1.2). A malformed field matches nothing from where it is malformed.
func matchesETag(ifNoneMatch []string, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	for _, field := range ifNoneMatch {
		if strings.TrimSpace(field) == "*" {
			return true
		}
		for {
			field = strings.TrimPrefix(strings.TrimLeft(field, " \t,"), "W/")
			if !strings.HasPrefix(field, `"`) {
				break
			}
			end := strings.IndexByte(field[1:], '"')
			if end < 0 {
				break
			}
			if field[:end+2] == etag {
				return true
			}
			field = field[end+2:]
		}
	}
	return false
}

// versionTag returns the entity tag of a resource that has a version.
func versionTag(version uint64) string { return `"` + strconv.FormatUint(version, 36) + `"` }

// contentTag returns the entity tag of content that never changes.
func contentTag(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}
