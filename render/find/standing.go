package find

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/find/candidate"
	"mayfly/render/lexicon"
)

// place is how a number stands among the others of its line.
type place struct {
	standing int  // what the words right beside it say of it
	leads    bool // it is called a code rather than the others
	lesser   bool // another is called a code rather than it
}

// What the words right beside a number say of it, in points, those before it and those after it.
const (
	isCode     = 3  // a word for a code; one more for one that means nothing else
	handedOver = 2  // "is", "enter", or a colon
	otherNoun  = -2 // a noun that is no word for a code, in whatever language: "for account 884213"
	otherName  = -3 // a noun that is known to name other numbers, or a unit
)

const (
	belonging = "のに의에的" // particles after what something belongs to
	commas    = ",、，،"
	pauses    = ".!?;。；！？।؟" + commas
	dashes    = "-–—"
	colons    = ":：=៖፦"
	marks     = " \u00a0\t*_`\"'()[]<>«»“”„「」『』【】（）#№" + colons + dashes
)

// compare notes how the candidates of a line stand. Without a word that asks for something or means a code it does
// not matter, and a line with many numbers is a list.
func (l *line) compare() {
	const mostNumbers = 24
	l.places = make([]place, len(l.found))
	if len(l.found) > mostNumbers || !slices.ContainsFunc(l.hits, func(h lexicon.Hit) bool { return h.Class <= lexicon.Code || asks([]lexicon.Hit{h}) != 0 }) {
		return
	}
	numbers := map[string]int{} // the best standing of each
	for i := range l.found {
		f := &l.found[i]
		if wordlike(f.Shape) {
			continue
		}
		l.places[i].standing = l.standing(f)
		if f.Shape != candidate.Worded && !f.Year() {
			old, seen := numbers[f.Key()]
			if s := l.places[i].standing; !seen || s > old {
				numbers[f.Key()] = s
			}
		}
	}
	leader, most, second := "", -100, -100
	for key, s := range numbers {
		if s > most {
			leader, most, second = key, s, most
		} else {
			second = max(second, s)
		}
	}
	for i := range l.places {
		p, key := &l.places[i], l.found[i].Key()
		p.leads = len(numbers) > 1 && most > second && most >= 0 && key == leader
		p.lesser = key != leader && p.standing < most && (most > 0 || most == 0 && p.standing < 0)
	}
}

// standing is what the words beside a number say of it.
func (l *line) standing(f *candidate.Candidate) int {
	from, to := l.fold.At(f.Start), l.fold.At(f.End)
	first, points := l.saidBefore(from, f)
	after := l.saidAfter(to, f.End, first)
	switch {
	case after == otherName:
		return otherName
	case after == -1 && points > 0:
		after = 0
	case after > 0 && points < 0: // whose the code is: "Kioskin 55012 vahvistuskoodi"
		after = 0
	}
	return points + after
}

// saidBefore returns what the words before a number say of it, and whether it begins its clause.
func (l *line) saidBefore(from int, f *candidate.Candidate) (first bool, points int) {
	before := strings.TrimRight(l.fold.Folded[:from], " ")
	if before == "" {
		return true, 0
	}
	sentence := l.sentence(f.Start)
	known := l.hasCodeWord(l.fold.At(sentence), from)
	given, called := false, 0
	for _, h := range l.hitsBefore(len(before)) {
		gap := strings.TrimLeft(l.text[l.fold.Source(h.End):f.Start], marks)
		switch h.Class {
		case lexicon.Strong, lexicon.Code:
			if !strings.ContainsAny(gap, pauses) || strings.Trim(gap, marks+commas) == "" && strings.ContainsRune(commas, firstRune(l.text[f.End:])) {
				called = max(called, isCode+int(lexicon.Code-h.Class))
			}
		case lexicon.Label, lexicon.NotCode:
			if strings.Trim(gap, ".") == "" && !l.measures(h) {
				points = otherName
			}
		case lexicon.Is, lexicon.Enter:
			given = given || h.End == len(before)
		}
	}
	gap := l.text[l.fold.Source(len(before)):f.Start]
	word := before[strings.LastIndexByte(before, ' ')+1:]
	last := lastLetter(word)
	unspaced := unicode.In(firstRune(last), unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	switch {
	case called > 0:
		return false, called
	case points != 0:
		return false, points
	case strings.ContainsAny(gap, pauses+"])】）"):
		return true, 0
	case strings.ContainsAny(gap, colons) || strings.ContainsAny(strings.Trim(gap, "-"), dashes):
		switch {
		case !known:
			return true, -1
		case strings.LastIndexAny(l.text[sentence:f.Start], "(（") > strings.LastIndexAny(l.text[sentence:f.Start], ")）"):
			return false, otherNoun // "your code is 482913 (account: 70312)"
		}
		return true, handedOver
	case given && known:
		return false, isCode
	case given:
		return false, handedOver
	case lexicon.Function(word), unspaced && lexicon.Function(last), !unspaced && utf8.RuneCountInString(word) <= 2:
		return false, 0
	}
	return false, otherNoun
}

// lastLetter returns the last letter of a word, with the marks on it.
func lastLetter(word string) string {
	return word[strings.LastIndexFunc(word, func(r rune) bool { return !unicode.IsMark(r) }):]
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// saidAfter returns what the words after a number say of it.
func (l *line) saidAfter(to, end int, first bool) int {
	folded := l.fold.Folded
	at := to + len(folded[to:]) - len(strings.TrimLeft(folded[to:], " "))
	if at == len(folded) {
		return 0
	}
	gap := l.text[end:max(end, l.fold.Source(at))]
	dash := strings.ContainsAny(gap, dashes)
	if strings.ContainsAny(gap, pauses+"(（") {
		return 0
	}
	given, entered := dash, false
	named := 0
	for _, h := range l.hits[l.firstHit(at):] {
		if h.Start > at {
			break
		}
		switch h.Class {
		case lexicon.Is:
			given = true
		case lexicon.Enter:
			entered = true
		case lexicon.Unit:
			named = otherName
		case lexicon.Strong, lexicon.Code:
			if !dash {
				named = isCode
			}
		}
	}
	next := firstRune(folded[at:])
	word, _, _ := strings.Cut(folded[at:], " ")
	switch {
	case given && first && l.predicate(end, at):
		return isCode
	case strings.ContainsAny(gap, colons):
		return otherNoun
	case named != 0:
		return named
	case entered:
		return handedOver
	case strings.ContainsRune(belonging, next):
		return otherNoun
	case !given && unicode.IsLetter(next) && utf8.RuneCountInString(word) > 3 && !lexicon.Unspaced(next):
		return -1
	}
	return 0
}

// firstHit returns the index of the first hit that starts at an offset of the folded line or later.
func (l *line) firstHit(at int) int {
	return sort.Search(len(l.hits), func(i int) bool { return l.hits[i].Start >= at })
}

// hitsBefore returns the hits of the last word before an offset of the folded line.
func (l *line) hitsBefore(at int) (all []lexicon.Hit) {
	const longest = 96 // bytes
	for i := l.firstHit(at) - 1; i >= 0 && at-l.hits[i].Start <= longest; i-- {
		if h := l.hits[i]; h.End <= at && ending(l.fold.Folded[h.End:at]) {
			all = append(all, h)
		}
	}
	return all
}

// ending reports whether a text is at most the end of a word that a phrase ends in.
func ending(s string) bool {
	const particle, suffix = 2, 12 // letters
	s = strings.TrimRight(s, " ")
	n := utf8.RuneCountInString(s)
	return !strings.Contains(s, " ") && (n <= particle || n <= suffix && !strings.ContainsFunc(s, func(r rune) bool { return lexicon.Unspaced(r) || unicode.IsDigit(r) }))
}

// measures reports whether a word is the unit of a number before it: "of 4820 EUR: 190274".
func (l *line) measures(h lexicon.Hit) bool {
	head := strings.TrimSuffix(l.fold.Folded[:h.Start], " ")
	return head != "" && head[len(head)-1] >= '0' && head[len(head)-1] <= '9' && slices.Contains(l.hits, lexicon.Hit{Class: lexicon.Unit, Start: h.Start, End: h.End})
}

// predicate reports whether a word for a code follows in the same sentence.
func (l *line) predicate(end, at int) bool {
	return slices.ContainsFunc(l.hits, func(h lexicon.Hit) bool {
		return h.Class <= lexicon.Code && h.Start >= at && !sentenceEnds(l.text[end:l.fold.Source(h.Start)])
	})
}

// sentence returns where the sentence of a number starts, not further back than matters.
func (l *line) sentence(number int) int {
	const reach = 240
	start := max(0, number-reach)
	begin := start
	text := l.text[start:max(start, len(strings.TrimRight(l.text[:number], marks)))]
	for i, r := range text {
		if strings.ContainsRune(pauses, r) && sentenceEnds(text[i:min(len(text), i+utf8.RuneLen(r)+1)]) {
			begin = start + i
		}
	}
	return begin
}

// hasCodeWord reports whether a word for a code is between two offsets.
func (l *line) hasCodeWord(from, to int) bool {
	return slices.ContainsFunc(l.hits, func(h lexicon.Hit) bool { return h.Class <= lexicon.Code && h.Start >= from && h.End <= to })
}

// trade returns how many words of trade are in the line of a candidate, without those that name other numbers: the code for
// order 448210 is none of an order.
func (c *code) trade() (n int) {
	for _, h := range c.line.hits {
		if h.Class == lexicon.Commerce && !(c.leads && c.line.names(h)) {
			n++
		}
	}
	return n
}

// names reports whether a phrase is right before or after a number.
func (l *line) names(h lexicon.Hit) bool {
	return slices.ContainsFunc(l.found, func(f candidate.Candidate) bool {
		from, to := l.fold.At(f.Start), l.fold.At(f.End)
		return !wordlike(f.Shape) && (h.End <= from && ending(l.fold.Folded[h.End:from]) || h.Start >= to && h.Start-to <= 1)
	})
}

// handed reports whether a number is handed over in a sentence that asks for something, without a word for a code:
// "Enter 482913 to confirm account 70312".
func (c *code) handed() bool {
	if c.standing < handedOver || c.alone || c.mail.purpose.trade >= 2 || c.trade() > 0 || has(c.line.hits, lexicon.Password) {
		return false
	}
	return slices.ContainsFunc(c.line.hits, func(h lexicon.Hit) bool {
		return asks([]lexicon.Hit{h}) != 0 && (h.Start >= c.to && !c.sentenceEndsBefore(h) || h.End <= c.from && !sentenceEnds(c.line.text[c.line.fold.Source(h.End):c.Start]))
	})
}
