// Package lexicon finds the words that messages about sign-up, login, notices and shopping use, in
// many languages. Each language is a file in assets/lexicons, read when it is first needed.
//
// A line of such a file is "class: phrase, phrase, …". A phrase matches whole words; "word*"
// matches words with that beginning, "*word" words with that ending, and "*" any one word. With the
// line "match: stem" every word of four or more letters matches as a beginning. With "match: part"
// phrases match anywhere, for scripts that write prefixes or whole sentences without spaces, and
// "=word" matches a whole word.
package lexicon

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Class is what a phrase says about a message, or about what is beside it.
type Class uint8

const (
	Strong   Class = iota // means a one-time code and nothing else: "verification code"
	Code                  // may mean one: "code", "PIN"
	NotCode               // means another kind of code: "promo code", "postcode"
	Label                 // precedes numbers that are not codes: "order", "phone", "version"
	Unit                  // follows numbers that are not codes: "minutes", "points"
	Expiry                // "expires", "do not share"
	Confirm               // confirm, verify, activate, finish signing up, approve
	Login                 // sign in, magic link
	Reset                 // reset or set a password
	Invite                // invitation, accept, join
	Unlock                // unlock, reactivate
	Change                // change of the address
	Delete                // deletion of the account
	Click                 // "click here", "the button below"
	Copy                  // "copy this link into your browser"
	Footer                // unsubscribe, privacy, help, social networks
	Commerce              // orders, receipts, newsletters, offers, events
	Notice                // says that something has happened
	IfNot                 // "if you did not request this"
	Meeting               // "meeting ID", "dial in": numbers and links of a call
	Refuse                // decline, cancel, undo, "not me"
	Password              // the noun
	Is                    // copulas, beside what is handed over: "is", "reads"
	Enter                 // verbs and prepositions beside it: "enter", "use", "with"
	function              // most common words without a meaning of their own, which identify a language
	noun                  // most common nouns, which do, too
)

var names = [...]string{
	Strong: "strong", Code: "code", NotCode: "notcode", Label: "label", Unit: "unit", Expiry: "expiry", Confirm: "confirm", Login: "login",
	Reset: "reset", Invite: "invite", Unlock: "unlock", Change: "change", Delete: "delete", Click: "click", Copy: "copy", Footer: "footer",
	Commerce: "commerce", Notice: "notice", IfNot: "ifnot", Meeting: "meeting", Refuse: "refuse", Password: "password",
	Is: "is", Enter: "enter", function: "function", noun: "noun",
}

func (c Class) String() string { return names[c] }

// Hit is a phrase found in a folded text.
type Hit struct {
	Class      Class
	Start, End int // offsets in the folded text
}

// Language is one lexicon.
type Language struct {
	Name string // the name of its file: "de", "zh-Hans"

	source  string
	scripts uint32 // those of its function words, a bit each
	once    sync.Once
	trie    *trie
}

// Scan yields the phrases of the language in a folded text, by their start. They may overlap.
func (l *Language) Scan(t Text, yield func(Hit) bool) {
	l.once.Do(l.load)
	l.trie.scan(t.Folded, yield)
}

func (l *Language) load() {
	l.trie = newTrie()
	for class, p := range l.patterns(false) {
		l.trie.add(p, class)
	}
}

// patterns yields the phrases of a lexicon with their classes: those that identify it, which are whole words or parts,
// or all others.
func (l *Language) patterns(identify bool) iter.Seq2[Class, pattern] {
	return func(yield func(Class, pattern) bool) {
		mode := wholeWords
		for line := range strings.Lines(l.source) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			if key == "match" && !(identify && strings.TrimSpace(value) == "stem") {
				mode = modes[strings.TrimSpace(value)]
			}
			class := slices.Index(names[:], key)
			if class < 0 || (Class(class) >= function) != identify {
				continue
			}
			for phrase := range strings.SplitSeq(value, ",") {
				if !yield(Class(class), compile(phrase, mode)) {
					return
				}
			}
		}
	}
}

type mode uint8

const (
	wholeWords mode = iota
	stems
	parts
)

var modes = map[string]mode{"stem": stems, "part": parts}

// stemLetters is how long a word must be to match as a beginning in a lexicon of stems.
const stemLetters = 4

// Bytes with a special meaning in a pattern. Neither occurs in folded text.
const (
	rest    = 0x01 // the rest of the word, if any
	anyWord = 0x02 // one word
)

// pattern is a phrase prepared for the trie.
type pattern struct {
	bytes     string
	openStart bool // may start within a word
	openEnd   bool // may end within a word
}

func compile(phrase string, m mode) pattern {
	words := strings.Fields(phrase)
	var p pattern
	var b strings.Builder
	for i, w := range words {
		last := i == len(words)-1
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if w == "*" {
			b.WriteByte(anyWord)
			continue
		}
		whole := strings.HasPrefix(w, "=")
		openStart, openEnd := strings.HasPrefix(w, "*"), strings.HasSuffix(w, "*")
		f := strings.TrimSpace(Fold(w).Folded)
		if f == "" {
			continue
		}
		ascii := f[len(f)-1] < utf8.RuneSelf
		switch {
		case whole:
		case m == stems && utf8.RuneCountInString(f) >= stemLetters:
			openEnd = true
		case m == parts && !ascii:
			openStart, openEnd = true, true
		}
		if i == 0 {
			p.openStart = openStart
		}
		b.WriteString(f)
		if last {
			p.openEnd = openEnd
		} else if openEnd {
			b.WriteByte(rest)
		}
	}
	p.bytes = strings.TrimSpace(b.String())
	return p
}
