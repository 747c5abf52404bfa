package render

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strings"

	"mayfly/internal/mail"
	"mayfly/render/doc"
	"mayfly/render/image"
)

// maxSized is how many images are inspected to count those that can be drawn.
const maxSized = 100

// CountImages returns how many images can be drawn, from parts of the message or data: URLs, and
// how many more refer to parts whose content is missing.
func (m *Mail) CountImages() (present, missing int) { return m.imageCount() }

func (m *Mail) countImages() (present, missing int) {
	for i, sized := 0, 0; i < len(m.body.Images) && sized < maxSized; i++ {
		im := &m.body.Images[i]
		data, ok := m.embedded(im)
		if !ok {
			continue
		}
		if data == nil {
			missing++
			continue
		}
		sized++
		w, h, err := image.Config(data)
		if err == nil && image.Shown(w, h, im.Width, im.Height) {
			present++
		}
	}
	return present, missing
}

// embedded reads an image that is part of the message (RFC 2392, RFC 2397). data is nil if the
// content of the part is missing.
func (m *Mail) embedded(im *doc.Image) (data io.Reader, ok bool) {
	if im.Spacer || im.Tracker {
		return nil, false
	}
	if data, ok := image.FromURL(im.Src); ok {
		return data, true
	}
	scheme, id, _ := strings.Cut(im.Src, ":")
	if !strings.EqualFold(scheme, "cid") {
		return nil, false
	}
	if plain, err := url.PathUnescape(id); err == nil {
		id = plain
	}
	at := slices.IndexFunc(m.msg.Attachments, func(a mail.Attachment) bool { return a.ContentID != "" && a.ContentID == id })
	if at < 0 || m.msg.Attachments[at].Content == nil {
		return nil, at >= 0
	}
	return bytes.NewReader(m.msg.Attachments[at].Content), true
}

// decoded are the images decoded so far.
type decoded struct {
	budget image.Budget
	bySrc  map[string]*image.Image // nil if it cannot be drawn
}

// image decodes image n of the body; nil if it cannot be drawn. The caller holds the lock.
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
		p = nil // its alternative text is shown
	}
	m.images.bySrc[im.Src] = p
	return p
}

// ForgetImages frees the memory of the decoded images. They are decoded again when they are shown
// again.
func (m *Mail) ForgetImages() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.images = decoded{}
	m.cache = slices.DeleteFunc(m.cache, func(c cached) bool { return c.opts.Images.Protocol != image.Off })
}
