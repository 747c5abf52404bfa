// Package client finds what mail clients do not support of an HTML body. The facts are those of caniemail, in a
// table that is parsed at first use.
package client

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/cascadia"

	"mayfly/assets"
)

// Default are the clients that are looked at unless the user names others.
var Default = []string{"outlook", "gmail", "apple-mail", "yahoo", "samsung-email"}

// Client is a mail client on one platform.
type Client struct {
	ID     string // such as outlook-windows, of which outlook is the family
	Family string // its name, such as Outlook
	On     string // such as "for Windows"
}

// Gap is a client that does not support a feature, or only in part.
type Gap struct {
	*Client
	Version string // the newest one that was tested, or when
	Partial bool
	Lost    bool   // what was found does not work there at all, though of the feature other parts may
	Note    string // of the data; may be empty
}

// Rule is a feature, or a part of one, and how it is found.
type Rule struct {
	Slug, Title string // of the feature
	Words       string // what happens without it; may be empty
	Layout      bool   // the layout breaks without it

	exact    bool // what is found is what the notes are about
	gaps     string
	notes    map[string]string
	selector func() cascadia.SelectorGroup // of elements that can have it; nil for all
	pattern  func() *regexp.Regexp         // of their values, or of selectors or at-rules; nil for any
}

// table is the parsed table.
type table struct {
	version  string
	clients  map[string]*Client // by code
	ids      []string
	rules    int
	elements []*Rule            // found by their selector alone
	declared map[string][]*Rule // by property; "*" for any
	selected []*Rule            // by selectors of style sheets
	at       []*Rule            // by at-rules
	media    *Rule              // @media
}

var parsed = sync.OnceValue(func() *table {
	t := &table{clients: map[string]*Client{}, declared: map[string][]*Rule{}}
	var feature Rule
	for line := range strings.Lines(assets.Clients) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		name, rest, _ := strings.Cut(cells[0], " ")
		switch {
		case name == "#":
		case name == "data":
			t.version = rest
		case name == "client":
			t.clients[rest] = &Client{cells[1], cells[2], cells[3]}
			t.ids = append(t.ids, cells[1])
		case name == "=":
			feature = Rule{Slug: rest, Title: cells[1], notes: map[string]string{}}
		case len(cells) == 2:
			feature.notes[name] = cells[1]
		default:
			t.add(feature, cells)
		}
	}
	return t
})

// add adds a rule: its gravity, elements, what is looked for, words and gaps.
func (t *table) add(r Rule, cells []string) {
	r.Layout, r.exact, r.Words, r.gaps = strings.HasPrefix(cells[0], "L"), strings.HasSuffix(cells[0], "!"), cells[3], cells[4]
	if cells[1] != "" {
		r.selector = sync.OnceValue(func() cascadia.SelectorGroup {
			group, _ := cascadia.ParseGroup(cells[1]) // a test parses all
			return group
		})
	}
	what := cells[2]
	pattern := func(s string) {
		r.pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)" + s) })
	}
	t.rules++
	switch {
	case what == "":
		t.elements = append(t.elements, &r)
	case what[0] == '&':
		pattern(what[1:])
		t.selected = append(t.selected, &r)
	case what[0] == '@':
		pattern(what)
		t.at = append(t.at, &r)
		if r.Slug == "css-at-media" && !r.exact {
			t.media = &r
		}
	default:
		names, value, limited := strings.Cut(what, ": ")
		if limited {
			pattern(value)
		}
		for name := range strings.SplitSeq(names, ",") {
			t.declared[name] = append(t.declared[name], &r)
		}
	}
}

// Data says which data the checks are made of.
func Data() string { return parsed().version }

// Names are the families of clients, and the clients.
func Names() []string {
	var families []string
	for _, id := range parsed().ids {
		families = append(families, id[:strings.LastIndexByte(id, '-')])
	}
	return append(slices.Compact(families), parsed().ids...)
}

// among returns the index of the first name that is the client's or that of its family, -1 if none is.
func (c *Client) among(names []string) int {
	return slices.IndexFunc(names, func(name string) bool { return c.ID == name || strings.HasPrefix(c.ID, name+"-") })
}

// Families names the clients that have gaps: a family as a whole if all of it among names has them, else as in
// "Outlook for Windows/iOS", or "Outlook (3 of 5)".
func Families(gaps []Gap, names []string) []string {
	all, have := map[string]int{}, map[string]int{}
	for _, c := range parsed().clients {
		if c.among(names) >= 0 {
			all[c.Family]++
		}
	}
	for _, g := range gaps {
		have[g.Family]++
	}
	var list []string
	for _, g := range gaps {
		switch last := len(list) - 1; {
		case last >= 0 && list[last] == g.Family:
		case have[g.Family] == all[g.Family]:
			list = append(list, g.Family)
		case have[g.Family] > 2:
			if few := fmt.Sprintf("%s (%d of %d)", g.Family, have[g.Family], all[g.Family]); last < 0 || list[last] != few {
				list = append(list, few)
			}
		case last >= 0 && strings.HasPrefix(list[last], g.Family+" "):
			list[last] += "/" + strings.TrimPrefix(strings.TrimPrefix(g.On, "for "), "on the ")
		default:
			list = append(list, g.Family+" "+g.On)
		}
	}
	return list
}

// parseGaps yields the clients in an entry of the table: CODE=VERSION#NOTE, or ~ for = if support is partial.
func (t *table) parseGaps(r *Rule) []Gap {
	var gaps []Gap
	for one := range strings.FieldsSeq(r.gaps) {
		numbers := strings.Split(one, "#")
		g := Gap{Client: t.clients[one[:2]], Partial: one[2] == '~', Lost: r.exact || one[2] == '=', Version: numbers[0][3:]}
		for i, n := range numbers[1:] {
			numbers[i] = r.notes[n]
		}
		g.Note = strings.Join(numbers[:len(numbers)-1], " ")
		gaps = append(gaps, g)
	}
	return gaps
}
