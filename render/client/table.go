// Package client finds what mail clients do not support of an HTML body. The facts are those of caniemail, in a
// table that is parsed at first use.
package client

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/cascadia"

	"mayfly/assets"
)

// Default are the clients that are looked at unless the user names others.
var Default = []string{"outlook", "gmail", "apple-mail", "yahoo", "samsung-email"}

// Unsupported is a mail client on one platform that does not support a feature, or only in part.
type Unsupported struct {
	Client  string `json:"client"`  // such as outlook-windows, of which outlook is the family
	Version string `json:"version"` // the newest one that was tested, or when
	Support string `json:"support"` // no or partly
	Note    string `json:"-"`       // what is missing, where support is partial; may be empty
}

// among returns the index of the first name that is the client's or that of its family, -1 if none is.
func among(client string, names []string) int {
	return slices.IndexFunc(names, func(name string) bool { return client == name || strings.HasPrefix(client, name+"-") })
}

// Rule is a feature, or a part of one, that some clients do not support, and how it is found.
type Rule struct {
	Title  string
	Effect string // what happens without it; may be empty
	Layout bool   // the layout breaks without it

	n        int                      // in the table
	selector func() cascadia.Selector // of elements that can have it; nil for all
	pattern  func() *regexp.Regexp    // of values, selectors or at-rules; nil for all that change something
	gaps     [][]string
}

// table is the parsed table.
type table struct {
	data      string               // its version
	names     []string             // of families and clients
	clients   map[string][2]string // by ID: family and platform in words
	platforms map[string]int       // of each family in words
	rules     map[string][]*Rule   // by <element, [attribute, property, * for all properties, @ for selectors and at-rules
	media     *Rule                // @media as a whole
}

var parsed = sync.OnceValue(func() *table {
	t := &table{clients: map[string][2]string{}, platforms: map[string]int{}, rules: map[string][]*Rule{}}
	var r *Rule
	for n, line := range slices.Collect(strings.Lines(assets.Clients)) {
		switch c := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); c[0] {
		case "data":
			t.data = c[1]
		case "names":
			t.names = c[1:]
		case "client":
			t.clients[c[1]] = [2]string{c[2], c[3]}
			t.platforms[c[2]]++
		case "no", "partly":
			r.gaps = append(r.gaps, c)
		case "layout", "style":
			r = &Rule{n: n, Title: c[4], Effect: c[5], Layout: c[0] == "layout"}
			if c[2] != "" {
				r.pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?is)" + c[2]) })
			}
			if c[3] != "" {
				r.selector = sync.OnceValue(func() cascadia.Selector { return cascadia.MustCompile(c[3]) })
			}
			if r.Layout && r.Title == "@media" {
				t.media = r
			}
			for name := range strings.SplitSeq(c[1], ",") {
				t.rules[name] = append(t.rules[name], r)
			}
		}
	}
	return t
})

// Data says which data the table is made of: its date and its version.
func Data() string { return parsed().data }

// Names are the families of clients, and the clients.
func Names() []string { return parsed().names }

// missing returns the clients among names that do not support a rule, and then those that do in part.
func (r *Rule) missing(names []string) (gaps []Unsupported) {
	for _, row := range r.gaps {
		for one := range strings.FieldsSeq(row[2]) {
			if id, version, _ := strings.Cut(one, "="); among(id, names) >= 0 {
				gaps = append(gaps, Unsupported{id, version, row[0], row[1]})
			}
		}
	}
	slices.SortStableFunc(gaps, func(a, b Unsupported) int {
		return cmp.Or(cmp.Compare(a.Support, b.Support), among(a.Client, names)-among(b.Client, names))
	})
	return gaps
}

// Families names the clients with a support: a family alone if all of it is meant, else as in "Outlook for Windows/iOS".
func Families(gaps []Unsupported, support string) string {
	platforms := map[string][]string{}
	var list []string
	for _, g := range gaps {
		if c := parsed().clients[g.Client]; g.Support == support {
			if platforms[c[0]] == nil {
				list = append(list, c[0])
			}
			platforms[c[0]] = append(platforms[c[0]], c[1])
		}
	}
	for i, family := range list {
		if on := platforms[family]; len(on) < parsed().platforms[family] {
			list[i] += " for " + strings.Join(on, "/")
		}
	}
	return strings.Join(list, ", ")
}
