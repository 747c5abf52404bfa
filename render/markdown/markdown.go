// Package markdown reads a Markdown body into a document. Goldmark makes HTML of it (CommonMark,
// with the tables, strikethrough, task lists and bare links of GitHub's dialect), which is read
// like any other HTML body: bounded, cleaned, its links checked.
package markdown

import (
	"errors"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/html"
)

// Bounds beyond which a body is shown as text. For what is nested or never closed goldmark takes
// quadratic time, and it adds the missing cells to every row of a table.
const (
	maxSource = 32 << 10  // bytes
	maxHTML   = 512 << 10 // bytes of HTML: a reference can repeat a long URL
	maxDepth  = 12        // quotes within quotes
	maxIndent = 40        // columns of indentation
	maxBars   = 65        // column separators in a line
	maxCells  = 20_000    // cells of all rows, if all were as wide as the widest
	maxMarks  = 200       // brackets and emphasis marks in a line
	maxOpen   = 4_000     // opening brackets
)

// Options say how to read a body.
type Options struct {
	// Plain is for a text/plain body that looks like Markdown: line breaks within a paragraph stay,
	// and what looks like an HTML tag is text.
	Plain bool
}

var (
	declared = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(htmlrenderer.WithUnsafe()))
	plain    = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(htmlrenderer.WithUnsafe(),
		htmlrenderer.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(tagsAsText{}, 0))))
)

// Read reads a Markdown body. It reports false when the body is too large or too deeply nested and
// has to be shown as text.
func Read(body string, o Options) (*doc.Document, bool) {
	if len(body) > maxSource {
		return nil, false
	}
	source := clean.Text(body)
	if !affordable(source) {
		return nil, false
	}
	converter := declared
	if o.Plain {
		converter = plain
	}
	var out bounded
	if err := converter.Convert([]byte(source), &out); err != nil {
		return nil, false
	}
	d := html.Read(out.String())
	return d, len(d.Blocks) > 0 && d.Simplified == ""
}

// bounded keeps at most maxHTML bytes.
type bounded struct{ strings.Builder }

var errTooLong = errors.New("the HTML is too long")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxHTML {
		return 0, errTooLong
	}
	return b.Builder.Write(p)
}

// tagsAsText renders HTML tags as the text they are in a plain text body.
type tagsAsText struct{}

func (tagsAsText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		_, err := w.Write(util.EscapeHTML(n.(*ast.RawHTML).Segments.Value(source)))
		return ast.WalkSkipChildren, err
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := n.(*ast.HTMLBlock)
		text := block.Lines().Value(source)
		if block.HasClosure() {
			text = append(text, block.ClosureLine.Value(source)...)
		}
		_, err := w.WriteString("<p>" + strings.ReplaceAll(string(util.EscapeHTML(text)), "\n", "<br>") + "</p>")
		return ast.WalkContinue, err
	})
}

// affordable reports whether parsing takes bounded time.
func affordable(source string) bool {
	bars, rows := 0, 0
	for line := range strings.SplitSeq(source, "\n") {
		lead := line[:len(line)-len(strings.TrimLeft(line, " \t>-*+0123456789.)"))]
		spaces := strings.Count(lead, " ") + 8*strings.Count(lead, "\t")
		if strings.Count(lead, ">") > maxDepth || spaces > maxIndent || marks(line) > maxMarks {
			return false
		}
		if n := strings.Count(line, "|"); n > 0 {
			bars = max(bars, n)
			rows++
		}
	}
	return bars <= maxBars && bars*rows <= maxCells && strings.Count(source, "[") <= maxOpen
}

func marks(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case '[', '*', '_', '~', '`', '<', '!':
			n++
		}
	}
	return n
}

// signs are patterns that only Markdown has.
var signs = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^#{1,6} \S`),
	regexp.MustCompile(`\[[^\]\n]+\]\((?:https?://|mailto:)[^\s)]+\)`),
	regexp.MustCompile(`\*\*[^\s*][^*\n]*\*\*`),
	regexp.MustCompile("(?m)^(?:```|~~~)"),
	regexp.MustCompile(`(?m)^\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)+\|?\s*$`),
}

// Is reports whether a plain text is Markdown: it has at least two of the signs.
func Is(body string) bool {
	if len(body) > maxSource || !strings.ContainsAny(body, "#*[`|") {
		return false
	}
	n := 0
	for _, sign := range signs {
		if sign.MatchString(body) {
			n++
		}
	}
	return n >= 2
}
