package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// Bounds on the hidden text that is kept. All of it is counted.
const (
	maxHidden     = 1000    // pieces
	maxHiddenText = 1 << 16 // bytes
)

// hiddenText collects the text that a reader does not see.
type hiddenText struct {
	kept   int
	reason string
}

// add adds the text of a hidden node.
func (h *hiddenText) add(b *builder, s, reason string) {
	if empty(s) {
		return
	}
	b.doc.HiddenBytes += len(strings.TrimSpace(s))
	if h.kept+len(s) > maxHiddenText || len(b.doc.Hidden) >= maxHidden {
		return
	}
	h.kept += len(s)
	s = strings.Join(strings.Fields(clean.Text(s)), " ")
	if s == "" {
		return
	}
	if n := len(b.doc.Hidden); n > 0 {
		if last := &b.doc.Hidden[n-1]; h.reason == reason && last.Before == b.order+1 {
			last.Text += " " + s
			return
		}
	}
	h.reason = reason
	b.doc.Hidden = append(b.doc.Hidden, doc.Hidden{Text: s, Reason: reason, Before: b.order + 1})
}

// end closes a hidden element. Hidden text after it is a separate piece.
func (h *hiddenText) end() { h.reason = "" }

// image notes a hidden image: if it is remote, it is a tracker.
func (h *hiddenText) image(b *builder, n *html.Node) {
	if n.DataAtom != atom.Img {
		return
	}
	if im := b.readImage(n, nil); im.Remote {
		im.Tracker, im.Spacer = true, true
		b.addImage(im)
	}
}

// preheader returns the hidden text before the first visible text.
func preheader(d *doc.Document) string {
	for _, h := range d.Hidden {
		if h.Before > 1 {
			break
		}
		if text := strings.Trim(h.Text, " \u00a0\u2800."); text != "" {
			return text
		}
	}
	return ""
}
