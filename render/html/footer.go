package html

import (
	"strings"

	"mayfly/render/doc"
)

// foldFooter moves the secondary text at the end of a message (who sent it and why, the address,
// how to unsubscribe) into a footer.
func foldFooter(d *doc.Document, body float32, page doc.Color) []*doc.Block {
	blocks := d.Blocks
	at, evidence := len(blocks), false
	total, taken := 0, 0
	for _, l := range blocks {
		total += len(l.Text())
	}
	grey := mostlyFaint(d, body, page)
	// ruled: there is a rule with footer text below it. What is above that is footer only if it is
	// footer text.
	// doubt: there may be an image of a button below. It is footer only if footer text is above it.
	ruled, doubt := false, false
	for i := len(blocks) - 1; i > 0; i-- {
		l := blocks[i]
		strong := footerText(d, l)
		if l.Kind == doc.Rule {
			ruled = ruled || evidence
		} else if !strong && (ruled || !secondary(l, body, page, grey)) {
			break
		}
		taken += len(l.Text())
		if taken*10 > total*7 {
			break
		}
		if doubt = !strong && (doubt || pictorial(d, l)); doubt {
			continue
		}
		at, evidence = i, evidence || strong
	}
	for at < len(blocks) && (blocks[at].Kind == doc.Rule || blocks[at-1].Kind == doc.Heading && !footerText(d, blocks[at])) {
		at++ // what is below a heading belongs to it
	}
	if !evidence || at >= len(blocks) {
		return blocks
	}
	footer := &doc.Block{Kind: doc.Footer, Gap: true, Children: append([]*doc.Block(nil), blocks[at:]...)}
	footer.Children[0].Gap = false
	for l := range (&doc.Document{Blocks: footer.Children}).Leaves() {
		l.InFooter = true
	}
	return append(trimRules(blocks[:at]), footer)
}

// secondary reports whether a block is smaller or fainter than the body and has no button. In a
// message that is mostly grey, faint text means nothing.
func secondary(l *doc.Block, body float32, page doc.Color, grey bool) bool {
	for leaf := range (&doc.Document{Blocks: []*doc.Block{l}}).Leaves() {
		for _, s := range leaf.Spans {
			if strings.TrimSpace(s.Text) == "" || s.Image > 0 {
				continue
			}
			small := s.Style.Size < body && s.Style.Size <= 13
			if s.Button || s.Style.Bold && !small || s.Style.Size > body*1.2 || !small && (grey || !faintOn(leaf, s.Style.Color, page)) {
				return false
			}
		}
	}
	return true
}

// mostlyFaint reports whether most of the text at least as large as the body is faint.
func mostlyFaint(d *doc.Document, body float32, page doc.Color) bool {
	pale, all := 0, 0
	for leaf := range d.Leaves() {
		for _, s := range leaf.Spans {
			if s.Style.Size < body || s.Link > 0 {
				continue
			}
			if all += len(s.Text); faintOn(leaf, s.Style.Color, page) {
				pale += len(s.Text)
			}
		}
	}
	return pale*2 > all
}

// faintOn reports whether a colour is faint behind a leaf: on the page, or on a white sheet on top
// of it.
func faintOn(leaf *doc.Block, c, page doc.Color) bool {
	if leaf.Background.Set {
		return faint(c, leaf.Background)
	}
	return faint(c, page) && faint(c, white)
}

// maxIcon is the width and height in px up to which an image is an icon, such as those of social
// networks.
const maxIcon = 64

// pictorial reports whether a block is nothing but an image larger than an icon: a banner, or an
// image of a button.
func pictorial(d *doc.Document, l *doc.Block) bool {
	found := false
	for leaf := range (&doc.Document{Blocks: []*doc.Block{l}}).Leaves() {
		for _, s := range leaf.Spans {
			switch {
			case strings.TrimSpace(s.Text) == "":
			case found || s.Image == 0:
				return false
			default:
				im := &d.Images[s.Image-1]
				if found = im.Width == 0 || im.Width > maxIcon; !found {
					return false
				}
			}
		}
	}
	return found
}

// faint reports whether c is a grey of low contrast with back.
func faint(c, back doc.Color) bool {
	if !back.Set {
		back = white
	}
	lo, hi := min(c.R, c.G, c.B), max(c.R, c.G, c.B)
	grey := func(c doc.Color) int { return (int(c.R)*2 + int(c.G)*5 + int(c.B)) / 8 }
	distance := grey(c) - grey(back)
	return c.Set && hi-lo < 40 && max(distance, -distance) <= 0x88
}

// footerMarks are parts of URLs typical of footers, in any language.
var footerMarks = []string{"unsub", "optout", "opt-out", "opt_out", "preferences", "privacy", "manage-subscription",
	"email-settings", "notification-settings", "list-manage"}

// footerWords are texts typical of footers.
var footerWords = []string{"©", "(c) 20", "&copy", "unsubscribe", "all rights reserved", "privacy policy", "you are receiving this",
	"you're receiving this", "you received this", "this email was sent to", "abmelden", "abbestellen", "désabonner",
	"désinscrire", "darse de baja", "cancelar suscripci", "cancelar a inscri", "disiscriv", "annulla l'iscrizione", "uitschrijven",
	"avsluta prenumeration", "avmeld", "frameld", "wypisz", "отписаться", "odhlásit", "leiratkoz", "配信停止", "退订", "수신거부", "إلغاء الاشتراك"}

func footerText(d *doc.Document, l *doc.Block) bool {
	text := l.Text()
	if len(text) > 1500 {
		return false
	}
	lower := strings.ToLower(text)
	for _, w := range footerWords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	for leaf := range (&doc.Document{Blocks: []*doc.Block{l}}).Leaves() {
		for _, s := range leaf.Spans {
			if s.Link == 0 || s.Button {
				continue
			}
			url := strings.ToLower(d.Links[s.Link-1].URL)
			for _, m := range footerMarks {
				if strings.Contains(url, m) {
					return true
				}
			}
		}
	}
	return false
}
