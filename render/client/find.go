package client

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	body "mayfly/render/html"
	"mayfly/render/html/css"
)

// Use is a feature that a body uses and clients do not support.
type Use struct {
	*Rule
	Gaps   []Gap // in the order of the names of clients
	Places int   // elements, or rules where these are about none
	Offset int   // of the first of them in the source, in bytes
}

// Grave reports whether the layout breaks in one of the clients.
func (u *Use) Grave() bool { return u.Layout && slices.ContainsFunc(u.Gaps, lost) }

func lost(g Gap) bool { return g.Lost }

// Find returns what the clients with these names, or of these families, do not support of an HTML body, the gravest
// first. It finds less in a body that is large beyond measure.
func Find(source string, names []string) []Use {
	root, err := body.Parse(mark(source))
	if err != nil {
		return nil
	}
	f := &finder{table: parsed(), source: source, uses: map[*Rule]*use{}, inline: map[string][]css.Declaration{},
		about: map[*css.Declaration][]*Rule{}, selectors: map[string][]*Rule{}, around: map[string][]*Rule{}, winners: map[string]winner{}}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Style && n.Type == html.ElementNode {
			f.sheet(n)
		}
	}
	f.where = 0
	for n := range root.Descendants() {
		f.visit(n)
	}
	var uses []Use
	for r, u := range f.uses {
		gaps := f.gaps(r, u.where, names)
		same := slices.IndexFunc(uses, func(o Use) bool { return o.Slug == r.Slug && o.Words == r.Words && o.Layout == r.Layout })
		switch {
		case len(gaps) == 0:
		case same < 0:
			uses = append(uses, Use{r, gaps, u.places, u.offset})
		default:
			o := &uses[same]
			o.Gaps, o.Places, o.Offset = append(o.Gaps, gaps...), max(o.Places, u.places), min(o.Offset, u.offset)
		}
	}
	for _, u := range uses {
		slices.SortFunc(u.Gaps, func(a, b Gap) int { return cmp.Or(a.among(names)-b.among(names), cmp.Compare(a.ID, b.ID)) })
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(rank(b)-rank(a), b.Places-a.Places, cmp.Compare(a.Title, b.Title), cmp.Compare(a.Words, b.Words))
	})
	return uses
}

// rank is how grave a use is, from 0.
func rank(u Use) (n int) {
	if u.Layout {
		n = 2
	}
	if slices.ContainsFunc(u.Gaps, lost) {
		n++
	}
	return n
}

// maxWork bounds the bytes that are searched for patterns and the declarations applied.
const maxWork = 4_000_000

// finder finds the rules that a tree is about.
type finder struct {
	*table
	source string
	rules  css.Rules
	uses   map[*Rule]*use
	work   int
	where  where // of the current node

	inline    map[string][]css.Declaration // by style attribute
	about     map[*css.Declaration][]*Rule // what each declaration is about, and so on
	selectors map[string][]*Rule
	around    map[string][]*Rule
	winners   map[string]winner // of the current element, by property
}

// where says which clients see something.
type where uint8

const (
	inMedia where = 1 << iota // in @media
	notMSO                    // in a conditional comment that is not for Outlook on Windows
)

// use is where a rule was found.
type use struct {
	places, offset int
	last           *html.Node // that was counted
	where          where      // all of its places are there
}

// winner is a declaration that applies to an element.
type winner struct {
	*css.Declaration
	offset int
	where  where
}

// at names the attribute that has the place of a tag in the source, and the end of it.
const at = "mayfly-at"

// maxTags is how many tags get that attribute: a tree has no more.
const maxTags = 40_000

// mark returns the source with that attribute in every tag.
func mark(source string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	begins, written := 0, 0
	for tags := 0; tags < maxTags; {
		token := z.Next()
		ends := begins + len(z.Raw())
		switch token {
		case html.ErrorToken:
			tags = maxTags
		case html.StartTagToken, html.SelfClosingTagToken:
			tags++
			cut := begins + strings.IndexAny(source[begins:ends], " \t\n\r\f/>") // the name may have a NUL
			fmt.Fprintf(&b, `%s %s="%d %d"`, source[written:cut], at, begins, ends)
			if strings.EqualFold(source[begins:cut], "<noscript") {
				z.NextIsNotRawText()
			}
			written = cut
		}
		begins = ends
	}
	return b.String() + source[written:]
}

// span returns where the tag of an element is, which is not in the source if ends is 0.
func span(n *html.Node) (begins, ends int) {
	for _, a := range n.Attr {
		if a.Key == at {
			from, to, _ := strings.Cut(a.Val, " ")
			begins, _ = strconv.Atoi(from)
			ends, _ = strconv.Atoi(to)
			break
		}
	}
	return begins, ends
}

// comment follows the conditional comments.
func (f *finder) comment(n *html.Node) {
	switch data := strings.ToLower(n.Data); {
	case n.Type != html.CommentNode:
	case strings.Contains(data, "!mso"):
		f.where = notMSO
	case strings.Contains(data, "[endif]"):
		f.where = 0
	}
}

// sheet reads a style element from the source, and finds the at-rules that are about no elements.
func (f *finder) sheet(n *html.Node) {
	_, ends := span(n)
	if ends == 0 || ends > len(f.source) {
		return
	}
	text := f.source[ends:]
	for i := 0; ; i += 2 {
		next := strings.Index(text[i:], "</")
		if next < 0 {
			break
		}
		if i += next; len(text) >= i+7 && strings.EqualFold(text[i:i+7], "</style") {
			text = text[:i]
			break
		}
	}
	before := len(f.rules.All)
	f.rules.Add(text)
	for i := before; i < len(f.rules.All); i++ {
		rule := &f.rules.All[i]
		rule.Offset += ends
		last := rule.Around[strings.LastIndex(rule.Around, " @")+1:]
		switch {
		case rule.Unmatched:
			f.count(f.matching(f.selectors, rule.Selector, f.selected), nil, rule.Offset, 0)
		case rule.Selector == "" && !strings.HasPrefix(last, "@media") && !strings.HasPrefix(last, "@supports"):
			f.count(f.matching(f.around, last, f.at), nil, rule.Offset, 0)
		}
	}
}

// visit finds the rules that an element is about.
func (f *finder) visit(n *html.Node) {
	if f.comment(n); n.Type != html.ElementNode {
		return
	}
	begins, ends := span(n)
	if ends == 0 {
		return // not in the source
	}
	f.count(f.elements, n, begins, f.where)
	clear(f.winners)
	var applied [][]css.Declaration
	var places []winner
	for rule := range f.rules.Match(n) {
		if f.work += len(rule.Declarations); f.work > maxWork {
			break
		}
		w := f.where
		if strings.Contains(rule.Around, "@media") {
			w |= inMedia
		}
		f.count(f.matching(f.selectors, rule.Selector, f.selected), n, rule.Offset, w)
		f.count(f.matching(f.around, rule.Around, f.at), n, rule.Offset, w)
		if rule.Around == "" {
			applied, places = append(applied, rule.Declarations), append(places, winner{nil, rule.Offset, w})
			continue
		}
		for i := range rule.Declarations {
			f.declaration(n, winner{&rule.Declarations[i], rule.Offset, w})
		}
	}
	if style := attribute(n, "style"); style != "" {
		decls, known := f.inline[style]
		if !known {
			decls = css.Declarations(style)
			f.inline[style] = decls
		}
		applied, places = append(applied, decls), append(places, winner{nil, begins, f.where})
	}
	for _, important := range [...]bool{false, true} {
		for i, decls := range applied {
			for j := range decls {
				if d := &decls[j]; d.Important == important {
					places[i].Declaration = d
					f.winners[d.Name] = places[i]
				}
			}
		}
	}
	for _, w := range f.winners {
		f.declaration(n, w)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// declaration finds the rules that a declaration for an element is about.
func (f *finder) declaration(n *html.Node, w winner) {
	rules, known := f.about[w.Declaration]
	if !known {
		for _, r := range append(f.declared[w.Name], f.declared["*"]...) {
			if r.pattern == nil && !idle(w.Value) || r.pattern != nil && f.matches(r, w.Value) {
				rules = append(rules, r)
			}
		}
		f.about[w.Declaration] = rules
	}
	f.count(rules, n, w.offset, w.where)
}

// idle reports whether a value changes nothing.
func idle(value string) bool {
	value, _, _ = strings.Cut(strings.ToLower(value), "!")
	for word := range strings.FieldsSeq(value) {
		if !slices.Contains([]string{"0", "0px", "0%", "none", "normal", "auto", "visible", "inherit", "initial", "unset", "revert", "100%"}, word) {
			return false
		}
	}
	return true
}

// matching returns the rules whose pattern is in a text, and keeps them.
func (f *finder) matching(kept map[string][]*Rule, text string, rules []*Rule) []*Rule {
	found, known := kept[text]
	if !known && text != "" {
		for _, r := range rules {
			if f.matches(r, text) {
				found = append(found, r)
			}
		}
		kept[text] = found
	}
	return found
}

func (f *finder) matches(r *Rule, text string) bool {
	f.work += len(text)
	return f.work < maxWork && r.pattern().MatchString(text)
}

// count counts a place for each of the rules that are about an element, once for each.
func (f *finder) count(rules []*Rule, n *html.Node, offset int, w where) {
	for _, r := range rules {
		u := f.uses[r]
		if u != nil && u.last == n && n != nil || n != nil && r.selector != nil && !r.selector().Match(n) {
			continue
		}
		if u == nil {
			u = &use{offset: offset, where: w}
			f.uses[r] = u
		}
		u.places, u.last, u.where, u.offset = u.places+1, n, u.where&w, min(u.offset, offset)
	}
}

// gaps returns the clients among names that do not support a rule, but for those that do not see where it is used.
func (f *finder) gaps(r *Rule, w where, names []string) []Gap {
	blind := map[*Client]bool{}
	if w&inMedia != 0 && r.Slug != "css-at-media" {
		for _, g := range f.parseGaps(f.media) {
			blind[g.Client] = g.Lost
		}
	}
	return slices.DeleteFunc(f.parseGaps(r), func(g Gap) bool {
		return g.among(names) < 0 || blind[g.Client] || w&notMSO != 0 && g.ID == "outlook-windows"
	})
}
