package find

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/find/lexicon"
)

// shape is what a candidate consists of. The less it looks like a code, the more evidence it needs.
type shape uint8

const (
	digits    shape = iota // 4 to 10 digits: 482913
	spaced                 // in groups: 482 913
	hyphened               // groups with hyphens: 482-913, 7KQ2-M9XP
	prefixed               // letters, hyphen, digits: G-482913
	mixed                  // letters and digits: 7kq2m9
	uppercase              // QWMKTZ
	lowercase              // a word
	joined                 // one character to a cell
	worded                 // words with hyphens, mostly with a number: sunny-otter-0422
)

// mostDigits is the most digits of a code. With so many it looks like a telephone number.
const mostDigits = 10

var shapeNames = [...]string{
	"digits", "digits in groups", "groups with hyphens", "prefix and digits", "letters and digits", "capitals",
	"small letters", "one to a cell", "words with hyphens",
}

// token is a candidate for the code at its place in a text.
type token struct {
	value      string
	start, end int
	shape      shape
	before     rune // the rune before it other than space, quote and bracket; 0 for none
	year       bool
	hash       bool // after "#" or "№"
}

// atom is a run of ASCII letters and digits, with digits of other scripts folded.
type atom struct {
	text       string
	start, end int
	digits     int
	upper      int
	lower      int
}

// tokens finds what looks like a code in a line of text.
func tokens(text string) []token {
	atoms := split(text)
	hidden := masks(text)
	var found []token
	for i := 0; i < len(atoms); {
		j := i + 1
		for j < len(atoms) && linked(text, atoms[j-1], atoms[j]) {
			j++
		}
		if t, ok := chain(text, atoms[i:j]); ok && !covered(hidden, t.start, t.end) {
			found = append(found, t)
		}
		i = j
	}
	return found
}

func split(text string) []atom {
	var atoms []atom
	var b strings.Builder
	var a atom
	open := false
	flush := func(end int) {
		if open {
			a.text, a.end = b.String(), end
			atoms = append(atoms, a)
			b.Reset()
			open = false
		}
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		c, ok := ascii(r)
		if !ok {
			flush(i)
			i += size
			continue
		}
		if !open {
			a, open = atom{start: i}, true
		}
		b.WriteByte(c)
		switch {
		case c <= '9':
			a.digits++
		case c <= 'Z':
			a.upper++
		default:
			a.lower++
		}
		i += size
	}
	flush(len(text))
	return atoms
}

// ascii returns the ASCII letter or digit for a rune.
func ascii(r rune) (byte, bool) {
	switch {
	case r < utf8.RuneSelf:
		return byte(r), r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	case r >= 'Ａ' && r <= 'Ｚ':
		return byte(r-'Ａ') + 'A', true
	case r >= 'ａ' && r <= 'ｚ':
		return byte(r-'ａ') + 'a', true
	}
	d, ok := lexicon.Digit(r)
	return '0' + d, ok
}

func (a atom) numeric() bool { return a.digits == len(a.text) }

// linked reports whether two atoms may be parts of one code: a hyphen is between them, or a space
// between digits.
func linked(text string, a, b atom) bool {
	gap := text[a.end:b.start]
	switch gap {
	case "-", "‐", "‑", "–", "−":
		return true
	case " ", "\u00a0", "\u2009", "\u202f", "\u2002", "\u2003", " - ", " – ", "  ":
		single := len(a.text) == 1 && len(b.text) == 1 && a.lower+b.lower == 0
		return a.numeric() && b.numeric() || single || group(a) && group(b)
	case "   ":
		return len(a.text) == 1 && len(b.text) == 1
	}
	return false
}

// group reports whether an atom may be a group of a code written with spaces, such as 7KQ2.
func group(a atom) bool {
	return a.lower == 0 && len(a.text) >= 3 && len(a.text) <= 5 && a.digits > 0
}

// chain makes a candidate of atoms that belong together.
func chain(text string, atoms []atom) (token, bool) {
	first, last := atoms[0], atoms[len(atoms)-1]
	t := token{start: first.start, end: last.end}
	if !t.edges(text) {
		return t, false
	}
	if len(atoms) == 1 {
		return t, t.single(first)
	}
	if !same(text, atoms) {
		return t, false
	}
	if gap := text[atoms[0].end:atoms[1].start]; strings.TrimSpace(gap) == "" || strings.HasPrefix(gap, " ") {
		return t, t.spaces(atoms)
	}
	return t, t.hyphens(text, atoms)
}

// same reports whether the atoms all have the same separator.
func same(text string, atoms []atom) bool {
	gap := text[atoms[0].end:atoms[1].start]
	for i := 2; i < len(atoms); i++ {
		if g := text[atoms[i-1].end:atoms[i].start]; g != gap && strings.TrimSpace(g)+strings.TrimSpace(gap) != "" {
			return false
		}
	}
	return true
}

func (t *token) single(a atom) bool {
	n := len(a.text)
	t.value = a.text
	switch {
	case a.numeric():
		t.shape = digits
		t.year = n == 4 && (strings.HasPrefix(a.text, "19") || strings.HasPrefix(a.text, "20"))
		return n >= 4 && n <= mostDigits
	case a.digits > 0:
		t.shape = mixed
		return n >= 4 && n <= 12 && !measure(a.text)
	case a.lower == 0:
		t.shape = uppercase
		return n >= 4 && n <= 10
	case a.upper == 0:
		t.shape = lowercase
		return n >= 4 && n <= 10
	}
	t.shape = mixed
	return n >= 5 && n <= 10 && a.upper >= 2 && a.lower >= 1 && irregular(a.text) && !named(a.text)
}

// named reports whether capitals begin the words of a name, as in PayPal and LinkedIn.
func named(s string) bool {
	if s[0] > 'Z' {
		return false
	}
	lower, runs := 0, 0
	for i := 1; i < len(s); i++ {
		if s[i] > 'Z' {
			lower++
			if s[i-1] <= 'Z' {
				runs++
			}
		}
	}
	return lower >= 2*runs
}

// irregular reports whether there are capitals within a word, as in random letters and unlike
// names.
func irregular(s string) bool {
	changes := 0
	for i := 2; i < len(s); i++ {
		if (s[i] <= 'Z') != (s[i-1] <= 'Z') {
			changes++
		}
	}
	return changes >= 2
}

// measure reports whether letters and digits are a quantity, a size or a name rather than a code:
// 1200px, 600x200, Windows11, SHA256.
func measure(s string) bool {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		return true
	}
	i := 0
	for i < len(s) && s[i] <= '9' {
		i++
	}
	if i > 0 {
		switch rest := strings.ToLower(s[i:]); rest {
		case "px", "pt", "mb", "gb", "kb", "tb", "min", "mins", "th", "st", "nd", "rd", "am", "pm", "ms", "kg", "km",
			"cm", "mm", "ml", "hz", "mhz", "ghz", "bit", "kbps", "mbps", "usd", "eur", "gbp", "kr", "days", "hours", "hrs",
			"h", "s", "m", "k", "d", "x", "w", "v", "c", "f", "p", "g", "l", "mah", "dpi", "fps", "ft", "pcs", "stk", "uhr",
			"eme", "er", "ers", "ok", "plus", "zł", "lei", "ron", "czk", "huf", "inr", "jpy":
			return true
		default:
			if j := strings.IndexByte(rest, 'x'); j == 0 && numeric(rest[1:]) {
				return true
			}
		}
	}
	letters := strings.TrimRight(s, "0123456789")
	if n := len(letters); n > 0 && n < len(s) && !strings.ContainsAny(letters, "0123456789") {
		switch strings.ToLower(letters) {
		case "windows", "iphone", "ipad", "android", "ios", "macos", "chrome", "firefox", "safari", "edge", "sha", "md",
			"utf", "iso", "covid", "html", "http", "https", "oauth", "base", "win", "office", "web", "mp", "aes", "rsa",
			"galaxy", "pixel", "version", "build", "ipv", "python", "java", "php", "top", "step", "phase", "level", "tls",
			"bootstrap", "angular", "vue", "python3", "office365", "microsoft", "fy", "q":
			return true
		}
	}
	return false
}

func numeric(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (t *token) spaces(atoms []atom) bool {
	total := 0
	allDigits := true
	var b strings.Builder
	for _, a := range atoms {
		total += len(a.text)
		allDigits = allDigits && a.numeric()
		if len(a.text) != len(atoms[0].text) {
			return false
		}
		b.WriteString(a.text)
	}
	t.value, t.shape = b.String(), spaced
	if len(atoms[0].text) == 1 {
		return total >= 4 && total <= 9 && !ascending(t.value)
	}
	if len(atoms[0].text) == 4 && (plausibleYear(atoms[0].text) || plausibleYear(atoms[1].text)) {
		return false
	}
	if !allDigits {
		t.shape = hyphened
		return len(atoms) == 2 && total <= 10
	}
	return total >= 4 && total <= 9
}

// ascending reports whether digits count up, as the answers of a survey do.
func ascending(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] != s[i-1]+1 {
			return false
		}
	}
	return true
}

func plausibleYear(s string) bool {
	return len(s) == 4 && (strings.HasPrefix(s, "19") || strings.HasPrefix(s, "20"))
}

func (t *token) hyphens(text string, atoms []atom) bool {
	var b strings.Builder
	total, withDigits, lower, upper, equal := 0, 0, 0, 0, true
	allDigits := true
	for i, a := range atoms {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(a.text)
		total += len(a.text)
		lower += a.lower
		upper += a.upper
		allDigits = allDigits && a.numeric()
		if a.digits > 0 {
			withDigits++
		}
		equal = equal && len(a.text) == len(atoms[0].text)
	}
	t.value, t.shape = b.String(), hyphened
	size := len(atoms[0].text)
	switch {
	case allDigits:
		if !equal || size == 4 && (plausibleYear(atoms[0].text) || plausibleYear(atoms[1].text)) {
			return false
		}
		return total >= 6 && total <= 12 && size >= 2 && (size > 2 || len(atoms) == 3 || len(atoms) == 4)
	case len(atoms) == 2 && atoms[0].digits == 0 && atoms[0].upper == size && size <= 4 && atoms[1].numeric():
		t.shape = prefixed
		return len(atoms[1].text) >= 4 && len(atoms[1].text) <= 9
	case equal && size >= 3 && size <= 6 && len(atoms) <= 6 && total <= 30:
		if withDigits == 0 && lower == 0 && len(atoms) <= 4 || withDigits > 0 && (upper == 0 || lower == 0 || withDigits == len(atoms)) {
			return true
		}
		return t.words(atoms)
	case equal:
		return false
	case t.words(atoms):
		return true
	}
	// Groups of different sizes: only with digits in every one, such as ab12-c3d4e.
	return withDigits == len(atoms) && len(atoms) <= 3 && total >= 6 && total <= 16 && (upper == 0 || lower == 0)
}

// words reports whether the atoms are words in one case, with at most one number among them.
func (t *token) words(atoms []atom) bool {
	words, numbers := 0, 0
	for _, a := range atoms {
		n := len(a.text)
		switch {
		case a.numeric() && n >= 2 && n <= 6:
			numbers++
		case a.digits > 0 || n < 3 || n > 10:
			return false
		case a.lower == n || a.upper == n:
			words++
		default:
			return false
		}
	}
	if numbers > 1 || words < 2 || words+numbers < 3 || len(atoms) > 6 {
		return false
	}
	t.shape = worded
	return true
}

// edges reports, by the text next to it, whether a candidate may be one.
func (t *token) edges(text string) bool {
	before, n := utf8.DecodeLastRuneInString(text[:t.start])
	if t.start == 0 {
		before = 0
	}
	after, m := utf8.DecodeRuneInString(text[t.end:])
	if t.end == len(text) {
		after = 0
	}
	if unicode.IsLetter(before) && !lexicon.Unspaced(before) || unicode.IsLetter(after) && !lexicon.Unspaced(after) {
		return false
	}
	switch before {
	case '+', '@', '/', '\\', '=', '&', '?', '~', '_', '€', '$', '£', '¥', '₹', '₽', '₺', '₩', '₫', '₴', '฿', '^', '©':
		return false
	case '.', ',', ':', '\'', '’':
		previous, _ := utf8.DecodeLastRuneInString(text[:t.start-n])
		if unicode.IsDigit(previous) || before == '.' && t.start-n == 0 || before == ',' && unicode.IsLetter(previous) {
			return false
		}
	case '*', '•', '·', '●', '…', '✱':
		if after != before {
			return false
		}
	case '-', '–', '—':
		previous, _ := utf8.DecodeLastRuneInString(text[:t.start-n])
		if unicode.IsDigit(previous) || unicode.IsLetter(previous) {
			return false
		}
	case '!', ';', '|':
		if previous, _ := utf8.DecodeLastRuneInString(text[:t.start-n]); unicode.IsDigit(previous) || unicode.IsLetter(previous) {
			return false // part of a password
		}
	case '#', '№':
		t.hash = true
	}
	switch after {
	case '@', '/', '\\', '=', '_', '%', '€', '£', '¥', '₽', '₺', '₫', '₴', '฿', '+', '°', '~', '$':
		return false
	case '.', ',', ':', '’', '\'':
		next, _ := utf8.DecodeRuneInString(text[t.end+m:])
		if unicode.IsDigit(next) {
			return false
		}
		if after == '.' && unicode.IsLetter(next) && next < utf8.RuneSelf && unicode.IsLower(next) {
			return false // a host name or a file name
		}
	case '#':
		return false // in a number to dial: the PIN of a conference
	case '!', '&', '^', ';', '|':
		next, _ := utf8.DecodeRuneInString(text[t.end+m:])
		if next < utf8.RuneSelf && (unicode.IsDigit(next) || unicode.IsLetter(next)) {
			return false // part of a password
		}
	case '-', '–':
		next, _ := utf8.DecodeRuneInString(text[t.end+m:])
		if next < utf8.RuneSelf && (unicode.IsDigit(next) || unicode.IsLetter(next)) {
			return false
		}
	}
	rest := strings.TrimLeft(text[t.end:], " \u00a0\u202f")
	for _, sign := range []string{"€", "$", "£", "₽", "₹", "₺", "₴", "₫", "%", "฿"} {
		if strings.HasPrefix(rest, sign) {
			return false
		}
	}
	head := strings.TrimRight(text[:t.start], " \u00a0\u202f")
	for _, sign := range []string{"€", "$", "£", "₽", "₹", "₺", "₴", "₫", "฿", "©", "+", "№", "#", "(c)", "(C)", "†", "**** ", "n°", "nº", "N°", "Nº"} {
		if strings.HasSuffix(head, sign) {
			if sign == "№" || sign == "#" || len(sign) >= 3 && (sign[0] == 'n' || sign[0] == 'N') {
				t.hash = true
				continue
			}
			return false
		}
	}
	if strings.HasSuffix(head, "*") || strings.HasSuffix(head, "•") || strings.HasSuffix(head, "·") && strings.HasSuffix(head, "··") {
		if !strings.HasPrefix(rest, "*") {
			return false // the end of a masked number
		}
	}
	if strings.HasSuffix(head, ")") && t.start > 0 && phoneArea(head) {
		return false
	}
	t.before, _ = utf8.DecodeLastRuneInString(head)
	return true
}

// phoneArea reports whether a text ends in a short number in brackets, such as an area code.
func phoneArea(head string) bool {
	i := strings.LastIndexByte(head, '(')
	return i >= 0 && len(head)-i <= 6 && numeric(strings.Trim(head[i:], "()"))
}

// masks returns the parts of a text that are addresses: URLs, mail addresses, host names, paths.
func masks(text string) [][2]int {
	if !strings.ContainsAny(text, ":@/.\\") {
		return nil
	}
	var found [][2]int
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && text[j] > ' ' && text[j] != '<' && text[j] != '>' && text[j] != '"' {
			j++
		}
		if w := text[i:j]; w != "" && address(w) {
			found = append(found, [2]int{i, j})
		}
		i = j + 1
	}
	return found
}

func address(w string) bool {
	if strings.Contains(w, "://") || strings.Contains(w, "www.") || strings.Contains(w, "@") && !strings.HasPrefix(w, "@") {
		return true
	}
	if strings.HasPrefix(w, "mailto:") || strings.HasPrefix(w, "tel:") {
		return true
	}
	// host.example/path
	host, path, ok := strings.Cut(w, "/")
	return ok && path != "" && strings.Contains(host, ".") && !strings.ContainsAny(host, "0123456789")
}

func covered(masks [][2]int, start, end int) bool {
	for _, m := range masks {
		if start < m[1] && end > m[0] {
			return true
		}
	}
	return false
}
