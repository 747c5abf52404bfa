package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/clean"
	"mayfly/render/doc"
)

// Bounds on the hidden text that is kept; all of it is counted.
const (
	maxHidden     = 1000    // pieces
	maxHiddenText = 1 << 16 // bytes
)

// hiddenText collects what a reader does not see.
type hiddenText struct {
	kept   int
	reason string
}

// add takes the text of a node that is hidden.
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

// end closes a hidden element: what is hidden after it is a piece of its own.
func (h *hiddenText) end() { h.reason = "" }

// image notes an image that is hidden: a tracker, if it is remote.
func (h *hiddenText) image(b *builder, n *html.Node) {
	if n.DataAtom != atom.Img {
		return
	}
	if im := b.readImage(n, nil); im.Remote {
		im.Tracker, im.Spacer = true, true
		b.addImage(im)
	}
}

// preheader is the hidden text ahead of the first visible text.
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
