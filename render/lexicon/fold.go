package lexicon

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text is text folded for comparison: in lower case, without accents, points and joiners, with
// ASCII digits, and with one space for whatever is neither letter nor digit. It keeps where its
// bytes came from.
type Text struct {
	Folded string
	source []int32 // offset in the source of each byte of Folded, and at the end the source's length
}

// Source returns the offset in the source for the folded offset i.
func (t Text) Source(i int) int { return int(t.source[i]) }

// At returns the first folded offset that comes from the source offset i or a later one.
func (t Text) At(i int) int {
	return sort.Search(len(t.Folded), func(at int) bool { return t.Source(at) >= i })
}

// Fold folds a text.
func Fold(s string) Text {
	f := folder{out: make([]byte, 0, len(s)+len(s)/8), source: make([]int32, 0, len(s)+len(s)/8+1)}
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			f.ascii(b, i)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		f.rune(r, i)
		i += size
	}
	f.source = append(f.source, int32(len(s)))
	return Text{Folded: string(f.out), source: f.source}
}

type folder struct {
	out    []byte
	source []int32
}

func (f *folder) add(at int, b ...byte) {
	for _, c := range b {
		f.out = append(f.out, c)
		f.source = append(f.source, int32(at))
	}
}

func (f *folder) space(at int) {
	if n := len(f.out); n > 0 && f.out[n-1] != ' ' {
		f.out = append(f.out, ' ')
		f.source = append(f.source, int32(at))
	}
}

func (f *folder) ascii(b byte, at int) {
	switch {
	case 'A' <= b && b <= 'Z':
		b += 'a' - 'A'
		fallthrough
	case 'a' <= b && b <= 'z', '0' <= b && b <= '9':
		f.out = append(f.out, b)
		f.source = append(f.source, int32(at))
	default:
		f.space(at)
	}
}

func (f *folder) rune(r rune, at int) {
	if r >= 0xAC00 && r <= 0xD7A3 { // Hangul syllables are not decomposed
		f.letter(r, at)
		return
	}
	if d := norm.NFKD.PropertiesString(string(r)).Decomposition(); d != nil {
		for _, r := range string(d) {
			f.simple(r, at)
		}
		return
	}
	f.simple(r, at)
}

func (f *folder) simple(r rune, at int) {
	if r < utf8.RuneSelf {
		f.ascii(byte(r), at)
		return
	}
	if ignorable(r) {
		return
	}
	if s, ok := alike[r]; ok {
		f.add(at, s...)
		return
	}
	if d, ok := Digit(r); ok {
		f.add(at, '0'+d)
		return
	}
	if r = unicode.ToLower(r); unicode.IsLetter(r) || unicode.IsMark(r) {
		if s, ok := alike[r]; ok {
			f.add(at, s...)
			return
		}
		f.letter(r, at)
		return
	}
	f.space(at)
}

func (f *folder) letter(r rune, at int) {
	var b [utf8.UTFMax]byte
	f.add(at, b[:utf8.EncodeRune(b[:], r)]...)
}

// ignorable reports whether a rune does not distinguish words: accents, vowel points, joiners.
func ignorable(r rune) bool {
	switch {
	case r >= 0x0300 && r <= 0x036F, // combining accents
		r >= 0x0591 && r <= 0x05C7,                           // Hebrew points
		r >= 0x064B && r <= 0x065F, r == 0x0670, r == 0x0640, // Arabic marks and tatweel
		r == 0x093C, r == 0x09BC, r == 0x0A3C, r == 0x0ABC, // nukta
		r == 0x00AD, r >= 0x200B && r <= 0x200F, r == 0x2060, r == 0xFEFF:
		return true
	}
	return false
}

// alike are letters that are written for one another.
var alike = map[rune][]byte{
	'ı': []byte("i"), 'ß': []byte("ss"), 'ø': []byte("o"), 'æ': []byte("ae"), 'œ': []byte("oe"), 'đ': []byte("d"),
	'ł': []byte("l"), 'þ': []byte("th"), 'ð': []byte("d"), 'ə': []byte("e"), 'ħ': []byte("h"), 'ŋ': []byte("n"),
	'Ø': []byte("o"), 'Æ': []byte("ae"), 'Œ': []byte("oe"), 'Đ': []byte("d"), 'Ł': []byte("l"), 'Þ': []byte("th"),
	'Ð': []byte("d"), 'Ə': []byte("e"),
	'ي': []byte("ی"), 'ى': []byte("ی"), 'ك': []byte("ک"), 'ۀ': []byte("ه"), 'ة': []byte("ه"),
	'ς': []byte("σ"),
}

// Digit returns the value of a decimal digit of any script.
func Digit(r rune) (byte, bool) {
	if r < utf8.RuneSelf {
		return byte(r - '0'), r >= '0' && r <= '9'
	}
	if !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	zero := r // that of the first of the alphabets of digits that follow one another
	for unicode.Is(unicode.Nd, zero-1) {
		zero--
	}
	return byte((r - zero) % 10), true
}

// boundary reports whether a word may start or end at the folded offset i.
func boundary(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	a, b := s[i-1], s[i]
	return a == ' ' || b == ' ' || (a < utf8.RuneSelf) != (b < utf8.RuneSelf)
}
