package lexicon

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mayfly/assets"
)

// catalogue has what is needed of all languages to detect those of a text: their most common words.
type catalogue struct {
	languages []*Language
	words     *trie           // the class of an end is the index of the language
	nouns     map[string]bool // those of the words that are nouns
}

var load = sync.OnceValue(func() *catalogue {
	c := &catalogue{words: newTrie(), nouns: map[string]bool{}}
	files, _ := fs.Glob(assets.Lexicons, "lexicons/*.txt") // the files are in the program
	for _, file := range files {
		source, _ := assets.Lexicons.ReadFile(file)
		c.add(&Language{Name: strings.TrimSuffix(path.Base(file), ".txt"), source: string(source)})
	}
	return c
})

func (c *catalogue) add(l *Language) {
	for class, p := range l.patterns(true) {
		c.nouns[p.bytes] = c.nouns[p.bytes] || class == noun
		c.words.add(p, Class(len(c.languages)))
		for _, r := range p.bytes {
			if s := script(r); s >= 0 {
				l.scripts |= 1 << s
			}
		}
	}
	c.languages = append(c.languages, l)
}

// ranges are the letters of the scripts that identify a language, or a few, in order. Scripts are numbered, those
// first that write a space between a word and a number.
var ranges = []struct {
	first, last rune
	script      int
}{
	{'A', 'z', latin}, {0xC0, 0x24F, latin}, {0x370, 0x3FF, 1}, {0x400, 0x52F, 2}, {0x530, 0x58F, 3}, // Greek, Cyrillic, Armenian
	{0x590, 0x5FF, 5}, {0x600, 0x77F, 6}, {0x900, 0x97F, 7}, {0x980, 0x9FF, 8}, {0xA00, 0xA7F, 9}, // Hebrew, Arabic, Devanagari, Bengali, Gurmukhi
	{0xA80, 0xAFF, 10}, {0xB80, 0xBFF, 11}, {0xC00, 0xC7F, 12}, {0xC80, 0xCFF, 13}, {0xD00, 0xD7F, 14}, // Gujarati, Tamil, Telugu, Kannada, Malayalam
	{0xD80, 0xDFF, 15}, {0xE00, 0xE7F, 16}, {0xE80, 0xEFF, 17}, {0x1000, 0x109F, 18}, {0x10A0, 0x10FF, 4}, // Sinhala, Thai, Lao, Burmese, Georgian
	{0x1200, 0x137F, 19}, {0x1780, 0x17FF, 20}, {0x1E00, 0x1EFF, latin}, {0x3040, 0x30FF, 21}, // Ethiopic, Khmer, kana
	{0x3400, 0x9FFF, 22}, {0xAC00, 0xD7A3, 23}, // Han, Hangul
}

const (
	latin    = 0
	unspaced = 5 // the first script that writes none
	scripts  = 24
)

// script returns the number of a letter's script, -1 for any other.
func script(r rune) int {
	for _, x := range ranges {
		if r <= x.last {
			if r >= x.first {
				return x.script
			}
			break
		}
	}
	return -1
}

// Unspaced reports whether a rune is of a script in which a number may follow a word without a
// space.
func Unspaced(r rune) bool {
	s := script(r)
	return s >= unspaced || s < 0 && r >= utf8.RuneSelf && unicode.IsLetter(r)
}

// Bounds on detecting languages.
const (
	sampleBytes  = 16 << 10 // how much of a text is read
	mostAtOnce   = 8        // possible languages beside English
	clearly      = 5        // different function words that prove a language
	some         = 2        // different function words that make a language likely
	asLikely     = 0.5      // share of the best score from which another language is likely too
	shortText    = 2 << 10  // bytes below which any language of its script is possible
	foreignRunes = 3        // letters of a script that make its languages possible
)

// Detect returns the languages that a text is likely in, and others it may be in if it is too short
// to be sure. English is always likely, since messages in all languages have some. Languages that
// are hard to distinguish come together. hint is the language tag that the message declares.
func Detect(t Text, hint string) (likely, possible []*Language) {
	c := load()
	sample := t.Folded
	if len(sample) > sampleBytes {
		sample = sample[:sampleBytes]
	}
	var letters [scripts]int
	for _, r := range sample {
		if s := script(r); s >= 0 {
			letters[s]++
		}
	}
	scores := c.scores(sample)
	guesses := make([]guess, len(c.languages))
	for s, n := range letters {
		if n >= foreignRunes || s == latin && n > 0 {
			c.pick(guesses, s, scores, len(sample) < shortText)
		}
	}
	for i, l := range c.languages {
		switch {
		case guesses[i] == sure || l.Name == "en" || declared(l.Name, hint):
			likely = append(likely, l)
		case guesses[i] == maybe:
			possible = append(possible, l)
		}
	}
	return likely, possible
}

type guess uint8

const (
	no guess = iota
	maybe
	sure
)

// scores counts the different function words of each language in the sample.
func (c *catalogue) scores(sample string) []float64 {
	scores := make([]float64, len(c.languages))
	type found struct {
		language Class
		word     string
	}
	seen := map[found]bool{}
	c.words.scan(sample, func(h Hit) bool {
		if f := (found{h.Class, sample[h.Start:h.End]}); !seen[f] {
			seen[f] = true
			scores[h.Class]++
		}
		return true
	})
	return scores
}

// pick notes the languages of a script that the text is or may be in.
func (c *catalogue) pick(guesses []guess, script int, scores []float64, short bool) {
	var candidates []int
	best := 0.0
	for i, l := range c.languages {
		if l.scripts&(1<<script) != 0 {
			candidates = append(candidates, i)
			best = max(best, scores[i])
		}
	}
	slices.SortStableFunc(candidates, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for n, i := range candidates {
		switch near := scores[i] >= asLikely*best || scores[i] >= best-1; {
		case near && n < mostAtOnce && (scores[i] >= some || len(candidates) <= mostAtOnce):
			guesses[i] = sure
		case guesses[i] == no && best < clearly && short:
			guesses[i] = maybe
		}
	}
}

// declared reports whether a language tag means a language: "pt-BR" means "pt", "zh-TW" means
// "zh-Hant".
func declared(name, tag string) bool {
	if tag == "" {
		return false
	}
	tag, name = strings.ToLower(tag), strings.ToLower(name)
	base, region, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	if rest, ok := strings.CutPrefix(name, "zh-"); ok {
		traditional := region == "tw" || region == "hk" || region == "mo" || strings.HasPrefix(region, "hant")
		return base == "zh" && (rest == "hant") == traditional
	}
	if base == "no" || base == "nn" {
		base = "nb"
	}
	if base == "tl" {
		base = "fil"
	}
	return base == name
}

// Function reports whether a folded word is a function word of any language.
func Function(word string) (is bool) {
	c := load()
	c.words.scan(word, func(h Hit) bool {
		is = h.Start == 0 && h.End == len(word) && !c.nouns[word]
		return !is
	})
	return is
}
