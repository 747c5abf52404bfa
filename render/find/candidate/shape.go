package candidate

import (
	"slices"
	"strings"
)

// Shape is what a candidate consists of. The less it looks like a code, the more evidence it needs.
type Shape uint8

const (
	Digits   Shape = iota // 4 to 10 digits: 482913
	Spaced                // in groups: 482 913
	Hyphened              // groups with hyphens: 482-913, 7KQ2-M9XP
	Prefixed              // letters, hyphen, digits: G-482913
	Mixed                 // letters and digits: 7kq2m9
	Long                  // 16 to 512 letters and digits, as tokens have
	Upper                 // QWMKTZ
	Lower                 // a word
	Joined                // one character to a line, or to an element
	Worded                // words with hyphens, mostly with a number: sunny-otter-0422
	Pair                  // two words: brisk-otter
)

// mostDigits is the most digits of a code. With so many it looks like a telephone number.
const mostDigits = 10

// Bounds of a token that is copied, and what it consists of: base64, JWT, UUID.
const (
	Typed      = 32
	mostToken  = 512
	tokenRunes = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.~+/="
)

// kind is what an atom consists of.
type kind uint8

const (
	digit   kind = 1 << iota
	upper        // capitals
	lower        // small letters
	letters      // capitals and small letters
	capital      // capitals and digits
	small        // small letters and digits
	mixed        // all three
	noLower = digit | upper | capital
	noUpper = digit | lower | small
)

func (a *atom) kind() kind {
	n := len(a.text)
	switch {
	case a.digits == n:
		return digit
	case a.upper == n:
		return upper
	case a.lower == n:
		return lower
	case a.digits == 0:
		return letters
	case a.lower == 0:
		return capital
	case a.upper == 0:
		return small
	}
	return mixed
}

// span is a number from least to most.
type span struct{ least, most int }

func (s span) has(n int) bool { return n >= s.least && n <= s.most }

// The separators of a pattern's groups.
const (
	none    = ""
	spaces  = " "
	hyphens = "-"
)

// pattern is a form that codes are written in: groups of letters and digits. The first that matches
// counts.
type pattern struct {
	shape     Shape
	between   string // what separates the groups
	separator string // what separates them in the value
	groups    span
	each      kind // what a group may consist of
	size      span // of a group
	total     span
	equal     bool              // all groups have the same size
	when      func([]atom) bool // nil: always
}

var patterns = []pattern{
	{Digits, none, "", span{1, 1}, digit, span{4, mostDigits}, span{4, mostDigits}, true, nil},
	{Mixed, none, "", span{1, 1}, capital | small | mixed, span{4, 12}, span{4, 12}, true, notMeasure},
	{Long, none, "", span{1, 1}, letters | capital | small | mixed, span{16, 40}, span{16, 40}, true, nil},
	{Upper, none, "", span{1, 1}, upper, span{4, 10}, span{4, 10}, true, nil},
	{Lower, none, "", span{1, 1}, lower, span{4, 10}, span{4, 10}, true, nil},
	{Joined, spaces, "", span{4, 10}, noLower, span{1, 1}, span{4, 10}, true, notCounting},
	{Joined, spaces, "", span{4, 10}, noUpper, span{1, 1}, span{4, 10}, true, someDigits},
	{Spaced, spaces, "", span{2, 4}, digit, span{2, 5}, span{4, 9}, true, noYear},
	{Hyphened, hyphens, "-", span{2, 4}, digit, span{3, 6}, span{6, 12}, true, noYear},
	{Hyphened, hyphens, "-", span{3, 4}, digit, span{2, 2}, span{6, 8}, true, nil},
	{Hyphened, hyphens, "-", span{3, 4}, noLower, span{2, 2}, span{6, 8}, true, someDigits},
	{Prefixed, hyphens, "-", span{2, 2}, upper | digit, span{1, 9}, span{5, 13}, false, prefixed},
	{Hyphened, hyphens, "-", span{2, 6}, noLower, span{3, 6}, span{6, 30}, true, notDigits},
	{Hyphened, hyphens, "-", span{2, 6}, noUpper, span{3, 6}, span{6, 30}, true, someDigits},
	{Worded, hyphens, "-", span{3, 6}, upper | lower | digit, span{2, 10}, span{8, 60}, false, words},
	{Pair, hyphens, "-", span{2, 2}, lower | upper | letters, span{3, 10}, span{7, 20}, false, nil},
}

func (p *pattern) matches(text string, atoms []atom) bool {
	if !p.groups.has(len(atoms)) || !p.size.has(len(atoms[0].text)) {
		return false
	}
	total := 0
	for i := range atoms {
		a := &atoms[i]
		n := len(a.text)
		if p.each&a.kind() == 0 || !p.size.has(n) || p.equal && n != len(atoms[0].text) {
			return false
		}
		total += n
	}
	return p.total.has(total) && (len(atoms) == 1 || separated(text, atoms) == p.between) && (p.when == nil || p.when(atoms))
}

// separated returns what separates the atoms, "?" if they are not all separated alike.
func separated(text string, atoms []atom) string {
	gap := text[atoms[0].end:atoms[1].start]
	for i := 2; i < len(atoms); i++ {
		if g := text[atoms[i-1].end:atoms[i].start]; g != gap && strings.TrimSpace(g)+strings.TrimSpace(gap) != "" {
			return "?"
		}
	}
	if strings.TrimSpace(gap) == "" || gap[0] == ' ' {
		return spaces
	}
	return hyphens
}

func notMeasure(atoms []atom) bool { return !measure(atoms[0].text) }

func notDigits(atoms []atom) bool { return !allDigits(atoms) }

// someDigits reports whether there are digits and others.
func someDigits(atoms []atom) bool {
	return !allDigits(atoms) && slices.ContainsFunc(atoms, func(a atom) bool { return a.digits > 0 })
}

func allDigits(atoms []atom) bool {
	for i := range atoms {
		if atoms[i].kind() != digit {
			return false
		}
	}
	return true
}

func prefixed(atoms []atom) bool {
	return atoms[0].kind() == upper && len(atoms[0].text) <= 4 && atoms[1].kind() == digit && len(atoms[1].text) >= 4
}

func notCounting(atoms []atom) bool { return !counting(join(atoms, "")) }

// counting reports whether characters count up or down or are all the same, as those of a scale do.
func counting(s string) bool {
	step := int(s[1]) - int(s[0])
	for i := 2; i < len(s); i++ {
		if int(s[i])-int(s[i-1]) != step {
			return false
		}
	}
	return step >= -1 && step <= 1
}

// noYear reports whether neither of the first two groups may be a year.
func noYear(atoms []atom) bool { return !year(atoms[0].text) && !year(atoms[1].text) }

func year(s string) bool {
	return len(s) == 4 && (strings.HasPrefix(s, "18") || strings.HasPrefix(s, "19") || strings.HasPrefix(s, "20"))
}

// words reports whether the atoms are words of 3 letters or more, with at most one number.
func words(atoms []atom) bool {
	numbers := 0
	for i := range atoms {
		switch n := len(atoms[i].text); {
		case atoms[i].kind() == digit && n <= 6:
			numbers++
		case atoms[i].digits > 0 || n < 3:
			return false
		}
	}
	return numbers <= 1 && len(atoms)-numbers >= 2
}

// units follow the number of a quantity.
var units = set("px pt mb gb kb tb min mins th st nd rd am pm ms kg km cm mm ml hz mhz ghz bit kbps mbps usd eur gbp kr " +
	"days hours hrs h s m k d x w v c f p g l mah dpi fps ft pcs stk uhr eme er ers ok plus zł lei ron czk huf inr jpy")

// versioned are names that a number follows.
var versioned = set("windows iphone ipad android ios macos chrome firefox safari edge sha md utf iso covid html http https oauth " +
	"base win office web mp aes rsa galaxy pixel version build ipv python java php top step phase level tls bootstrap angular vue " +
	"microsoft fy q")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// measure reports whether letters and digits are a quantity, a size or a name rather than a code:
// 1200px, 600x200, Windows11, SHA256.
func measure(s string) bool {
	s = strings.ToLower(s)
	after := strings.TrimLeft(s, "0123456789")
	name := strings.TrimRight(s, "0123456789")
	switch {
	case strings.HasPrefix(s, "0x"):
		return true
	case len(after) < len(s):
		return units[after] || after[0] == 'x' && numeric(after[1:])
	}
	return versioned[name]
}

func numeric(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Join returns characters that each have a line of their own as a candidate.
func Join(s string) (Candidate, bool) {
	digits := strings.ContainsAny(s, "0123456789")
	ok := len(s) >= 4 && len(s) <= mostDigits && (digits || len(s) >= 5) && !counting(s)
	return Candidate{Value: s, Shape: Joined}, ok
}

// Words returns a line of two words written alike as a candidate: "brisk otter", "Brisk Otter".
func Words(line string) (Candidate, bool) {
	text := strings.Trim(line, " \u00a0\t")
	atoms := split(text)
	if len(atoms) != 2 || text[atoms[0].end:atoms[1].start] != " " || len(text) != atoms[1].end-atoms[0].start {
		return Candidate{}, false
	}
	for i := range atoms {
		a := &atoms[i]
		capital := a.upper == 1 && a.text[0] <= 'Z'
		first := atoms[0].upper == 1
		if n := len(a.text); n < 3 || n > 10 || a.digits > 0 || capital != first || !capital && a.kind() != atoms[0].kind() || a.kind() == letters && !capital {
			return Candidate{}, false
		}
	}
	start := strings.Index(line, text)
	return Candidate{Value: text, Start: start, End: start + len(text), Shape: Pair}, true
}
