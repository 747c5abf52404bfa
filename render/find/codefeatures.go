package find

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/find/candidate"
	"mayfly/render/lexicon"
)

// codeModel is what speaks for and against a candidate for the code.
var codeModel = model[*code]{
	// Its shape.
	when("six digits", 0.7, 0.44, func(c *code) bool { return c.numeric() && len(c.Value) == 6 }),
	when("year of a date or a name", -3, -3.91, (*code).dated),
	when("one character to a cell", 1.6, 3.31, (*code).apiece),
	when("letters one to a cell, no word near", -3.5, -3.72, func(c *code) bool {
		return c.Shape == candidate.Joined && !strings.ContainsAny(c.Value, "0123456789") && !c.near && c.phrase.where == nowhere
	}),
	when("letters and digits, no word near", -3, -3.42, func(c *code) bool {
		return c.Shape == candidate.Mixed && !c.near && !c.labelled() && !(c.inRequest() && c.scrambled())
	}),
	when("a word and a number, as coupons are", -2.5, -2.75, func(c *code) bool { return c.mixed() && coupon(c.Value) && !c.strong && !c.mail.asksForCode() }),
	when("a name and a number", -3, -3.07, func(c *code) bool { return c.mixed() && coupon(c.Value) && c.Value[1:] == strings.ToLower(c.Value[1:]) }),
	when("capitals, not marked", -3.4, -3.40, func(c *code) bool { return c.Shape == candidate.Upper && !c.direct || c.pronounceable() && !c.set() }),
	when("capitals, where there is a number", -2, -1.99, func(c *code) bool { return c.Shape == candidate.Upper && c.rival }),
	when("where no code of this shape would be", -8, -8.00, func(c *code) bool { return !c.fits() }),

	// Its line, and how it stands out.
	when("alone in its line", 1.3, 1.43, func(c *code) bool { return c.inBody() && c.alone }),
	when("digits set far apart", 1.5, 2.20, (*code).wide),
	when("bold", 0.4, 0.83, func(c *code) bool { return c.style.Bold }),
	when("the only number of a short mail that asks for something", 4.5, 5.07, func(c *code) bool {
		return c.sole && c.body.short && (c.marked || c.afterVerb()) && c.mail.purpose.subject != 0 && c.mail.purpose.trade+c.mail.purpose.notice == 0
	}),
	when("letters and digits in a sentence that asks", 5, 5.39, func(c *code) bool { return c.Shape == candidate.Mixed && !c.near && c.inRequest() && c.scrambled() }),
	when("in the footer", -2.5, -2.95, func(c *code) bool { return c.line.footer }),
	when("quoted", -3.5, -4.23, (*code).quoted),

	// The words for a code.
	when("a word right beside it in its sentence", 0.8, 0.84, func(c *code) bool { return c.direct && c.worth > 0 && !c.alone && !c.phrase.next }),
	when("after a colon", 0.3, 1.02, func(c *code) bool { return c.direct && !c.alone && c.Before == ':' && c.phrase.end >= 0 }),

	// Where else it is.
	when("in a link that asks for something", 4, 4.68, func(c *code) bool { return c.linked }),

	// Other numbers.
	when("another number of its line is called a code", -6, -6.00, func(c *code) bool { return c.lesser }),
	when("called by another noun", -4, -4.71, func(c *code) bool {
		return c.standing <= otherNoun && c.other != rightBefore && !c.besideOther && !c.alone
	}),
	when("handed over in a request", 4.5, 4.96, func(c *code) bool { return c.worth == 0 && c.numeric() && c.handed() }),
	when("numbered with # or №", -4, -4.00, func(c *code) bool { return c.Numbered }),
	when("name of another number right before it", -5, -5.03, func(c *code) bool { return c.other == rightBefore }),
	when("name of another number above it", -4, -4.00, func(c *code) bool { return c.other == onlyAbove }),
	when("a later sentence names another number", -2, -2.77, (*code).renamed),
	when("word for another kind of code beside it", -4, -4.01, func(c *code) bool { return c.besideOther }),
	when("word for another kind of code above it", -4, -4.00, func(c *code) bool { return c.belowOther }),
	when("one of a list of such", -4, -4.43, func(c *code) bool { return c.listed }),
	measure("words of trade in its line", -3, -4.13, func(c *code) float64 {
		if !c.weak() {
			return 0
		}
		return float64(min(c.trade(), 3))
	}),

	// What the mail is about.
	when("the mail is about a meeting", -5, -5.46, func(c *code) bool { return c.body.meeting }),
	when("the mail is about orders, offers or news", -4.5, -5.67, func(c *code) bool {
		return !c.mail.asks() && c.mail.purpose.trade >= 2 && !(c.strong && (c.alone && c.numeric() || c.expiry))
	}),
	when("nothing says which of the numbers is the code", -3.5, -3.60, func(c *code) bool {
		return !c.explained() && c.mail.purpose.trade == 0 && c.rival
	}),
	when("nothing says what it opens, and there are other figures or words of trade", -2.5, -3.32, func(c *code) bool {
		trade := c.mail.purpose.trade
		return !c.explained() && (trade > 0 && trade < 2 || trade == 0 && !c.rival && c.among && !(c.leads && c.standing >= handedOver))
	}),
}

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

// mixed reports whether letters and digits have a word near.
func (c *code) mixed() bool { return c.Shape == candidate.Mixed && c.near }

func (c *code) inBody() bool { return c.line.block != nil }

// pronounceable reports whether capitals with a word right beside them may be a word.
func (c *code) pronounceable() bool {
	return c.Shape == candidate.Upper && c.direct && !unpronounceable(c.Value)
}

// set reports whether a candidate is set apart from the text before it.
func (c *code) set() bool { return c.marked || c.Before == ':' }

// quoted reports whether a candidate is quoted with other lines. By itself it is set apart.
func (c *code) quoted() bool {
	return c.line.quoted && (!c.alone || c.row > 0 && c.body.lines[c.row-1].quoted || c.row+1 < len(c.body.lines) && c.body.lines[c.row+1].quoted)
}

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

// weak reports whether nothing means a one-time code.
func (c *code) weak() bool { return !c.strong && !c.mail.subjectHas(lexicon.Strong) }

// explained reports whether the mail says that it has a code, or what a code would open, or sets the
// candidate as only codes are.
func (c *code) explained() bool {
	return c.mail.asks() || c.strong || c.mail.purpose.mentionsCode || c.wide() || c.leads && c.standing >= isCode
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

func (m *mail) subjectHas(class lexicon.Class) bool { return has(m.subject.hits, class) }

// fit says, for the shapes that words and tokens have too, where a code of that shape would be: set
// apart by a word that means a code and nothing else.
var fit = map[candidate.Shape]func(*code) bool{
	candidate.Lower: func(c *code) bool { return c.strong && c.direct && c.prominent },
	candidate.Long: func(c *code) bool {
		known := c.strong || c.mail.asksForCode() || c.mail.purpose.subject != 0
		return secret(c.Value) && (c.linked && c.direct || known && c.direct && (c.standsAlone() || c.alone && len(c.Value) > candidate.Typed || c.Before == ':'))
	},
	candidate.Pair:   func(c *code) bool { return c.strong && c.standsAlone() && !c.inPhrase() },
	candidate.Worded: (*code).fitsWords,
}

// fits reports whether a candidate is where a code of its shape would be.
func (c *code) fits() bool {
	f, ok := fit[c.Shape]
	return !ok || f(c)
}

// standsAlone reports whether a candidate is alone in its line and set apart from what is above it.
func (c *code) standsAlone() bool { return c.direct && c.alone && (c.prominent || c.introduced()) }

func (c *code) fitsWords() bool {
	number := strings.ContainsAny(c.Value, "0123456789")
	shown := c.near && c.prominent && c.introduced()
	if !c.strong && !shown && !(c.alone && number && c.mail.asksForCode()) {
		return false
	}
	if c.alone {
		return c.standsAlone() || c.direct && c.phrase.strong && c.phrase.distance <= 20
	}
	return number && (c.near || c.Before == ':' && c.phrase.end >= 0)
}

// introduced reports whether the line above ends in a colon.
func (c *code) introduced() bool {
	return c.row > 0 && strings.HasSuffix(strings.TrimRight(strings.ReplaceAll(c.body.lines[c.row-1].text, "：", ":"), " \u00a0"), ":")
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

// dated reports whether a year is part of a date, near a day or a time, or of a name: Congress 2026.
func (c *code) dated() bool {
	if !c.Year() {
		return false
	}
	const reach = 24
	day := false
	candidate.Figures(c.line.text[max(0, c.Start-reach):min(len(c.line.text), c.End+reach)], func(value string, _, _ int) {
		day = day || len(value) <= 2
	})
	return day || c.line.nameBefore(&c.Candidate) != ""
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
func (c *code) labelled() bool { return c.linked && c.Before == ':' && c.scrambled() }

// coupon reports whether a word precedes a number, as in SAVE20.
func coupon(value string) bool {
	word := strings.TrimRight(value, "0123456789")
	return len(word) >= 4 && len(word) < len(value) && !strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "AEIOUaeiou")
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

// inLink reports whether the candidate is in a link that asks for something: to confirm one may
// follow the link, or enter what it carries.
func (c *code) inLink() bool {
	const most = 64 // links that are read
	links := c.body.doc.Links
	for i := range links[:min(len(links), most)] {
		if l := &links[i]; len(c.Value) >= 6 && strings.Contains(l.URL, c.Value) {
			if t := inspect(l.URL); t.asks&^onlyLogin != 0 || t.token && t.asks != 0 {
				return true
			}
		}
	}
	return false
}
