package providers

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"mime"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-message"
	gomail "github.com/emersion/go-message/mail"

	inner "mayfly/internal/mail"
)

// email is a message as the APIs describe it.
type email struct {
	from                 *mail.Address
	to, cc, bcc, replyTo []*mail.Address
	subject, text, html  string
	fields               [][2]string // of the header, name and value
	attachments          []attachment
	raw                  []byte // the whole message instead; then to are its recipients
}

// size returns the bytes of a message's bodies and files.
func (e *email) size() int {
	n := len(e.text) + len(e.html)
	for _, a := range e.attachments {
		n += len(a.content)
	}
	return n
}

// attachment is a file. One with a content ID is shown where the HTML has it.
type attachment struct {
	name, contentType, contentID string
	content                      []byte
}

// Bounds of all addresses, and of the rest of the header, in bytes.
const maxAddresses, maxHeader = 64 << 10, 64 << 10

// addresses parses lists of addresses, each of which may have a name.
func addresses(field string, lists ...string) (all []*mail.Address, err error) {
	for _, list := range lists {
		if strings.TrimSpace(list) == "" {
			continue
		}
		parsed, err := gomail.ParseAddressList(list)
		if err != nil {
			return nil, invalid("Invalid %s: %.100q is no address", field, list)
		}
		all = append(all, parsed...)
	}
	return all, nil
}

// address sets the addresses of a message, from strings that each have one or more.
func (e *email) address(from string, to, cc, bcc, replyTo []string) error {
	size := len(from)
	for _, list := range slices.Concat(to, cc, bcc, replyTo) {
		size += len(list)
	}
	if size > maxAddresses {
		return invalid("The addresses are longer than %d bytes", maxAddresses)
	}
	senders, err := addresses("from", from)
	if err != nil || len(senders) != 1 {
		return cmp.Or(err, invalid("The field from must be one address"))
	}
	e.from = senders[0]
	for _, field := range []struct {
		name  string
		lists []string
		into  *[]*mail.Address
	}{{"to", to, &e.to}, {"cc", cc, &e.cc}, {"bcc", bcc, &e.bcc}, {"reply-to", replyTo, &e.replyTo}} {
		if *field.into, err = addresses(field.name, field.lists...); err != nil {
			return err
		}
	}
	return nil
}

// fromRaw returns a whole message with the addresses in its header.
func fromRaw(raw []byte) (*email, error) {
	fields := map[string][]string{}
	header, _ := inner.Split(raw)
	for _, line := range header {
		for _, name := range []string{"From", "To", "Cc", "Bcc"} {
			if line.Is(name) {
				fields[name] = append(fields[name], line.Text())
			}
		}
	}
	e := &email{raw: raw}
	return e, e.address(strings.Join(fields["From"], ","), fields["To"], fields["Cc"], fields["Bcc"], nil)
}

// decoded reads a file in base64, whose lines may be broken.
func decoded(name, text string) ([]byte, error) {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, invalid("The content of the attachment %.100q is not base64", name)
	}
	return content, nil
}

// recipients returns the addresses that the message is for, each once.
func (e *email) recipients(limit int) (all []string, err error) {
	for _, a := range slices.Concat(e.to, e.cc, e.bcc) {
		if !slices.Contains(all, a.Address) {
			if len(all) == limit {
				return nil, invalid("A message has at most %d recipients", limit)
			}
			all = append(all, a.Address)
		}
	}
	if len(all) == 0 {
		return nil, invalid("The message has no recipient: the field to is missing")
	}
	return all, nil
}

// part is a part of a message, which may have parts itself.
type part struct {
	header message.Header
	body   []byte
	parts  []part
}

func (p *part) write(create func(message.Header) (*message.Writer, error)) error {
	w, err := create(p.header)
	if err != nil {
		return err
	}
	for i := range p.parts {
		if err := p.parts[i].write(w.CreatePart); err != nil {
			return err
		}
	}
	if p.parts == nil {
		if _, err := w.Write(p.body); err != nil {
			return err
		}
	}
	return w.Close()
}

func textPart(kind, text string) part {
	var h message.Header
	h.SetContentType("text/"+kind, map[string]string{"charset": "utf-8"})
	h.Set("Content-Transfer-Encoding", "quoted-printable")
	return part{header: h, body: []byte(text)}
}

func (a attachment) part() part {
	var h message.Header
	params := map[string]string{}
	if a.name != "" {
		params["filename"] = a.name
	}
	kind, _, err := mime.ParseMediaType(a.contentType)
	if err != nil || strings.HasPrefix(kind, "multipart/") {
		kind = "application/octet-stream"
	}
	h.SetContentType(kind, nil)
	h.Set("Content-Transfer-Encoding", "base64")
	disposition := "attachment"
	if a.contentID != "" {
		disposition = "inline"
		h.SetText("Content-Id", "<"+strings.Trim(a.contentID, "<>")+">")
	}
	h.SetContentDisposition(disposition, params)
	return part{header: h, body: a.content}
}

// group joins parts, unless there is only one.
func group(kind string, parts []part) part {
	if len(parts) == 1 {
		return parts[0]
	}
	var h message.Header
	h.SetContentType("multipart/"+kind, nil)
	return part{header: h, parts: parts}
}

// compose returns the message as MIME.
func (e *email) compose(now time.Time) ([]byte, error) {
	if e.raw != nil {
		return e.raw, nil
	}
	size := len(e.subject)
	for _, field := range e.fields {
		size += len(field[0]) + len(field[1])
	}
	for _, a := range e.attachments {
		size += len(a.name) + len(a.contentID)
	}
	if size > maxHeader {
		return nil, invalid("The header fields and names of files are longer than %d bytes", maxHeader)
	}
	var body, inline, attached []part
	if e.text != "" || e.html == "" {
		body = append(body, textPart("plain", e.text))
	}
	if e.html != "" {
		body = append(body, textPart("html", e.html))
	}
	for _, a := range e.attachments {
		if a.contentID != "" {
			inline = append(inline, a.part())
		} else {
			attached = append(attached, a.part())
		}
	}
	related := group("related", append([]part{group("alternative", body)}, inline...))
	root := group("mixed", append([]part{related}, attached...))

	h := gomail.Header{Header: root.header.Copy()}
	for _, field := range slices.Backward(e.fields) {
		name := strings.ToLower(field[0])
		if name == "" || strings.HasPrefix(name, "content-") || name == "mime-version" {
			return nil, invalid("The header field %.100q cannot be set", field[0])
		}
		h.SetText(field[0], field[1])
	}
	h.SetSubject(e.subject)
	for _, list := range []struct {
		name      string
		addresses []*mail.Address
	}{{"Reply-To", e.replyTo}, {"Cc", e.cc}, {"To", e.to}, {"From", []*mail.Address{e.from}}} {
		if len(list.addresses) > 0 {
			h.SetAddressList(list.name, list.addresses)
		}
	}
	if !h.Has("Date") {
		h.SetDate(now)
	}
	if !h.Has("Message-Id") {
		if err := h.GenerateMessageIDWithHostname("mayfly.invalid"); err != nil {
			return nil, err
		}
	}
	root.header = h.Header
	var b bytes.Buffer
	err := root.write(func(h message.Header) (*message.Writer, error) { return message.CreateWriter(&b, h) })
	if err != nil {
		return nil, invalid("The message cannot be written: %v", err)
	}
	return b.Bytes(), nil
}
