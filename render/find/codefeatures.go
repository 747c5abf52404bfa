package find

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/find/candidate"
	"mayfly/render/lexicon"
)

// codeFeatures is what speaks for and against a candidate for the code.
var codeFeatures = []feature[*code]{
	// Its shape.
	when("six digits", func(c *code) bool { return c.numeric() && len(c.Value) == 6 }),
	when("as long as a telephone number", (*code).long),
	when("looks like a year", (*code).Year),
	when("looks like a year, no word right beside it", func(c *code) bool { return c.Year() && (!c.direct || c.phrase.next) }),
	when("year of a date", (*code).dated),
	when("one character to a cell", (*code).apiece),
	when("letters one to a cell, no word near", func(c *code) bool {
		return c.Shape == candidate.Joined && !strings.ContainsAny(c.Value, "0123456789") && !c.near && c.phrase.where == nowhere
	}),
	when("groups, no word near", func(c *code) bool { return c.Shape == candidate.Hyphened && !c.near }),
	when("prefix of another number, or no word near", func(c *code) bool { return c.Shape == candidate.Prefixed && (!c.near || c.prefixed()) }),
	when("letters and digits, no word near", func(c *code) bool {
		return c.Shape == candidate.Mixed && !c.near && !c.labelled() && !(c.inRequest() && c.scrambled())
	}),
	when("a word and a number, as coupons are", func(c *code) bool { return c.mixed() && c.coupon() && !c.strong && !c.mail.asksForCode() }),
	when("a name and a number", func(c *code) bool { return c.mixed() && c.coupon() && c.Value == strings.ToLower(c.Value) }),
	when("capitals, not marked", func(c *code) bool { return c.Shape == candidate.Upper && !c.direct || c.pronounceable() && !c.set() }),
	when("part of a phrase", func(c *code) bool { return wordlike(c.Shape) && c.inPhrase() }),
	when("words with hyphens", func(c *code) bool { return c.Shape == candidate.Worded && c.fits() }),
	when("small letters", func(c *code) bool { return c.Shape == candidate.Lower && c.fits() }),
	when("two words", func(c *code) bool { return c.Shape == candidate.Pair && c.fits() }),
	when("where no code of this shape would be", func(c *code) bool { return !c.fits() }),

	// Its line, and how it stands out.
	when("alone in its line", func(c *code) bool { return c.inBody() && c.alone }),
	when("digits set far apart", (*code).wide),
	when("monospaced", func(c *code) bool { return c.style.Mono }),
	when("bold", func(c *code) bool { return c.style.Bold }),
	when("in a box", func(c *code) bool { return c.inBody() && (c.line.block.Boxed || c.style.Background.Set) }),
	when("set apart, and the subject asks for something", func(c *code) bool {
		return c.alone && c.mail.purpose.subject != 0 && (c.style.Size >= c.page.size*1.25 || c.prominent)
	}).as(func(c *code) string { return c.mail.purpose.subject.String() }),
	when("the only number, set apart in a mail that asks for something", func(c *code) bool {
		return c.sole && c.prominent && c.mail.purpose.subject != 0 && c.mail.purpose.trade == 0
	}),
	when("the only number of a short mail that asks for something", func(c *code) bool {
		return c.sole && c.page.short && (c.alone || c.afterVerb()) && c.mail.purpose.subject != 0 && c.mail.purpose.trade+c.mail.purpose.notice == 0
	}),
	when("alone in a short mail about a code", func(c *code) bool {
		return c.alone && c.page.short && c.mail.asksForCode() && strings.ContainsAny(c.Value, "0123456789")
	}),
	when("the only number, in a sentence that asks", func(c *code) bool { return c.sole && c.inRequest() }),
	when("letters and digits in a sentence that asks", func(c *code) bool { return c.Shape == candidate.Mixed && !c.near && c.inRequest() && c.scrambled() }),
	when("in the footer", func(c *code) bool { return c.line.footer }),
	when("quoted", func(c *code) bool { return c.line.quoted }),
	when("part of a link", func(c *code) bool { return c.page.link(c.line, c.Start) > 0 }),

	// The words for a code.
	when("a word right beside it in its sentence", func(c *code) bool { return c.direct && c.worth > 0 && !c.alone && !c.phrase.next }),
	when("after a colon", func(c *code) bool { return c.direct && !c.alone && c.Before == ':' && c.phrase.end >= 0 }),
	when("the subject names a one-time code", func(c *code) bool { return c.inBody() && c.worth > 0 && c.mail.subjectHas(lexicon.Strong) }),
	when("its line says that it expires", func(c *code) bool { return c.expiry }),

	// Where else it is.
	when("in the subject too", func(c *code) bool { return c.inBody() && !c.mail.numbered(c.Key()) && c.mail.subject.holds(c.Key()) }),
	when("in both bodies", func(c *code) bool { return c.inBody() && c.mail.otherHolds(c) }),
	when("in a link that asks for something", func(c *code) bool { return c.linked }),
	when("in a link that asks for something, and after a colon", (*code).labelled),

	// Other numbers.
	when("numbered with # or №", func(c *code) bool { return c.Numbered }),
	when("the number of something in the subject", func(c *code) bool { return c.inBody() && c.mail.numbered(c.Key()) }),
	when("name of another number right before it", func(c *code) bool { return c.other == rightBefore }),
	when("name of another number before it, and none of a code", func(c *code) bool { return c.other == shortlyAhead }),
	when("name of another number above it", func(c *code) bool { return c.other == onlyAbove }),
	when("word for a password before it", (*code).password),
	when("a later sentence names another number", (*code).renamed),
	when("a quantity", func(c *code) bool { return c.line.counts(c) }),
	when("word for another kind of code beside it", func(c *code) bool { return c.otherCode == besideIt }),
	when("word for another kind of code above it", func(c *code) bool { return c.otherCode == oneLineAbove }),
	when("part of a name", (*code).named),
	when("one of a list of such", func(c *code) bool { return c.listed }),
	when("beside a percentage", func(c *code) bool { return c.weak() && strings.Contains(c.line.text, "%") }),
	{name: "words of trade in its line", value: func(c *code) float64 {
		if !c.weak() {
			return 0
		}
		return float64(min(count(c.line.hits, lexicon.Commerce), 3))
	}},

	// What the mail is about.
	when("the mail is about a meeting", func(c *code) bool { return c.page.meeting }),
	when("the mail is about orders, offers or news", func(c *code) bool {
		return !c.mail.asks() && c.mail.purpose.trade >= 2 && !(c.strong && (c.alone || c.expiry))
	}),
	when("nothing says what it opens, and some of the mail is about trade", func(c *code) bool {
		return !c.explained() && c.mail.purpose.trade > 0 && c.mail.purpose.trade < 2
	}),
	when("nothing says which of the numbers is the code", func(c *code) bool {
		return !c.explained() && c.mail.purpose.trade == 0 && c.rival
	}),
	when("nothing says what it opens, and there are other figures", func(c *code) bool {
		return !c.explained() && c.mail.purpose.trade == 0 && !c.rival && c.among
	}),
	when("subject and line tell what has happened", func(c *code) bool { return c.reported() && has(c.line.hits, lexicon.Notice) }),
	when("the subject tells what has happened", func(c *code) bool {
		return c.reported() && !has(c.line.hits, lexicon.Notice) && !c.strong && !c.mail.asksForCode()
	}),
}

var codeModel = newModel(codeWeights, codeFeatures)

func wordlike(s candidate.Shape) bool {
	return s == candidate.Upper || s == candidate.Lower || s == candidate.Pair
}

// word reports whether the candidate is a word in small letters, or two. Only alone in its line it
// may be a code.
func (c *code) word() bool { return c.Shape == candidate.Lower || c.Shape == candidate.Pair }

func (c *code) numeric() bool {
	return c.Shape == candidate.Digits || c.Shape == candidate.Spaced ||
		c.Shape == candidate.Joined && strings.Trim(c.Value, "0123456789") == ""
}

// long reports whether digits are as many as those of a telephone number, and are not made known as
// a code.
func (c *code) long() bool {
	return c.numeric() && len(c.Value) == candidate.MostDigits && !(c.near && (c.strong || c.alone && c.mail.asksForCode()))
}

// mixed reports whether letters and digits have a word near.
func (c *code) mixed() bool { return c.Shape == candidate.Mixed && c.near }

func (c *code) inBody() bool { return c.line.block != nil }

// pronounceable reports whether capitals with a word right beside them may be a word.
func (c *code) pronounceable() bool {
	return c.Shape == candidate.Upper && c.direct && !unpronounceable(c.Value)
}

// set reports whether a candidate is set apart from the text before it.
func (c *code) set() bool { return c.marked || c.Before == ':' }

// inRequest reports whether a candidate is in a sentence that goes on to say what it is for, in a
// mail that is not about trade: "Use 482913 to sign in".
func (c *code) inRequest() bool {
	if c.alone || !c.inBody() || c.mail.purpose.trade > 0 || has(c.line.hits, lexicon.Password) {
		return false
	}
	for _, h := range c.line.hits {
		if asks([]lexicon.Hit{h}) != 0 && h.Start >= c.to && h.Start-c.to <= 24 {
			return !c.sentenceEndsBefore(h)
		}
	}
	return false
}

// afterVerb reports whether just a word or two are before a candidate in its line: "Enter 482913".
func (c *code) afterVerb() bool {
	return c.from > 0 && utf8.RuneCountInString(c.line.fold.Folded[:c.from]) <= 12
}

// password reports whether a candidate is given as a password: the word is right before it, or ends
// the line above. What expires soon is a code, whatever it is called.
func (c *code) password() bool {
	l, to := c.line, c.from
	if c.alone && c.row > 0 {
		l = &c.page.lines[c.row-1]
		to = len(l.fold.Folded)
	}
	return !c.expiry && !c.mail.subjectHas(lexicon.Strong) && asks(l.hits) == 0 && slices.ContainsFunc(l.hits, func(h lexicon.Hit) bool {
		return h.Class == lexicon.Password && h.End <= to && to-h.End <= 14
	})
}

// weak reports whether nothing means a one-time code.
func (c *code) weak() bool { return !c.strong && !c.mail.subjectHas(lexicon.Strong) }

// explained reports whether the mail says that it has a code, or what a code would open, or sets the
// candidate as only codes are.
func (c *code) explained() bool {
	return c.mail.asks() || c.strong || c.mail.purpose.mentionsCode || c.wide()
}

// wide reports whether a number is alone in its line and set with much space between its digits.
func (c *code) wide() bool {
	const px = 4
	return c.alone && c.numeric() && c.style.Spacing >= px
}

// apiece reports whether each character is by itself.
func (c *code) apiece() bool {
	return c.Shape == candidate.Joined || c.Shape == candidate.Spaced && c.alone && c.End-c.Start >= 2*len(c.Value)-1
}

// asks reports whether the subject asks for something or mentions a code.
func (m *mail) asks() bool { return m.purpose.subject != 0 || m.asksForCode() }

// reported reports whether the subject tells what has happened and asks for nothing.
func (c *code) reported() bool {
	return c.mail.purpose.notice >= 2 && c.mail.purpose.subject == 0 && !c.alone
}

func (m *mail) subjectHas(class lexicon.Class) bool { return has(m.subject.hits, class) }

// fit says, for the shapes that words and tokens have too, where a code of that shape would be: set
// apart by a word that means a code and nothing else.
var fit = map[candidate.Shape]func(*code) bool{
	candidate.Lower:  func(c *code) bool { return c.strong && c.direct && c.prominent },
	candidate.Long:   func(c *code) bool { return c.linked && c.direct || (c.strong || c.mail.asksForCode()) && c.apart() },
	candidate.Pair:   func(c *code) bool { return c.strong && c.apart() && !c.inPhrase() },
	candidate.Worded: (*code).fitsWords,
}

// fits reports whether a candidate is where a code of its shape would be.
func (c *code) fits() bool {
	f, ok := fit[c.Shape]
	return !ok || f(c)
}

// apart reports whether a candidate is alone in its line and set apart from what is above it.
func (c *code) apart() bool { return c.direct && c.alone && (c.prominent || c.introduced()) }

func (c *code) fitsWords() bool {
	number := strings.ContainsAny(c.Value, "0123456789")
	shown := c.near && c.prominent && c.introduced()
	if !c.strong && !shown && !(c.alone && number && c.mail.asksForCode()) {
		return false
	}
	if c.alone {
		return c.apart() || c.direct && c.phrase.strong && c.phrase.distance <= 20
	}
	return number && (c.near || c.Before == ':' && c.phrase.end >= 0)
}

// introduced reports whether the line above ends in a colon.
func (c *code) introduced() bool {
	return c.row > 0 && strings.HasSuffix(strings.TrimRight(strings.ReplaceAll(c.page.lines[c.row-1].text, "：", ":"), " \u00a0"), ":")
}

// inPhrase reports whether the candidate is part of a known phrase.
func (c *code) inPhrase() bool {
	for _, h := range c.line.hits {
		if h.Start < c.to && h.End > c.from {
			return true
		}
	}
	return false
}

// dated reports whether a year is part of a date: a day or a time is near.
func (c *code) dated() bool {
	if !c.Year() {
		return false
	}
	const reach = 24
	day := false
	candidate.Figures(c.line.text[max(0, c.Start-reach):min(len(c.line.text), c.End+reach)], func(value string, _, _ int) {
		day = day || len(value) <= 2
	})
	return day
}

// named reports whether a number is part of a name.
func (c *code) named() bool { return c.inBody() && c.mail.names[c.Value] }

// numbersInNames returns the short numbers that are in the sender's name, and those that have the
// same name before them more than once: "Studio 1874".
func (m *mail) numbersInNames(sender string) map[string]bool {
	names := map[string]bool{}
	candidate.Figures(sender, func(value string, _, _ int) { names[value] = true })
	times := map[string]int{}
	for _, p := range m.pages() {
		for i := range p.lines {
			l := &p.lines[i]
			for j := range l.found {
				f := &l.found[j]
				if name := l.nameBefore(f); f.Shape == candidate.Digits && len(f.Value) == 4 && name != "" {
					if times[name+f.Value]++; times[name+f.Value] > 1 {
						names[f.Value] = true
					}
				}
			}
		}
	}
	return names
}

// nameBefore returns the capitalised word before a number, "" if it is none or a known phrase.
func (l *line) nameBefore(f *candidate.Candidate) string {
	head, ok := strings.CutSuffix(l.text[:f.Start], " ")
	word := head[strings.LastIndexByte(head, ' ')+1:]
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	if !ok || !unicode.IsUpper(first) || !unicode.IsLetter(last) {
		return ""
	}
	at := l.fold.At(f.Start)
	for _, h := range l.hits {
		if h.End < at && at-h.End <= 1 {
			return ""
		}
	}
	return word
}

// scrambled reports whether letters and digits alternate as if at random, unlike in SAVE20.
func (c *code) scrambled() bool {
	changes := 0
	for i := 1; i < len(c.Value); i++ {
		if (c.Value[i] <= '9') != (c.Value[i-1] <= '9') {
			changes++
		}
	}
	return changes >= 2
}

// labelled reports whether letters and digits have a label in a language that is not known, and are
// in a link that asks for something.
func (c *code) labelled() bool {
	return c.linked && c.Shape == candidate.Mixed && !c.near && c.Before == ':' && c.scrambled()
}

// coupon reports whether a word precedes a number, as in SAVE20.
func (c *code) coupon() bool {
	word := strings.TrimRight(c.Value, "0123456789")
	return len(word) >= 4 && len(word) < len(c.Value) && !strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "AEIOUaeiou")
}

// numberPrefixes are those of orders, invoices, tickets.
var numberPrefixes = wordSet("inv ord po sku ref tkt rma case id no nr rg re so pr cve iso rfc bug art")

// prefixed reports whether the prefix is that of another number.
func (c *code) prefixed() bool {
	prefix, _, _ := strings.Cut(strings.ToLower(c.Value), "-")
	return numberPrefixes[prefix]
}

// unpronounceable reports whether letters hardly make a word.
func unpronounceable(s string) bool {
	vowels, run, most := 0, 0, 0
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("AEIOUY", s[i]) >= 0 {
			vowels++
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most >= 5 || vowels*5 < len(s)
}

// counts reports whether a unit is right after a candidate.
func (l *line) counts(c *code) bool {
	for _, h := range l.hits {
		if h.Class == lexicon.Unit && h.Start >= c.to && h.Start-c.to <= 2 && strings.Trim(l.text[c.End:l.fold.Source(h.Start)], " \u00a0-") == "" {
			return true
		}
	}
	return false
}

// renamed reports whether a sentence between the word for a code and the candidate names another
// number.
func (c *code) renamed() bool {
	if c.phrase.end < 0 {
		return false
	}
	l := c.line
	for _, h := range l.hits {
		if h.Class == lexicon.Label && h.Start > c.phrase.end && h.End <= c.from &&
			sentenceEnds(l.text[l.fold.Source(c.phrase.end):l.fold.Source(h.Start)]) {
			return true
		}
	}
	return false
}

// numbered reports whether the subject has a value as the number of something: "Order 482913".
func (m *mail) numbered(key string) bool {
	for i := range m.subject.found {
		f := &m.subject.found[i]
		if f.Key() != key {
			continue
		}
		if f.Numbered {
			return true
		}
		from := m.subject.fold.At(f.Start)
		for _, h := range m.subject.hits {
			if h.Class == lexicon.Label && h.End <= from && from-h.End <= 3 {
				return true
			}
		}
	}
	return false
}

// holds reports whether a value is among the candidates of a line.
func (l *line) holds(key string) bool {
	for i := range l.found {
		if strings.EqualFold(l.found[i].Key(), key) {
			return true
		}
	}
	return false
}

// inLink reports whether the candidate is in a link that asks for something: to confirm one may
// follow the link, or enter what it carries.
func (c *code) inLink() bool {
	const most = 64 // links that are read
	links := c.page.doc.Links
	for i := range links[:min(len(links), most)] {
		if l := &links[i]; len(c.Value) >= 6 && strings.Contains(l.URL, c.Value) {
			if t := behind(l); t.asks&^onlyLogin != 0 || t.token && t.asks != 0 {
				return true
			}
		}
	}
	return false
}

// otherHolds reports whether the other body has the candidate too.
func (m *mail) otherHolds(c *code) bool {
	other := m.text
	if c.page == m.text {
		other = m.page
	}
	return other != nil && other.values[c.Key()]
}
