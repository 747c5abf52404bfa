package html

import (
	"strings"

	"mayfly/render/doc"
)

// foldFooter puts the secondary text at the end of a mail (who sent it and why, the address, how to
// unsubscribe) into a footer of its own.
func foldFooter(d *doc.Document, body float32, page doc.Color) []*doc.Block {
	blocks := d.Blocks
	at, evidence := len(blocks), false
	total, taken := 0, 0
	for _, l := range blocks {
		total += len(l.Text())
	}
	grey := mostlyFaint(d, body, page)
	ruled := false // a rule stands above footer text: what is above the rule is footer only if it says so
	doubt := false // what may be a button stands there: it belongs to the footer only if footer text stands above it
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
		at++ // what stands below a heading belongs to it
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

// secondary reports a block set smaller or fainter than the body, with no button in it. In a mail that is grey, faint
// type means nothing.
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

// mostlyFaint reports whether most of the text that has the size of the body, or a larger one, is faint.
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

// faintOn reports a colour that is faint where a leaf stands: on the page, or on the sheet of white that lies on it.
func faintOn(leaf *doc.Block, c, page doc.Color) bool {
	if leaf.Background.Set {
		return faint(c, leaf.Background)
	}
	return faint(c, page) && faint(c, white)
}

// maxIcon is the height and width in px up to which an image is an icon, as those of social networks.
const maxIcon = 64

// pictorial reports a block that is nothing but an image larger than an icon: a banner, or a button made of one.
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

// faint reports a grey that is meant to stand back from what is behind it.
func faint(c, back doc.Color) bool {
	if !back.Set {
		back = white
	}
	lo, hi := min(c.R, c.G, c.B), max(c.R, c.G, c.B)
	grey := func(c doc.Color) int { return (int(c.R)*2 + int(c.G)*5 + int(c.B)) / 8 }
	distance := grey(c) - grey(back)
	return c.Set && hi-lo < 40 && max(distance, -distance) <= 0x88
}

// footerMarks are parts of URLs that lead from the footers of mails, whatever their language.
var footerMarks = []string{"unsub", "optout", "opt-out", "opt_out", "preferences", "privacy", "manage-subscription",
	"email-settings", "notification-settings", "list-manage"}

// footerWords are parts of texts that stand in footers.
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
