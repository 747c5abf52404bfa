package smtp

import "strings"

// The parameters of RFC 3461 ask for notifications. They are checked and accepted, but nothing comes
// of them: no mail is ever sent, and mail that is not stored was refused before.

// isNotify reports whether s is a value of NOTIFY (RFC 3461, section 4.1).
func isNotify(s string) bool {
	if strings.EqualFold(s, "NEVER") {
		return true
	}
	for event := range strings.SplitSeq(s, ",") {
		switch strings.ToUpper(event) {
		case "SUCCESS", "FAILURE", "DELAY":
		default:
			return false
		}
	}
	return true
}

// isXtext reports whether s has 1 to limit octets of xtext (RFC 3461, section 4), or of UTF-8, which
// RFC 6533 allows in addresses.
func isXtext(s string, limit int) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
		case c <= ' ' || c == '=' || c == 0x7f:
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' }
