package check

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/lexicon"
)

// outline is what a screen reader makes of the tags of the source.
type outline struct {
	r        *report
	tables   []int // where open ones are; said for one that is said to be for layout or has headers
	bare     []int // where the tables are that are not said to be for layout, and have no headers
	heading  int   // level of the last heading
	directed bool  // an attribute says that text is from right to left
}

const (
	said      = -1
	maxTables = 512 // open at a time
)

func (o *outline) start(name atom.Atom, attrs map[string]string, begins int) {
	dir := strings.ToLower(attrs["dir"])
	o.directed = o.directed || dir == "rtl" || dir == "auto"
	switch name {
	case atom.Table:
		if len(o.tables) < maxTables {
			o.tables = append(o.tables, begins)
		}
		if attrs["role"] != "" {
			o.tables[len(o.tables)-1] = said
		}
	case atom.Th, atom.Thead, atom.Caption:
		if n := len(o.tables); n > 0 {
			o.tables[n-1] = said
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level := int(name.String()[1] - '0')
		if o.heading > 0 && level > o.heading+1 {
			o.r.addAt(at(begins), "heading-order", Note, "HTML", "<h%d> follows <h%d>: headings must not skip a level", level, o.heading)
		}
		o.heading = level
	}
}

func (o *outline) end(name atom.Atom) {
	n := len(o.tables) - 1
	if name != atom.Table || n < 0 {
		return
	}
	if at := o.tables[n]; at != said {
		o.bare = append(o.bare, at)
	}
	o.tables = o.tables[:n]
}

func (o *outline) finish(d *doc.Document) {
	for len(o.tables) > 0 {
		o.end(atom.Table)
	}
	if n := len(o.bare); n > 0 {
		found := "A layout table lacks"
		if n > 1 {
			found = strconv.Itoa(n) + " layout tables lack"
		}
		o.r.addAt(at(slices.Min(o.bare)), "table-role", Note, "HTML", `%s role="presentation": screen readers announce rows and columns`, found)
	}
	if d == nil {
		return
	}
	if d.Lang == "" {
		o.r.addAt(textIn("HTML", "<html"), "language-missing", Note, "HTML", "The HTML declares no language: screen readers have to guess it")
	}
	for leaf := range d.Leaves() {
		if text := leaf.Text(); !o.directed && clean.RightToLeft(text) {
			o.r.addAt(textIn("HTML", text), "direction-missing", Warning, "HTML", `Right-to-left text has no dir="rtl": %q`, cut(text))
			return
		}
	}
}

// vague are texts of links that say nothing by themselves, as screen readers list them.
const vague = "|click here|here|click|tap here|this link|link|more|read more|learn more|see more|hier|hier klicken|klicken sie hier|mehr|weiterlesen|ici|cliquez ici" +
	"|en savoir plus|aqui|haga clic aqui|haz clic aqui|clique aqui|leer mas|saiba mais|qui|clicca qui|klik hier|har|klicka har|klik her|klikk her|tasta|tutaj|kliknij tutaj|zde" +
	"|klicknete sem|здесь|нажмите здесь|тут|εδω|buraya tiklayin|انقر هنا|اضغط هنا|הקליקו כאן|לחצו כאן|こちら|点击这里|點擊這裡|여기|ที่นี่|tai day|di sini|klik di sini|"

// legible checks what people with low vision, and those who hear links without the text around them, make of a message.
func legible(in Input, r *report) {
	const least = 14 // px
	d := in.HTML.Doc
	if d == nil {
		return
	}
	for _, f := range d.Faint {
		if strings.ContainsFunc(f.Text, unicode.IsLetter) {
			r.addAt(textIn("HTML", f.Text), "contrast-low", Warning, "HTML", "%q has a contrast of %.1f:1: text needs 4.5:1, large text 3:1", cut(f.Text), math.Floor(10*f.Contrast)/10)
		}
	}
	for leaf := range d.Leaves() {
		small := slices.IndexFunc(leaf.Spans, func(s doc.Span) bool {
			return s.Style.Size < least && !s.Style.Sup && !s.Style.Sub && s.Image == 0 && strings.ContainsFunc(s.Text, unicode.IsLetter)
		})
		if small >= 0 {
			s := leaf.Spans[small]
			r.addAt(textIn("HTML", s.Text), "text-small", Note, "HTML", "%q is set in %.3g px: text under %d px is hard to read on a phone", cut(strings.Join(strings.Fields(s.Text), " ")), s.Style.Size, least)
		}
	}
	for i := range d.Links {
		if l := &d.Links[i]; strings.Contains(vague, "|"+strings.TrimSpace(lexicon.Fold(l.Text).Folded)+"|") {
			r.addAt(textIn("HTML", l.URL), "link-vague", Note, "HTML", "The link text %q does not say where it leads", cut(l.Text))
		}
	}
}
