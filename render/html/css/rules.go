package css

import (
	"iter"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// Rules are the rules of style sheets as they are written, whatever they are for: a [Cascade] has only those that
// apply on a desktop, and only the properties that a terminal shows. The zero value has none.
type Rules struct {
	All   []Rule
	sheet sheet
	index []int // in All, of the rules of sheet
	found []int32
}

// Rule is a rule for one of its selectors, or an at-rule, which has none.
type Rule struct {
	Selector     string
	Around       string // the preludes of the at-rules that it is in, and its own
	Declarations []Declaration
	Offset       int  // of the rule, in the text that was added, in bytes
	Unmatched    bool // elements cannot be tested for its selector
}

// Declaration is a declaration with its value as it is written.
type Declaration struct {
	Name      string // in lower case
	Value     string // with its "!important"
	Important bool
}

// Add reads the text of a style element, within the bounds of [Cascade.Add].
func (r *Rules) Add(text string) {
	s := &r.sheet
	text = text[:min(len(text), maxSheet-s.bytes)]
	s.bytes += len(text)
	r.read(blankComments(text), "", 0, 0)
}

func (r *Rules) read(css, around string, offset, depth int) {
	for css != "" && len(r.All) < maxRules && depth <= maxNested {
		prelude, block, rest, ok := cutRule(css)
		if prelude == "@" {
			prelude, block = css[:len(css)-len(rest)], ""
		}
		rule := Rule{Around: around, Offset: offset + len(prelude) - len(strings.TrimLeft(prelude, white))}
		inside := offset + len(prelude) + 1
		offset += len(css) - len(rest)
		css = rest
		switch prelude = strings.Trim(prelude, white+";}"); {
		case !ok:
			return
		case strings.HasPrefix(prelude, "@"):
			rule.Around = strings.TrimSpace(around + " " + strings.ToLower(strings.Join(strings.Fields(prelude), " ")))
			r.All = append(r.All, rule)
			r.read(block, rule.Around, inside, depth+1)
		default:
			rule.Declarations = Declarations(block)
			for selector := range split(prelude, ",") {
				r.add(rule, strings.TrimSpace(selector))
			}
		}
	}
}

const white = " \t\n\r\f"

// add adds a rule for a selector, which is matched without what a browser knows of a state.
func (r *Rules) add(rule Rule, selector string) {
	rule.Selector = selector
	before := len(r.sheet.rules)
	r.sheet.addRule(stateless(selector), nil)
	if rule.Unmatched = len(r.sheet.rules) == before; !rule.Unmatched {
		r.index = append(r.index, len(r.All))
	}
	r.All = append(r.All, rule)
}

// Match yields the rules that match an element, the weakest first.
func (r *Rules) Match(n *html.Node) iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		r.found = r.sheet.match(n, r.found[:0])
		for _, i := range r.found {
			if !yield(&r.All[r.index[i]]) {
				return
			}
		}
	}
}

// Declarations parses the declarations of a rule or a style attribute.
func Declarations(s string) []Declaration {
	var all []Declaration
	for one := range split(s, ";") {
		if name, value, ok := strings.Cut(one, ":"); ok && len(all) < maxDecls {
			value = strings.TrimSpace(value)
			i := strings.LastIndexByte(value, '!')
			all = append(all, Declaration{strings.ToLower(strings.TrimSpace(name)), value, i >= 0 && strings.EqualFold(strings.TrimSpace(value[i+1:]), "important")})
		}
	}
	return all
}

// stateless returns a selector without the pseudo-classes and pseudo-elements that the rest of the package
// does not match.
func stateless(selector string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(selector, ':')
		if i < 0 || strings.Contains(selector[:i], "[") {
			return b.String() + selector
		}
		b.WriteString(selector[:i])
		name := i + 1
		if strings.HasPrefix(selector[i:], "::") {
			name++
		}
		end := name + find(selector[name:], " >+~.#[,:")
		if _, known := parseCompound("a" + selector[i:end]); known {
			b.WriteString(selector[i:end])
		} else if strings.HasSuffix(strings.TrimRight(b.String(), white), ">") || b.Len() == 0 || strings.HasSuffix(b.String(), " ") {
			b.WriteByte('*')
		}
		selector = selector[end:]
	}
}

var comments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)/\*.*?(?:\*/|$)|<!--|-->`) })

// blankComments returns CSS with spaces in place of comments and of the HTML comment marks around it.
func blankComments(css string) string {
	return comments().ReplaceAllStringFunc(css, func(s string) string { return strings.Repeat(" ", len(s)) })
}
