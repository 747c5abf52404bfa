package css

import "strings"

// screenWidth is the width in px that media queries see: that of a window on a desktop, in which a mail
// is 640 px wide. A window as narrow as the mail would take the rules for phones, which many mails
// have up to 640 px or more and which put columns one below the other.
const screenWidth = 1000

// applies reports whether the rules in an at-rule apply: on a wide screen, in light colours.
// Unknown queries do not.
func applies(prelude string) bool {
	prelude = strings.ToLower(prelude)
	if strings.HasPrefix(prelude, "@layer") {
		return true
	}
	list, ok := strings.CutPrefix(prelude, "@media")
	if !ok {
		return false
	}
	for query := range strings.SplitSeq(list, ",") {
		if matchesScreen(strings.Join(strings.Fields(query), " ")) {
			return true
		}
	}
	return false
}

func matchesScreen(query string) bool {
	for part := range strings.SplitSeq(query, " and ") {
		switch part = strings.TrimSpace(part); part {
		case "screen", "only screen", "all", "only all", "(prefers-color-scheme: light)", "(prefers-color-scheme:light)":
			continue
		}
		feature, bracketed := strings.CutPrefix(part, "(")
		name, value, ok := strings.Cut(strings.TrimSuffix(feature, ")"), ":")
		width, isLength := ParseLength(value)
		if !bracketed || !ok || !isLength {
			return false
		}
		switch px := width.Px(16, screenWidth); strings.TrimSpace(name) {
		case "min-width", "min-device-width":
			if px > screenWidth {
				return false
			}
		case "max-width", "max-device-width":
			if px < screenWidth {
				return false
			}
		default:
			return false
		}
	}
	return true
}
