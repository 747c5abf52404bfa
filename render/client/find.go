package client

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/html"

	body "mayfly/render/html"
	"mayfly/render/html/css"
)

// Use is a feature that a body uses and clients do not support.
type Use struct {
	*Rule
	Gaps   []Unsupported // those without support first
	Places int           // elements, or rules where these are about none
	Offset int           // of the first of them in the source, in bytes
	last   *html.Node
	always bool // also outside of @media
}

// Find returns what the clients with these names, or of these families, do not support of an HTML body whose lines
// end with a newline, what has most places first. It finds less in a body that is large beyond measure.
func Find(source string, names []string) []*Use {
	root, err := body.Parse(marked(source))
	if err != nil {
		return nil
	}
	f := &finder{source: source, rules: parsed().rules, uses: map[*Rule]*Use{}, known: map[[2]string][]*Rule{}, applied: map[[2]string]declaration{}}
	for n := range root.Descendants() {
		if at, _ := f.attributes(n); at >= 0 && n.Data == "style" && n.FirstChild != nil {
			f.sheets.Add(n.FirstChild.Data, at+strings.IndexByte(source[at:], '>')+1)
		}
	}
	for n := range root.Descendants() {
		f.element(n)
	}
	for _, rule := range f.sheets.Other {
		f.prelude(rule, nil)
	}
	var uses []*Use
	media := parsed().media.missing(names)
	for r, u := range f.uses {
		u.Gaps = slices.DeleteFunc(r.missing(names), func(g Unsupported) bool { // for a client that ignores @media, nothing in it is lost
			return !u.always && slices.ContainsFunc(media, func(m Unsupported) bool { return m.Client == g.Client && m.Support == "no" })
		})
		if len(u.Gaps) > 0 {
			u.Offset = min(u.Offset, len(source)) // a sheet with NUL is longer in the tree
			uses = append(uses, u)
		}
	}
	slices.SortFunc(uses, func(a, b *Use) int { return cmp.Or(b.Places-a.Places, a.n-b.n) })
	return uses
}

// mark is the attribute that says where in the source a tag begins.
const mark = "mayfly-at"

// Bounds on what is looked at.
const (
	maxTags  = 40_000
	maxWork  = 3_000_000 // bytes that are searched for patterns; a declaration applied is 8
	maxValue = 8 << 10   // bytes of a value
)

var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[a-zA-Z][^\s/>]*`) })

// marked returns the source with that attribute in its tags, and what looks like one.
func marked(source string) string {
	var b strings.Builder
	done := 0
	for _, at := range tag().FindAllStringIndex(source, maxTags) {
		b.WriteString(source[done:at[1]] + " " + mark + "=" + strconv.Itoa(at[0]) + " ")
		done = at[1]
	}
	return b.String() + source[done:]
}

// finder finds what the rules of the table are about.
type finder struct {
	source  string
	rules   map[string][]*Rule
	sheets  css.Rules
	uses    map[*Rule]*Use
	work    int
	known   map[[2]string][]*Rule     // by name and text
	applied map[[2]string]declaration // to the current element, by the at-rules around and property
}

type declaration struct {
	value     string
	important bool
	offset    int
}

// attributes cuts long ones, and returns where the tag begins, -1 if the parser made it, and its style.
func (f *finder) attributes(n *html.Node) (at int, style string) {
	at = -1
	for i := range n.Attr {
		a := &n.Attr[i]
		a.Val = a.Val[:min(len(a.Val), maxValue)]
		if a.Key == "style" {
			style = a.Val
		} else if v, err := strconv.ParseUint(a.Val, 10, 31); a.Key == mark && at < 0 && err == nil && int(v) < len(f.source) {
			at = int(v)
		}
	}
	return at, style
}

// element finds the rules that an element is about.
func (f *finder) element(n *html.Node) {
	at, style := f.attributes(n)
	if at < 0 {
		return
	}
	f.count(f.rules["<"+n.Data], n, at, "")
	for _, a := range n.Attr {
		f.count(f.rules["["+a.Key], n, at, "")
	}
	clear(f.applied)
	for _, rule := range f.sheets.Match(n) {
		f.prelude(rule, n)
		f.apply(rule.Around, rule.Block, rule.Offset)
	}
	f.apply("", style, at)
	for p, d := range f.applied {
		f.count(f.about(p[1], d.value), n, d.offset, p[0])
		f.count(f.about("*", d.value), n, d.offset, p[0])
	}
}

// prelude finds what a rule of a style sheet is about, but for its declarations.
func (f *finder) prelude(rule css.Rule, n *html.Node) {
	f.count(f.about("@", rule.Prelude), n, rule.Offset, rule.Around)
	f.count(f.about("@", rule.Around), n, rule.Offset, "")
}

// apply applies declarations to the current element, over those before.
func (f *finder) apply(around, block string, offset int) {
	for one := range css.Split(block, ";") {
		if f.work += 8; f.work > maxWork {
			return
		}
		name, value, _ := strings.Cut(one, ":")
		_, bang, _ := strings.Cut(value, "!")
		p := [2]string{around, strings.ToLower(strings.TrimSpace(name))}
		d := declaration{strings.TrimSpace(value), strings.EqualFold(strings.TrimSpace(bang), "important"), offset}
		if before, ok := f.applied[p]; !ok || d.important || !before.important {
			f.applied[p] = d
		}
	}
}

// about returns the rules of a name whose pattern is in a text.
func (f *finder) about(name, text string) []*Rule {
	text = text[:min(len(text), maxValue)]
	key := [2]string{name, text}
	found, known := f.known[key]
	if known || text == "" {
		return found
	}
	for _, r := range f.rules[name] {
		if f.work += len(text); f.work < maxWork && (r.pattern == nil && !idle().MatchString(text) || r.pattern != nil && r.pattern().MatchString(text)) {
			found = append(found, r)
		}
	}
	f.known[key] = found
	return found
}

// idle matches the values that change nothing.
var idle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^((0|0px|0%|none|normal|auto|visible|inherit|initial|unset|revert|100%)(\s+|$|\s*!.*$))+$`)
})

// count counts a place, within at-rules, for each of the rules that are about an element, once for each.
func (f *finder) count(rules []*Rule, n *html.Node, offset int, around string) {
	for _, r := range rules {
		u := f.uses[r]
		counted := u != nil && u.last == n && n != nil
		if counted && u.always || n != nil && r.selector != nil && !r.selector().Match(n) {
			continue
		}
		if u == nil {
			u = &Use{Rule: r, Offset: offset}
			f.uses[r] = u
		}
		u.always = u.always || !strings.Contains(around, "@media")
		if !counted {
			u.Places, u.last, u.Offset = u.Places+1, n, min(u.Offset, offset)
		}
	}
}
