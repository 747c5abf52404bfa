package layout

import "mayfly/render/doc"

// extent measures a block. The cells of tables are measured once.
func (l *layouter) extent(b *doc.Block) extent {
	switch b.Kind {
	case doc.Paragraph, doc.Heading, doc.Pre:
		return l.textExtent(b)
	case doc.Code:
		width := stringWidth(b.Text()) + 8
		return extent{width, width}
	case doc.Rule:
		return extent{1, 1}
	case doc.Table:
		return newGrid(l, b).extent()
	case doc.Cell:
		e, ok := l.extents[b]
		if !ok {
			e = l.widest(b.Children)
			l.extents[b] = e
		}
		return e
	}
	e := l.widest(b.Children)
	indent := 2
	if b.Kind == doc.Section && !b.Hue.Set {
		indent = 4
	}
	if b.Kind == doc.Item {
		indent += stringWidth(b.Marker) + 1
	}
	return extent{e.min + indent, e.max + indent}
}

func (l *layouter) widest(blocks []*doc.Block) extent {
	var e extent
	for _, b := range blocks {
		e.grow(l.extent(b))
	}
	return e
}

// textExtent measures a leaf.
func (l *layouter) textExtent(b *doc.Block) extent {
	var e extent
	beside, continued := l.beside, l.continued
	l.beside, l.measuring = true, true
	l.wrap.reset(1<<20, func(line []piece) { e.max = max(e.max, measure(line)) })
	l.wrap.pre = b.Kind == doc.Pre
	l.fill(b)
	l.wrap.end()
	l.beside, l.continued, l.measuring = beside, continued, false
	if e.max = min(e.max, Measure); b.Kind == doc.Pre {
		return extent{e.max, e.max}
	}
	return extent{min(l.wrap.longest, e.max), e.max}
}
