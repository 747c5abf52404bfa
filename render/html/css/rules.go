package css

import (
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// Rules are the rules of style sheets whatever they are for: a [Cascade] has only those that apply on a desktop. The
// zero value has none.
type Rules struct {
	Other []Rule // at-rules that have no rules, and rules that elements cannot be tested for

	all   []Rule // one for each selector
	sheet sheet
	found []int32
}

var pseudo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`::?[\w-]+(\([^()]*\))?`) })

// Add reads the text of a style element that begins at an offset.
func (r *Rules) Add(text string, offset int) {
	walk(r.sheet.room(text), Rule{Offset: offset}, 0, func(rule Rule) bool {
		if at := strings.ToLower(rule.Prelude); strings.HasPrefix(at, "@media") || strings.HasPrefix(at, "@supports") {
			return true
		}
		for selector := range Split(rule.Prelude, ",") {
			rule.Prelude = strings.TrimSpace(selector)
			switch {
			case r.sheet.addRule(rule.Prelude, nil), r.sheet.addRule(pseudo().ReplaceAllString(rule.Prelude, ""), nil):
				r.all = append(r.all, rule)
			case len(r.Other) < maxRules:
				r.Other = append(r.Other, rule)
			}
		}
		return false
	})
}

// Match returns the rules that match an element, the weakest first.
func (r *Rules) Match(n *html.Node) (rules []Rule) {
	r.found = r.sheet.match(n, r.found[:0])
	for _, i := range r.found {
		rules = append(rules, r.all[i])
	}
	return rules
}
