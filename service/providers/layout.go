package providers

import (
	"cmp"
	"net/mail"
	"slices"
	"strings"
)

// layout says where the JSON of a provider has what makes up a message, by paths such as Content.Simple.Subject.Data.
type layout struct {
	from, to, cc, bcc, replyTo, subject, text, html, headers string
	tags                                                     map[string]string // paths, by the header field that each becomes
	metadata                                                 string            // an object, whose members become X-PM-Metadata-… fields
	refused                                                  []string          // what the provider does and this service does not

	attachments                          string
	name, content, kind, id, disposition string // within an attachment
}

// at returns what is at a path, or nil. In a list, it is that of the first element that has it.
func at(v any, path string) any {
	name, rest, more := strings.Cut(path, ".")
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			if found := at(element, path); used(found) {
				return found
			}
		}
	case map[string]any:
		if more {
			return at(v[name], rest)
		}
		return v[name]
	}
	return nil
}

// used reports whether a value asks for something.
func used(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return v != nil && v != "" && v != false && v != 0.0
}

// reader reads values of JSON, which may be missing, and notes the first that is of another type.
type reader struct {
	in  any
	err error
}

func (r *reader) wrong(path string) {
	if r.err == nil {
		r.err = invalid("The field %q has a value of a wrong type", path)
	}
}

func (r *reader) text(path string) string {
	v := at(r.in, path)
	s, ok := v.(string)
	if v != nil && !ok {
		r.wrong(path)
	}
	return s
}

func (r *reader) list(path string) []any {
	v := at(r.in, path)
	l, ok := v.([]any)
	if v != nil && !ok {
		r.wrong(path)
	}
	return l
}

// texts returns a list of strings, a single one of which stands for a list. An address may be an object with a name, and
// so may be what has a name and a value.
func (r *reader) texts(path string) (texts []string) {
	v := at(r.in, path)
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	for _, element := range list {
		e := reader{in: element}
		switch element := element.(type) {
		case string:
			texts = append(texts, element)
		case map[string]any:
			name, address := e.either("name"), e.text("email")
			switch {
			case address == "":
				address = name + "=" + e.either("value")
			case name != "":
				address = strings.TrimSuffix((&mail.Address{Name: name}).String(), "<@>") + "<" + address + ">"
			}
			texts = append(texts, address)
		default:
			r.wrong(path)
		}
		r.err = cmp.Or(r.err, e.err)
	}
	return texts
}

// either returns a string whose name may begin in upper case.
func (r *reader) either(name string) string {
	return cmp.Or(r.text(name), r.text(strings.ToUpper(name[:1])+name[1:]))
}

// pairs returns the names and values of an object, in the order of the names, or of a list of such pairs.
func (r *reader) pairs(path string) (pairs [][2]string) {
	switch v := at(r.in, path).(type) {
	case nil:
	case map[string]any:
		for name, value := range v {
			s, ok := value.(string)
			if !ok {
				r.wrong(path)
			}
			pairs = append(pairs, [2]string{name, s})
		}
		slices.SortFunc(pairs, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	case []any:
		for _, element := range v {
			e := reader{in: element}
			pairs = append(pairs, [2]string{e.either("name"), e.either("value")})
			r.err = cmp.Or(r.err, e.err)
		}
	default:
		r.wrong(path)
	}
	return pairs
}

// read returns the message that JSON describes.
func (l layout) read(in any) (*email, error) {
	for _, path := range l.refused {
		if used(at(in, path)) {
			return nil, unsupported(path)
		}
	}
	r := &reader{in: in}
	e := &email{subject: r.text(l.subject), text: r.text(l.text), html: r.text(l.html), fields: r.pairs(l.headers)}
	for field, path := range l.tags {
		for _, tag := range r.texts(path) {
			e.fields = append(e.fields, [2]string{field, tag})
		}
	}
	for _, m := range r.pairs(l.metadata) {
		e.fields = append(e.fields, [2]string{"X-PM-Metadata-" + m[0], m[1]})
	}
	for _, file := range r.list(l.attachments) {
		f := reader{in: file}
		a := attachment{name: f.text(l.name), contentType: f.text(l.kind), contentID: strings.TrimPrefix(f.text(l.id), "cid:")}
		if strings.EqualFold(f.text(l.disposition), "attachment") {
			a.contentID = ""
		}
		var err error
		if a.content, err = decoded(a.name, f.text(l.content)); err != nil {
			return nil, err
		}
		e.attachments = append(e.attachments, a)
		r.err = cmp.Or(r.err, f.err)
	}
	err := e.address(strings.Join(r.texts(l.from), ","), r.texts(l.to), r.texts(l.cc), r.texts(l.bcc), r.texts(l.replyTo))
	return e, cmp.Or(r.err, err)
}
