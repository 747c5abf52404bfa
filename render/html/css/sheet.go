package css

import (
	"cmp"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxSheet bounds the CSS that is read of a message, in bytes.
const maxSheet = 1 << 20

// Bounds on the work that style sheets can cause. Real messages stay far below them.
const (
	maxRules    = 8_000
	maxSelector = 300     // bytes of one selector
	maxSteps    = 8       // compound selectors in one selector
	maxParts    = 8       // classes, attributes and so on in one compound selector
	maxWork     = 400_000 // compound selectors tried and declarations applied in the whole message
	workBytes   = 64      // bytes of attributes or values that count as one more
)

// sheet is the rules in the style elements of a message that apply on a wide screen, indexed by
// what they require of an element.
type sheet struct {
	rules []rule
	index map[key][]int32

	bytes int // CSS read so far
	work  int // done so far: see maxWork
}

// key is what a rule requires of an element: an ID ('#'), a class ('.') or a tag ('<'); 0 if nothing.
type key struct {
	kind byte
	name string
}

type rule struct {
	steps       []step // from the element outwards
	specificity cascadia.Specificity
	decls       []decl
	work        int // of applying them
}

// step is a compound selector and its relation to the one after it (further in): ' ', '>' or '+'.
type step struct {
	compound   cascadia.Sel
	counts     bool // it counts the siblings of an element
	combinator byte
}

// add parses the text of a style element.
func (s *sheet) add(css string) {
	walk(s.room(css), Rule{}, 0, func(r Rule) bool {
		if strings.HasPrefix(r.Prelude, "@") {
			return applies(r.Prelude)
		}
		if decls := parseDecls(r.Block); len(decls) > 0 {
			for selector := range Split(r.Prelude, ",") {
				s.addRule(selector, decls)
			}
		}
		return false
	})
}

// room returns what is read of some CSS, without comments.
func (s *sheet) room(css string) string {
	css = css[:min(len(css), maxSheet-s.bytes)]
	s.bytes += len(css)
	return blankComments(css)
}

// Rule is a rule of a style sheet as it is written.
type Rule struct {
	Prelude string // its selectors, or an at-rule
	Block   string
	Around  string // the at-rules that it is in
	Offset  int
}

// maxNested bounds how deep at-rules are nested.
const maxNested = 4

// walk calls visit for each rule of a sheet, and for those within each at-rule for which it returns true.
func walk(css string, around Rule, depth int, visit func(Rule) bool) {
	for offset := around.Offset; css != "" && depth <= maxNested; {
		prelude, block, rest, ok := cutRule(css)
		if !ok {
			return
		}
		if prelude == "@" {
			prelude = css[:len(css)-len(rest)]
		}
		r := Rule{strings.TrimRight(strings.Trim(prelude, white), ";"), block, around.Around + around.Prelude, offset + len(prelude) - len(strings.TrimLeft(prelude, white))}
		if visit(r) {
			r.Offset = offset + len(prelude) + len("{")
			walk(block, r, depth+1, visit)
		}
		offset += len(css) - len(rest)
		css = rest
	}
}

const white = " \t\n\r\f"

// blankComments returns CSS with spaces in place of comments, and of the HTML comment marks around it in old messages.
func blankComments(css string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(css, "/*")
		b.WriteString(before)
		if !found {
			break
		}
		_, css, _ = strings.Cut(rest, "*/")
		b.WriteString(strings.Repeat(" ", len("/*")+len(rest)-len(css)))
	}
	return strings.NewReplacer("<!--", "    ", "-->", "   ").Replace(b.String())
}

// cutRule cuts off the next rule: what precedes its block, the block, and the rest.
func cutRule(css string) (prelude, block, rest string, ok bool) {
	ends := "{"
	if strings.HasPrefix(strings.TrimLeft(css, white), "@") { // one such as @import has no block
		ends += ";"
	}
	open := find(css, ends)
	if open == len(css) {
		return "", "", "", false
	}
	if css[open] == ';' {
		return "@", "", css[open+1:], true
	}
	depth, i := 1, open+1
	for i < len(css) {
		n := strings.IndexAny(css[i:], "{}")
		if n < 0 {
			break
		}
		i += n
		if css[i] == '{' {
			depth++
		} else {
			depth--
		}
		if depth == 0 {
			return css[:open], css[open+1 : i], css[i+1:], true
		}
		i++
	}
	return css[:open], css[open+1:], "", true
}

// addRule adds a rule for one selector. Selectors that depend on the state of a browser, or on more
// than an element and its ancestors, match nothing.
func (s *sheet) addRule(selector string, decls []decl) bool {
	steps, ok := parseSelector(strings.TrimSpace(selector))
	if !ok || len(s.rules) >= maxRules {
		return false
	}
	r := rule{decls: decls, work: len(decls)}
	for _, d := range decls {
		r.work += len(d.value) / workBytes
	}
	for _, st := range steps {
		r.steps = append(r.steps, st.step)
		r.specificity = r.specificity.Add(st.compound.Specificity())
	}
	n := int32(len(s.rules))
	s.rules = append(s.rules, r)
	if s.index == nil {
		s.index = make(map[key][]int32)
	}
	s.index[steps[0].key] = append(s.index[steps[0].key], n)
	return true
}

type parsedStep struct {
	step
	key key // for the index
}

// parseSelector splits a selector into compound selectors, innermost first.
func parseSelector(s string) ([]parsedStep, bool) {
	if s == "" || len(s) > maxSelector || strings.ContainsAny(s, "~!\\") && !strings.Contains(s, "~=") ||
		strings.Contains(s, "#=") {
		return nil, false
	}
	var steps []parsedStep
	for s != "" {
		if len(steps) == maxSteps {
			return nil, false
		}
		end := find(s, " \t\n\r\f>+~")
		one, ok := parseCompound(s[:end])
		if !ok {
			return nil, false
		}
		s = strings.TrimLeft(s[end:], " \t\n\r\f")
		if one.combinator = ' '; s != "" && (s[0] == '>' || s[0] == '+') {
			one.combinator = s[0]
			if s = strings.TrimLeft(s[1:], " \t\n\r\f"); s == "" {
				return nil, false
			}
		}
		steps = append(steps, one)
	}
	slices.Reverse(steps)
	return steps, true
}

func parseCompound(text string) (parsedStep, bool) {
	plain := unbracketed(text)
	if strings.Count(plain, ".")+strings.Count(plain, ":")+strings.Count(text, "[") > maxParts {
		return parsedStep{}, false
	}
	counts := false
	for pseudo := range strings.SplitSeq(plain, ":") {
		switch {
		case strings.HasPrefix(plain, pseudo):
		case pseudo == "link", pseudo == "root", pseudo == "first-child", pseudo == "last-child":
		case strings.HasPrefix(pseudo, "nth-child("), pseudo == "first-of-type", pseudo == "last-of-type":
			counts = true
		default:
			return parsedStep{}, false
		}
	}
	sel, err := cascadia.Parse(text)
	if err != nil {
		return parsedStep{}, false
	}
	p := parsedStep{step: step{compound: sel, counts: counts}}
	name := func(s string) string {
		if i := strings.IndexAny(s, ".#:["); i >= 0 {
			s = s[:i]
		}
		return s
	}
	if _, id, ok := strings.Cut(plain, "#"); ok {
		p.key = key{'#', name(id)}
	} else if _, class, ok := strings.Cut(plain, "."); ok {
		p.key = key{'.', name(class)}
	} else if tag := strings.ToLower(name(plain)); tag != "" && tag != "*" {
		p.key = key{'<', tag}
	}
	return p, true
}

// unbracketed returns a compound selector without its attribute selectors.
func unbracketed(text string) string {
	for {
		before, rest, found := strings.Cut(text, "[")
		if !found {
			return text
		}
		_, after, _ := strings.Cut(rest, "]")
		text = before + after
	}
}

// match returns the rules for an element, the weakest first.
func (s *sheet) match(n *html.Node, found []int32) []int32 {
	if len(s.rules) == 0 {
		return found
	}
	try := func(kind byte, name string) {
		rules := s.index[key{kind, name}]
		for i := 0; i < len(rules) && s.work < maxWork; i++ {
			if c := rules[i]; s.matches(&s.rules[c], n) {
				found = append(found, c)
				s.work += s.rules[c].work
			}
		}
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			try('#', strings.TrimSpace(a.Val))
		case "class":
			for class := range strings.FieldsSeq(a.Val) {
				try('.', class)
			}
		}
	}
	try('<', n.Data)
	try(0, "")
	if len(found) > 1 {
		slices.SortFunc(found, func(a, b int32) int {
			x, y := s.rules[a].specificity, s.rules[b].specificity
			return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
		})
		found = slices.Compact(found)
	}
	return found
}

// maxCounted bounds the siblings that are counted for an element.
const maxCounted = 100

// weight returns the size of an element's attributes in bytes.
func weight(n *html.Node) (bytes int) {
	for i := range n.Attr {
		bytes += len(n.Attr[i].Val)
	}
	return bytes
}

func crowded(n *html.Node) bool {
	siblings := 1
	for c := n.Parent.FirstChild; c != nil && siblings < maxCounted; c = c.NextSibling {
		siblings++
	}
	return siblings >= maxCounted
}

// matches tries a rule's selector on an element. A descendant step takes the nearest ancestor that
// fits, with the whole chain of child steps: one farther out never leaves more room for the
// remaining steps.
func (s *sheet) matches(r *rule, n *html.Node) bool {
	i, at := s.chain(r, 0, n)
	for i > 0 && i < len(r.steps) {
		next := -1
		for at = at.Parent; at != nil; at = at.Parent {
			if j, outer := s.chain(r, i, at); j > 0 {
				next, at = j, outer
				break
			}
		}
		i = next
	}
	return i > 0
}

// chain matches the steps from i on that are joined by ">" or "+", starting at n. It returns the
// index of the next step, or -1, and the node that the last step matched.
func (s *sheet) chain(r *rule, i int, n *html.Node) (int, *html.Node) {
	for {
		if n == nil || n.Type != html.ElementNode {
			return -1, nil
		}
		s.work += 1 + weight(n)/workBytes
		if r.steps[i].counts && crowded(n) || !r.steps[i].compound.Match(n) {
			return -1, nil
		}
		if i > 0 && n.DataAtom == atom.Input {
			return -1, nil // what a control would fold stays unfolded: nobody can press it
		}
		if i++; i == len(r.steps) {
			return i, n
		}
		switch r.steps[i].combinator {
		case '>':
			n = n.Parent
		case '+':
			for n = n.PrevSibling; n != nil && n.Type != html.ElementNode; n = n.PrevSibling {
			}
		default:
			return i, n
		}
	}
}

// screenWidth is the width in px that media queries see: that of a window on a desktop, in which a message
// is 640 px wide. A window as narrow as the mail would take the rules for phones, which many messages
// have up to 640 px or more and which put columns one below the other.
const screenWidth = 1000

// applies reports whether the rules in an at-rule apply: on a wide screen, in light colours.
// Unknown queries do not.
func applies(prelude string) bool {
	prelude = strings.ToLower(prelude)
	list, ok := strings.CutPrefix(prelude, "@media")
	if !ok {
		return false
	}
	for query := range strings.SplitSeq(list, ",") {
		if matchesScreen(strings.Join(strings.Fields(query), " ")) {
			return true
		}
	}
	return false
}

func matchesScreen(query string) bool {
	for part := range strings.SplitSeq(query, " and ") {
		switch part = strings.TrimSpace(part); part {
		case "screen", "only screen", "all", "only all", "(prefers-color-scheme: light)", "(prefers-color-scheme:light)":
			continue
		}
		feature, bracketed := strings.CutPrefix(part, "(")
		name, value, ok := strings.Cut(strings.TrimSuffix(feature, ")"), ":")
		width, isLength := ParseLength(value)
		if !bracketed || !ok || !isLength {
			return false
		}
		switch px := width.Px(16, screenWidth); strings.TrimSpace(name) {
		case "min-width", "min-device-width":
			if px > screenWidth {
				return false
			}
		case "max-width", "max-device-width":
			if px < screenWidth {
				return false
			}
		default:
			return false
		}
	}
	return true
}
