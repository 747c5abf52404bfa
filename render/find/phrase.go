package find

import (
	"fmt"
	"iter"
	"unicode/utf8"

	"mayfly/render/lexicon"
)

// phrase is a word for a code near a candidate.
type phrase struct {
	text     string
	strong   bool // means a one-time code and nothing else
	where    where
	end      int  // where it ends in the folded line, if it is before the candidate in the same line; else -1
	distance int  // how far it is, in characters; see below
	beside   int  // characters between, in the same line; -1 if it is in another
	next     bool // in the sentence that follows
}

type where uint8

const (
	nowhere where = iota
	before
	after
	above
	below
	inSubject
)

func (p *phrase) String() string {
	return fmt.Sprintf("%q %s", p.text, [...]string{"", "before it", "after it", "above it", "below it", "in the subject"}[p.where])
}

// How far phrases are that are not before the candidate, in characters: a step back to one after
// it costs some.
const (
	afterIt     = 10
	aboveIt     = 10
	belowIt     = 40
	subjectIs   = 60
	farthest    = 160
	nearIt      = 25
	nearStrong  = 75 // for words that mean a one-time code and nothing else
	rightBeside = 26 // characters within which nothing that matters is between
)

// near reports whether a phrase is as near as its meaning requires.
func (p *phrase) near() bool {
	switch {
	case p.where == nowhere:
		return false
	case p.strong:
		return p.distance <= nearStrong
	}
	return p.distance <= nearIt
}

// direct reports whether nothing that matters is between a phrase and the candidate.
func (p *phrase) direct(c *code) bool {
	switch p.where {
	case before, after:
		return p.beside <= rightBeside
	case above:
		return c.alone
	case below:
		return p.distance < belowIt+35
	}
	return false
}

// means reports whether a phrase makes clear that the candidate is a one-time code.
func (p *phrase) means() bool {
	return p.strong && p.distance <= 50
}

// phrases calls yield with the words for a code near a candidate: in its line, and for one alone in
// its line in those above and below and in the subject.
func (c *code) phrases(yield func(*phrase)) {
	for h := range codeWords(c.line) {
		if p, ok := c.inLine(h); ok {
			yield(&p)
		}
	}
	if c.row > 0 && (c.alone || c.from <= 1 || c.Before == ':') {
		l := &c.body.lines[c.row-1]
		for h := range codeWords(l) {
			tail := utf8.RuneCountInString(l.fold.Folded[h.End:])
			p := newPhrase(h, l, above, aboveIt+min(tail, 200)/3)
			yield(&p)
		}
	}
	if c.row+1 < len(c.body.lines) && c.alone && !c.body.lines[c.row+1].footer {
		l := &c.body.lines[c.row+1]
		for h := range codeWords(l) {
			head := utf8.RuneCountInString(l.fold.Folded[:h.Start])
			p := newPhrase(h, l, below, belowIt+min(head, 200)*5/8)
			yield(&p)
		}
	}
	if c.row < 40 && (c.alone || c.inRequest() || c.sole && asks(c.line.hits) != 0) {
		for h := range codeWords(&c.mail.subject) {
			p := newPhrase(h, &c.mail.subject, inSubject, subjectIs)
			yield(&p)
		}
	}
}

// codeWords are the words for a code in a line.
func codeWords(l *line) iter.Seq[lexicon.Hit] {
	return func(yield func(lexicon.Hit) bool) {
		for _, h := range l.hits {
			if (h.Class == lexicon.Strong || h.Class == lexicon.Code) && !yield(h) {
				return
			}
		}
	}
}

func newPhrase(h lexicon.Hit, l *line, at where, distance int) phrase {
	return phrase{
		text: l.fold.Folded[h.Start:h.End], strong: h.Class == lexicon.Strong, where: at, distance: distance, end: -1, beside: -1,
	}
}

// inLine returns the phrase of a hit in the candidate's own line.
func (c *code) inLine(h lexicon.Hit) (p phrase, ok bool) {
	folded := c.line.fold.Folded
	switch {
	case h.End <= c.from:
		gap := utf8.RuneCountInString(folded[h.End:c.from])
		p = newPhrase(h, c.line, before, min(gap, farthest))
		p.end, p.beside = h.End, gap
	case h.Start >= c.to:
		gap := utf8.RuneCountInString(folded[c.to:h.Start])
		p = newPhrase(h, c.line, after, afterIt+min(gap, farthest))
		p.beside = gap
		p.next = c.sentenceEndsBefore(h)
	default:
		return p, false
	}
	return p, true
}

// sentenceEndsBefore reports whether a sentence ends between the candidate and a phrase after it.
func (c *code) sentenceEndsBefore(h lexicon.Hit) bool {
	return sentenceEnds(c.line.text[c.End:c.line.fold.Source(h.Start)])
}

// phraseModel weighs a word for a code. Of several, the one that weighs most counts.
var phraseModel = model[*phrase]{
	when("word that means a code and nothing else", 4.5, 5.30, func(p *phrase) bool { return p.strong }).about((*phrase).String),
	when("word that may mean a code", 4, 5.16, func(p *phrase) bool { return !p.strong }).about((*phrase).String),
	measure("distance of the word, in 100 characters", -2, -1.01, func(p *phrase) float64 { return float64(p.distance) / 100 }),
}
