package layout

import (
	"strings"
	"unicode"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// leaf lays out running text.
func (l *layouter) leaf(b *doc.Block, width int) {
	l.rtl = b.RTL
	align := l.alignment(b, width)
	edge, widest := min(width, l.drawn()), 0
	l.wrap.reset(width, func(line []piece) {
		widest = max(widest, measure(line))
		l.put(l.aligned(line, align, edge), offset(line))
	})
	if l.lead != "" {
		l.wrap.text(l.lead, l.ink.dim(), 0)
		l.lead = ""
	}
	l.fill(b)
	l.wrap.end()
	stroke := ""
	switch {
	case b.Figure:
		stroke = "▔"
	case l.titled && isTitle(b):
		stroke = "━"
	}
	if stroke != "" && widest > 0 {
		line := text1(repeat(stroke, widest), widest, pen{fg: l.pen(b, &b.Spans[0]).fg})
		if l.under = l.aligned([]piece{line}, align, edge); !l.ruled {
			l.put(l.under, len(b.Text()))
			l.under = nil
		}
	}
	l.rtl = false
}

func (l *layouter) preformatted(b *doc.Block) {
	l.wrap.reset(l.room(), l.emit)
	l.wrap.pre, l.wrap.base = true, int32(b.Offset)
	l.fill(b)
	l.wrap.end()
}

// framed draws a box around a short text, such as a one-time code.
func (l *layouter) framed(b *doc.Block, edge, value pen) {
	text := b.Text()
	width := stringWidth(text)
	if width+8 > l.room() {
		l.leaf(b, l.room())
		return
	}
	l.rtl = b.RTL
	defer func() { l.rtl = false }()
	emit := func(line ...piece) { l.emit(l.aligned(line, b.Align, l.drawn())) }
	inner := width + 6
	bar := func(left, right string) {
		emit(text1(left+repeat("─", inner)+right, inner+2, edge))
	}
	bar("╭", "╮")
	emit(text1("│", 1, edge), spaces(3), text1(text, width, value), spaces(3), text1("│", 1, edge))
	bar("╰", "╯")
}

func (l *layouter) rule(b *doc.Block) {
	room := l.drawn()
	width := room
	if b.Width != (doc.Width{}) {
		width = min(max(l.cells(b.Width.Px), int(b.Width.Percent/100*float32(room)), leastRule), room)
	}
	l.rtl = b.RTL
	line := l.aligned([]piece{text1(repeat("─", width), width, l.ink.dim())}, b.Align, room)
	l.rtl = false
	if n := len(l.under); n > 0 { // the line under a title is part of it
		left := measure(l.under) - l.under[n-1].width
		line = []piece{text1(repeat("─", left), left, l.ink.dim()), l.under[n-1]}
		if right := room - left - l.under[n-1].width; width == room {
			line = append(line, text1(repeat("─", right), right, l.ink.dim()))
		} else {
			line = l.under
		}
		l.under = nil
	}
	l.emit(line)
}

// leastRule is the width from which a line is seen as one.
const leastRule = 4

func (l *layouter) list(b *doc.Block) {
	widest := 0
	for _, item := range b.Children {
		widest = max(widest, stringWidth(item.Marker))
	}
	for _, item := range b.Children {
		if item.Gap {
			l.gap = true
		}
		if item.Kind != doc.Item {
			l.within(spaces(2), spaces(2), func() { l.block(item) })
			continue
		}
		l.item(item, widest)
	}
}

func (l *layouter) item(b *doc.Block, widest int) {
	if b.Marker == "" {
		l.blocks(b.Children)
		return
	}
	if leaf := b.First(); leaf != nil && leaf.RTL {
		l.lead = b.Marker + " " // goes to the right end of the line, where the text begins
		l.blocks(b.Children)
		l.lead = ""
		return
	}
	lead := 2
	if l.room() < 40 || l.indent > 0 {
		lead = 0
	}
	width := stringWidth(b.Marker)
	pad := lead + max(widest-width, 0)
	marker := text1(repeat(" ", pad)+b.Marker+" ", pad+width+1, l.ink.dim())
	if b.Role != doc.Own {
		marker.pen = l.ink.role(b.Role)
	}
	flush := l.flush
	l.flush = true
	l.within(marker, spaces(marker.width), func() { l.blocks(b.Children) })
	l.flush = flush
}

// Bounds on what is shown of a folded part.
const (
	foldQuote  = 12 // lines of a quote that is shown in full
	keepQuote  = 4
	foldFooter = 2
	keepFooter = 3 // of its first paragraph, or none
	maxMute    = 8 // more lines if they say nothing, as a dash or a rule
)

func (l *layouter) quote(b *doc.Block, bar string, p pen) {
	from := len(l.w.lines)
	l.barred(b, bar, p)
	if outermost := b.Children[0].Quoted <= 1; outermost || len(l.w.lines)-from > 10*foldQuote {
		l.fold(from, foldQuote, keepQuote, "more quoted lines", text1(bar+" ", 2, p), doc.Start)
	}
}

func (l *layouter) footer(b *doc.Block) {
	align, rtl := doc.Start, false
	if leaf := b.First(); leaf != nil {
		align, rtl = l.alignment(leaf, l.room()), leaf.RTL
	}
	l.dimmed(func() {
		l.writeDue()
		from := len(l.w.lines)
		l.blocks(b.Children)
		if b == l.doc.Blocks[len(l.doc.Blocks)-1] {
			l.imagesTo(everywhere, 0)
		}
		l.rtl = rtl
		l.fold(from, foldFooter, l.firstUnit(from), "more lines", piece{}, align)
		l.rtl = false
	})
}

// firstUnit returns how many lines the paragraph or row has that begins at line from, 0 if they are
// more than are kept of a footer.
func (l *layouter) firstUnit(from int) int {
	for n := 1; n <= keepFooter && from+n < len(l.w.lines); n++ {
		if a, b := &l.w.lines[from+n-1], &l.w.lines[from+n]; a.Block != b.Block || empty(b.Plain) {
			return n
		}
	}
	return 0
}

// fold cuts what was written since a line to its first lines, and says how much was left out.
func (l *layouter) fold(from, limit, keep int, what string, bar piece, align doc.Align) {
	if l.opts.Unfold || l.w.filled(from) <= limit {
		return
	}
	for last := keep + maxMute; keep < last && from+keep < len(l.w.lines)-1 && !wordy(l.w.lines[from+keep-1].Plain); {
		keep++
	}
	left := l.w.cut(from, from+keep)
	text := "… " + itoa(left) + " " + what
	if left == 1 {
		text = "… 1 more line"
	}
	l.gap = false
	room := l.room() - bar.width
	if stringWidth(text) > room {
		text = "…"
	}
	line := l.aligned([]piece{text1(text, stringWidth(text), l.ink.dim())}, align, min(room, l.drawn()))
	if bar.width > 0 && room > 0 {
		line = append([]piece{bar}, line...)
	}
	l.emit(line)
	l.gap = true
}

// wordy reports whether a line has more than a sign or the number of a note.
func wordy(s string) bool {
	return stringWidth(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)) > 2
}

// hiddenBefore shows the hidden text before a leaf.
func (l *layouter) hiddenBefore(order int) {
	for ; l.hidden < len(l.doc.Hidden) && l.doc.Hidden[l.hidden].Before <= order; l.hidden++ {
		h := l.doc.Hidden[l.hidden]
		gap := l.gap
		l.gap = l.w.any()
		dim := l.ink.dim()
		l.wrap.reset(l.room(), l.emit)
		l.wrap.text("hidden ("+h.Reason+"): ", l.ink.role(doc.Warning), 0)
		l.wrap.text(h.Text, dim, 0)
		l.wrap.end()
		l.gap = gap || l.w.any()
	}
}

// linkList lists the targets of the links, each once.
func (l *layouter) linkList() {
	if len(l.doc.Links) == 0 {
		return
	}
	l.gap = l.w.any()
	widest := len(itoa(len(l.doc.Links)))
	for i := range l.doc.Links {
		link := &l.doc.Links[i]
		n := itoa(link.N)
		marker := text1(repeat(" ", widest-len(n))+n+"  ", widest+2, l.ink.dim())
		l.within(marker, spaces(marker.width), func() {
			l.wrap.reset(l.room(), l.emit)
			l.wrap.text(strings.ReplaceAll(clean.Line(link.Target), " ", "%20"), pen{attrs: underline}, link.N)
			if link.Via != "" {
				l.wrap.text(" via "+link.Via, l.ink.dim(), 0)
			}
			if link.Blocked {
				l.wrap.text(" blocked: not a web or mail address", l.ink.role(doc.Warning), 0)
			}
			if link.Warning != "" {
				l.wrap.text(" "+link.Warning, l.ink.role(doc.Warning), 0)
			}
			l.wrap.end()
		})
	}
}
