package providers

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

var mailgun = provider{"Mailgun", func(r *http.Request) string {
	_, key, _ := r.BasicAuth()
	return key
}, func(w http.ResponseWriter, p problem) {
	if p.status == http.StatusUnprocessableEntity {
		p.status = http.StatusBadRequest
	}
	answer(w, p.status, map[string]string{"message": p.message})
}, mailgunRoutes}

var mailgunRoutes = map[string]func(*call) error{
	"POST /v3/{domain}/messages":      func(c *call) error { return mailgunSend(c, false) },
	"POST /v3/{domain}/messages.mime": func(c *call) error { return mailgunSend(c, true) },
}

// mailgunSend sends what a form says, which may be the whole message.
func mailgunSend(c *call, whole bool) error {
	if err := c.r.ParseMultipartForm(c.maxBody()); err != nil && err != http.ErrNotMultipart {
		return tooLarge(err)
	}
	form := c.r.PostForm
	e := &email{subject: form.Get("subject"), text: form.Get("text"), html: form.Get("html")}
	if c.r.MultipartForm != nil {
		for _, field := range []string{"attachment", "inline", "message"} {
			for _, file := range c.r.MultipartForm.File[field] {
				f, err := file.Open()
				if err != nil {
					return err
				}
				content, err := io.ReadAll(f)
				if err != nil {
					return err
				}
				a := attachment{name: file.Filename, contentType: file.Header.Get("Content-Type"), content: content}
				switch field {
				case "message":
					e.raw = content
					continue
				case "inline":
					a.contentID = a.name
				}
				e.attachments = append(e.attachments, a)
			}
		}
	}
	var replyTo []string
	for _, name := range slices.Sorted(maps.Keys(form)) {
		kind, option, _ := strings.Cut(name, ":")
		for _, value := range form[name] {
			switch {
			case strings.EqualFold(name, "h:Reply-To"):
				replyTo = append(replyTo, value)
			case kind == "h":
				e.fields = append(e.fields, [2]string{option, value})
			case kind == "v":
				e.fields = append(e.fields, [2]string{"X-Mailgun-Variables", option + "=" + value})
			case name == "o:tag":
				e.fields = append(e.fields, [2]string{"X-Mailgun-Tag", value})
			case name == "message" && whole:
				e.raw = []byte(value)
			case strings.HasPrefix(name, "o:deliver") || name == "o:time-zone-localize" || name == "o:testmode" || kind == "t" || name == "template" || name == "recipient-variables" || name == "amp-html":
				if value != "" {
					return unsupported(name)
				}
			}
		}
	}
	from := form.Get("from")
	if !whole {
		e.raw = nil
	} else {
		sent, err := fromRaw(e.raw)
		if err != nil {
			return err
		}
		from = sent.from.String()
	}
	if err := e.address(from, form["to"], form["cc"], form["bcc"], replyTo); err != nil {
		return err
	}
	id, err := c.send(e, nil)
	if err == nil {
		answer(c.w, http.StatusOK, map[string]string{"id": "<" + id + "@mayfly.invalid>", "message": "Queued. Thank you."})
	}
	return err
}
