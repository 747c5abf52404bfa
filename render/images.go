package render

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strings"

	"mayfly/render/doc"
	"mayfly/render/image"
)

// maxSized is how many images of a mail are looked at to count them.
const maxSized = 100

// carried is how many images a mail has to show.
type carried struct{ here, away int }

// CountImages is how many images the mail carries that can be drawn, in its parts or in its URLs, and how many more it
// names whose parts are not at hand.
func (m *Mail) CountImages() (here, away int) {
	c := m.carried()
	return c.here, c.away
}

func (m *Mail) carries() carried {
	var c carried
	for i, sized := 0, 0; i < len(m.body.Images) && sized < maxSized; i++ {
		im := &m.body.Images[i]
		data, ok := m.embedded(im)
		if !ok {
			continue
		}
		if data == nil {
			c.away++
			continue
		}
		sized++
		w, h, err := image.Config(data)
		if err == nil && image.Shown(w, h, im.Width, im.Height) {
			c.here++
		}
	}
	return c
}

// embedded reads an image that the mail itself holds (RFC 2392, RFC 2397); nil when it names a part that is not at hand.
func (m *Mail) embedded(im *doc.Image) (data io.Reader, ok bool) {
	if im.Spacer || im.Tracker {
		return nil, false
	}
	if data, ok := image.FromURL(im.Src); ok {
		return data, true
	}
	if len(im.Src) < len("cid:") || !strings.EqualFold(im.Src[:len("cid:")], "cid:") {
		return nil, false
	}
	id := im.Src[len("cid:"):]
	if plain, err := url.PathUnescape(id); err == nil {
		id = plain
	}
	at := slices.IndexFunc(m.msg.Attachments, func(a Attachment) bool { return a.ContentID != "" && a.ContentID == id })
	if at < 0 {
		return nil, false
	}
	if m.msg.Attachments[at].Content == nil {
		return nil, true
	}
	return bytes.NewReader(m.msg.Attachments[at].Content), true
}

// decoded are the images that were decoded so far.
type decoded struct {
	budget image.Budget
	bySrc  map[string]*image.Image // nil for what cannot be drawn
}

// image decodes image n of the body, nil when there is none to draw. The caller holds the lock.
func (m *Mail) image(n int) *image.Image {
	im := &m.body.Images[n-1]
	if p, ok := m.images.bySrc[im.Src]; ok {
		return p
	}
	data, ok := m.embedded(im)
	if !ok || data == nil {
		return nil
	}
	if m.images.bySrc == nil {
		m.images.bySrc = make(map[string]*image.Image)
	}
	p, err := image.Decode(data, &m.images.budget)
	if err != nil {
		p = nil // its text stands for it
	}
	m.images.bySrc[im.Src] = p
	return p
}

// ForgetImages frees the memory that decoded images take. They are decoded again when they are shown again.
func (m *Mail) ForgetImages() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.images = decoded{}
	m.cache = slices.DeleteFunc(m.cache, func(c cached) bool { return c.opts.Images.Protocol != image.Off })
}
