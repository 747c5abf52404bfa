package smtp

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of RFC 5321, section 4.5.3.1, in octets, but for senders.
const (
	maxLocalPart       = 64
	maxSenderLocalPart = 255 // senders put whole addresses into it (VERP, SRS)
	maxDomain          = 255
)

// splitCommand splits a command line into the verb, in upper case, and its argument. White space at
// the end is ignored.
func splitCommand(line []byte) (verb, arg string) {
	verb, arg, _ = strings.Cut(strings.TrimRight(string(line), " \t"), " ")
	return strings.ToUpper(verb), arg
}

// param is an ESMTP parameter of MAIL or RCPT. The keyword is in upper case.
type param struct {
	text           string // as given
	keyword, value string
	hasValue       bool
}

var (
	errSyntax    = errors.New("syntax")
	errAddress   = errors.New("address")
	errDuplicate = errors.New("parameter given twice")
)

// parsePath parses what follows MAIL or RCPT: prefix ("FROM:" or "TO:"), a path in angle brackets,
// and parameters (RFC 5321, section 4.1.2). A source route is ignored. A space after the colon,
// which many clients send, is tolerated. The address, as parse returns it, is "" for the null path.
func parsePath(arg, prefix string, parse func(path string) (address string, err error)) (address string, params []param, err error) {
	if len(arg) < len(prefix) || !strings.EqualFold(arg[:len(prefix)], prefix) {
		return "", nil, errSyntax
	}
	rest := strings.TrimPrefix(arg[len(prefix):], " ")
	if !strings.HasPrefix(rest, "<") {
		return "", nil, errSyntax
	}
	end := pathEnd(rest)
	if end < 0 {
		return "", nil, errSyntax
	}
	path, rest := rest[1:end], rest[end+1:]
	if strings.HasPrefix(path, "@") {
		_, mailbox, ok := strings.Cut(path, ":")
		if !ok || mailbox == "" {
			return "", nil, errAddress
		}
		path = mailbox
	}
	if path != "" {
		if address, err = parse(path); err != nil {
			return "", nil, err
		}
	}
	params, err = parseParams(rest)
	return address, params, err
}

// pathEnd returns the index of the bracket that closes the path, outside a quoted local part, or
// -1.
func pathEnd(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c == '>':
			return i
		}
	}
	return -1
}

// parseSender parses the address of a sender, on which nothing depends. Whatever real mailers send is
// one, such as a..b@docomo.ne.jp and root.
func parseSender(s string) (string, error) {
	if address, err := parseMailbox(s); err == nil {
		return address, nil
	}
	at := strings.LastIndexByte(s, '@')
	local, domain := s[:max(at, 0)], s[at+1:]
	if len(local) > maxSenderLocalPart || len(domain) > maxDomain || s[0] == '@' || !utf8.ValidString(s) {
		return "", errAddress
	}
	if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == ' ' && s[0] != '"' || c == 0x7f }) {
		return "", errAddress
	}
	return s, nil
}

// parseMailbox parses local-part@domain, and removes the quotes of the local part if they are not
// needed, and the dot at the end of a domain. "postmaster" alone is an address too (RFC 5321, section
// 4.1.1.3).
func parseMailbox(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", errAddress
	}
	if strings.EqualFold(s, "postmaster") {
		return s, nil
	}
	var local, domain string
	if s[0] == '"' {
		content, rest, ok := quotedString(s)
		if !ok || !strings.HasPrefix(rest, "@") {
			return "", errAddress
		}
		domain = rest[1:]
		if local = content; !isDotString(content) {
			local = s[:len(s)-len(rest)]
		}
	} else {
		at := strings.IndexByte(s, '@')
		if at < 0 || !isDotString(s[:at]) {
			return "", errAddress
		}
		local, domain = s[:at], s[at+1:]
	}
	domain = strings.TrimSuffix(domain, ".")
	if len(local) > maxLocalPart || !isDomain(domain) {
		return "", errAddress
	}
	return local + "@" + domain, nil
}

// quotedString parses a Quoted-string (RFC 5321, section 4.1.2) at the start of s.
func quotedString(s string) (content, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\':
			if i++; i == len(s) || s[i] < ' ' || s[i] > '~' {
				return "", "", false
			}
			b.WriteByte(s[i])
		case c < ' ' || c == 0x7f:
			return "", "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// isDotString reports whether s is a Dot-string: atoms separated by single dots. UTF-8 counts as
// atom text (RFC 6531).
func isDotString(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if !isAtom(atom) {
			return false
		}
	}
	return true
}

func isAtom(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c < utf8.RuneSelf && !isAlphanumeric(c) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", c)
	})
}

func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isDomain reports whether s is an address literal or a domain name, in which underscores and UTF-8
// are tolerated.
func isDomain(s string) bool {
	if s == "" || len(s) > maxDomain {
		return false
	}
	if s[0] == '[' {
		return isAddressLiteral(s)
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(c rune) bool { return c < utf8.RuneSelf && !isAlphanumeric(c) && c != '-' && c != '_' }) {
			return false
		}
	}
	return true
}

// isAddressLiteral reports whether s looks like an address literal (RFC 5321, section 4.1.3).
func isAddressLiteral(s string) bool {
	if len(s) < 3 || s[len(s)-1] != ']' {
		return false
	}
	return !strings.ContainsFunc(s[1:len(s)-1], func(c rune) bool { return !isAlphanumeric(c) && c != '.' && c != ':' && c != '-' })
}

// parseParams parses the ESMTP parameters that follow a path, each after at least one space.
func parseParams(s string) ([]param, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != ' ' {
		return nil, errSyntax
	}
	var params []param
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ' ' }) {
		keyword, value, hasValue := strings.Cut(word, "=")
		if !isKeyword(keyword) || hasValue && !isParamValue(value) {
			return nil, errSyntax
		}
		keyword = strings.ToUpper(keyword)
		if slices.ContainsFunc(params, func(p param) bool { return p.keyword == keyword }) {
			return nil, errDuplicate
		}
		params = append(params, param{word, keyword, value, hasValue})
	}
	return params, nil
}

// isKeyword reports whether s is an esmtp-keyword.
func isKeyword(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(c rune) bool { return !isAlphanumeric(c) && c != '-' })
}

// isParamValue reports whether s is an esmtp-value.
func isParamValue(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == '=' || c == 0x7f })
}

// parseSize parses a SIZE value of 1 to 20 digits. A larger one than 2^62 is read as that.
func parseSize(s string) (int64, bool) {
	// Of a number out of range, ParseUint returns the largest that is in it.
	n, err := strconv.ParseUint(s, 10, 64)
	if len(s) > 20 || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return int64(min(n, 1<<62)), true
}

// isGreetingName reports whether s is accepted after HELO or EHLO. Clients give themselves all
// sorts of names, and nothing depends on them.
func isGreetingName(s string) bool {
	return s != "" && len(s) <= maxDomain && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f })
}
