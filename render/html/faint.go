package html

import (
	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// markFaint notes the colour of most of the text, and makes secondary what is fainter. Small print
// counts less: the footer of a short message is longer than its body.
func (b *builder) markFaint() {
	count := map[doc.Color]int{}
	strengths := map[doc.Color]float32{}
	most := 0
	for leaf := range b.doc.Leaves() {
		for _, s := range leaf.Spans {
			if s.Link > 0 || s.Image > 0 || s.Style.Background.Set {
				continue
			}
			c, n := s.Style.Color, len(s.Text)
			if s.Style.Size <= 12 {
				n /= 4
			}
			strengths[c] = max(strengths[c], b.strength(leaf, c))
			if count[c] += n; count[c] > most {
				most, b.doc.Color = count[c], c
			}
		}
	}
	limit := min(faintBelow, strengths[b.doc.Color]-.1)
	for leaf := range b.doc.Leaves() {
		for i := range leaf.Spans {
			s := &leaf.Spans[i].Style
			if leaf.Kind != doc.Heading && !s.Bold && !s.Background.Set && s.Color.Grey() {
				if strength := b.strength(leaf, s.Color); strength > unseen && strength < limit {
					s.Role = doc.Secondary
				}
			}
		}
	}
}

// faintBelow is the strength below which a grey is faint: that of a contrast of 4.5:1 on white.
const faintBelow = .535

// unseen is the strength up to which text cannot be read on what is behind it: an image must be.
const unseen = .1

// luma returns how bright a colour looks, 0 to 1.
func luma(c doc.Color) float32 { return (float32(c.R)*2 + float32(c.G)*5 + float32(c.B)) / (8 * 255) }

// strength returns how far the colour of text in a leaf is from what is behind it: 0 is invisible, 1
// is black or white. Where the background is that of the message, that is the page or a white
// sheet on it.
func (b *builder) strength(leaf *doc.Block, c doc.Color) float32 {
	on := func(back doc.Color) float32 {
		text, behind := luma(c), luma(back)
		if text > behind {
			return (text - behind) / (1 - behind)
		}
		return (behind - text) / max(behind, .01)
	}
	switch {
	case !c.Set:
		return 1
	case leaf.Background.Set:
		return on(leaf.Background)
	case b.page.Set && luma(b.page) > .3:
		return max(on(b.page), on(css.White))
	case b.page.Set:
		return on(b.page)
	}
	return on(css.White)
}
