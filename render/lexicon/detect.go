package lexicon

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mayfly/assets"
)

// catalogue has what is needed of all languages to detect those of a text: their function words.
type catalogue struct {
	languages []*Language
	words     *trie // function words; the class of an end is the index of the language
	scripts   []uint32
}

var load = sync.OnceValue(func() *catalogue {
	c := &catalogue{words: newTrie()}
	entries, err := assets.Lexicons.ReadDir(directory)
	if err != nil {
		return c
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".txt")
		if !ok || len(c.languages) == 255 {
			continue
		}
		source, err := read(e.Name())
		if err != nil {
			continue
		}
		c.add(&Language{Name: name, source: func() (string, error) { return source, nil }}, source)
	}
	return c
})

func (c *catalogue) add(l *Language, source string) {
	index := Class(len(c.languages))
	mode := wholeWords
	var scripts uint32
	for line := range strings.Lines(source) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if key == "match" && strings.TrimSpace(value) == "part" {
			mode = parts
		}
		if key != "function" {
			continue
		}
		for phrase := range strings.SplitSeq(value, ",") {
			p := compile(phrase, mode)
			c.words.add(p, index)
			for _, r := range p.bytes {
				scripts |= script(r)
			}
		}
	}
	c.languages = append(c.languages, l)
	c.scripts = append(c.scripts, scripts)
}

// Scripts that identify a language, or a few.
const (
	latin uint32 = 1 << iota
	cyrillic
	greek
	arabic
	hebrew
	devanagari
	bengali
	tamil
	telugu
	gujarati
	kannada
	malayalam
	gurmukhi
	sinhala
	thai
	lao
	khmer
	myanmar
	georgian
	armenian
	han
	kana
	hangul
	ethiopic
)

var ranges = []struct {
	lo, hi rune
	script uint32
}{
	{'a', 'z', latin}, {'A', 'Z', latin}, {0xC0, 0x24F, latin}, {0x370, 0x3FF, greek}, {0x400, 0x52F, cyrillic},
	{0x530, 0x58F, armenian}, {0x590, 0x5FF, hebrew}, {0x600, 0x77F, arabic}, {0x900, 0x97F, devanagari},
	{0x980, 0x9FF, bengali}, {0xA00, 0xA7F, gurmukhi}, {0xA80, 0xAFF, gujarati}, {0xB80, 0xBFF, tamil},
	{0xC00, 0xC7F, telugu}, {0xC80, 0xCFF, kannada}, {0xD00, 0xD7F, malayalam}, {0xD80, 0xDFF, sinhala},
	{0xE00, 0xE7F, thai}, {0xE80, 0xEFF, lao}, {0x1000, 0x109F, myanmar}, {0x10A0, 0x10FF, georgian},
	{0x1200, 0x137F, ethiopic}, {0x1780, 0x17FF, khmer}, {0x1E00, 0x1EFF, latin}, {0x3040, 0x30FF, kana},
	{0x3400, 0x4DBF, han}, {0x4E00, 0x9FFF, han}, {0xAC00, 0xD7A3, hangul},
}

func script(r rune) uint32 {
	for _, x := range ranges {
		if r <= x.hi {
			if r >= x.lo {
				return x.script
			}
			if r < utf8.RuneSelf {
				continue
			}
			return 0
		}
	}
	return 0
}

// Unspaced reports whether a rune is of a script in which a number may follow a word without a
// space.
func Unspaced(r rune) bool {
	const spaced = latin | cyrillic | greek | armenian | georgian
	s := script(r)
	return s != 0 && s&spaced == 0 || s == 0 && r >= utf8.RuneSelf && unicode.IsLetter(r)
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
	var letters [32]int
	for _, r := range sample {
		if s := script(r); s != 0 {
			letters[index(s)]++
		}
	}
	scores := c.scores(sample)
	guesses := make([]guess, len(c.languages))
	for i := range 32 {
		s := uint32(1) << i
		if letters[i] >= foreignRunes || s == latin && letters[i] > 0 {
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

func index(script uint32) int {
	i := 0
	for script > 1 {
		script >>= 1
		i++
	}
	return i
}

// scores counts the different function words of each language in the sample, and adds a little for
// repetition.
func (c *catalogue) scores(sample string) []float64 {
	scores := make([]float64, len(c.languages))
	type seen struct {
		language Class
		word     string
	}
	times := map[seen]int{}
	c.words.scan(sample, func(h Hit) bool {
		k := seen{h.Class, sample[h.Start:h.End]}
		times[k]++
		switch times[k] {
		case 1:
			scores[h.Class]++
		case 2, 3:
			scores[h.Class] += 0.25
		}
		return true
	})
	return scores
}

// pick notes the languages of a script that the text is or may be in.
func (c *catalogue) pick(guesses []guess, script uint32, scores []float64, short bool) {
	var candidates []int
	best := 0.0
	for i, s := range c.scripts {
		if s&script != 0 {
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
