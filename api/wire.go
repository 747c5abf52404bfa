package api

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/mail"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// The JSON of the types: written strictly, as the contract says, and read liberally, as services
// vary.

type wireTime time.Time

func (t wireTime) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format(`"` + TimeFormat + `"`)), nil
}

// Layouts that services are known to use besides RFC 3339. A time without an offset is UTC.
// time.Parse accepts a fraction of any precision even if the layout has none.
var timeLayouts = [...]string{
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
}

func (t *wireTime) UnmarshalJSON(data []byte) error {
	*t = wireTime{}
	var s string
	if json.Unmarshal(data, &s) != nil {
		return nil
	}
	s = strings.TrimSpace(s)
	for _, layout := range timeLayouts {
		if parsed, err := time.Parse(layout, s); err == nil {
			if parsed = parsed.UTC(); parsed.Year() >= 0 && parsed.Year() <= 9999 {
				*t = wireTime(parsed)
			}
			return nil
		}
	}
	return nil
}

// wireInt reads a number in any form: 3, 3.0, "3"; anything else is 0.
type wireInt int

func (n *wireInt) UnmarshalJSON(data []byte) error {
	*n = 0
	s := strings.Trim(string(data), `"`)
	if i, err := strconv.Atoi(s); err == nil {
		*n = wireInt(i)
	} else if f, err := strconv.ParseFloat(s, 64); err == nil && f > -1<<62 && f < 1<<62 {
		*n = wireInt(f)
	}
	return nil
}

// wireStrings reads a list of strings; anything else is none.
type wireStrings []string

func (l *wireStrings) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*[]string)(l)) != nil {
		*l = nil
	}
	return nil
}

// marshal is json.Marshal without HTML escapes, which are up to the encoder of the whole.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// wireID reads an ID, an address or a tag without what could act on a terminal or a header.
type wireID string

func (id *wireID) UnmarshalJSON(data []byte) error {
	var s string
	err := json.Unmarshal(data, &s)
	*id = wireID(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s))
	return err
}

type wireInbox struct {
	ID           wireID   `json:"id"`
	Email        wireID   `json:"email"`
	CreatedAt    wireTime `json:"created_at"`
	ExpiresAt    wireTime `json:"expires_at"`
	TTL          wireInt  `json:"ttl,omitempty"`
	MessageCount *wireInt `json:"message_count,omitempty"`
	Status       string   `json:"status,omitempty"`
	ETag         wireID   `json:"etag,omitempty"`
}

// MarshalJSON writes the fields of the contract, and etag where there is one.
func (i Inbox) MarshalJSON() ([]byte, error) {
	return marshal(wireInbox{wireID(i.ID), wireID(i.Email), wireTime(i.CreatedAt), wireTime(i.ExpiresAt),
		wireInt(i.TTL), (*wireInt)(i.MessageCount), i.Status, wireID(i.ETag)})
}

// UnmarshalJSON reads an inbox liberally and keeps it in Raw.
func (i *Inbox) UnmarshalJSON(data []byte) error {
	var w wireInbox
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*i = Inbox{ID: string(w.ID), Email: string(w.Email), CreatedAt: time.Time(w.CreatedAt), ExpiresAt: time.Time(w.ExpiresAt),
		TTL: int(w.TTL), MessageCount: (*int)(w.MessageCount), Status: w.Status, ETag: string(w.ETag), Raw: bytes.Clone(data)}
	return nil
}

type wireInboxList struct {
	Inboxes    []Inbox     `json:"inboxes"`
	Total      *wireInt    `json:"total"`
	Domains    wireStrings `json:"domains,omitempty"`
	RelayAllow wireStrings `json:"relay_allow,omitempty"`
}

// MarshalJSON writes the list; its inboxes are never null.
func (l InboxList) MarshalJSON() ([]byte, error) {
	return marshal(wireInboxList{orEmpty(l.Inboxes), (*wireInt)(&l.Total), l.Domains, l.RelayAllow})
}

// UnmarshalJSON reads a list liberally and keeps it in Raw.
func (l *InboxList) UnmarshalJSON(data []byte) error {
	var w wireInboxList
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*l = InboxList{Inboxes: orEmpty(w.Inboxes), Total: len(w.Inboxes), Domains: w.Domains, RelayAllow: w.RelayAllow, Raw: bytes.Clone(data), has: w.Inboxes != nil}
	if w.Total != nil {
		l.Total = int(*w.Total)
	}
	return nil
}

type wireSummary struct {
	ID         wireID   `json:"id"`
	From       string   `json:"from"`
	FromName   string   `json:"from_name,omitempty"`
	Subject    string   `json:"subject"`
	ReceivedAt wireTime `json:"received_at"`
	Size       wireInt  `json:"size"`
}

// MarshalJSON writes the fields of the contract, and from_name where there is one.
func (s Summary) MarshalJSON() ([]byte, error) {
	return marshal(wireSummary{wireID(s.ID), s.From, s.FromName, s.Subject, wireTime(s.ReceivedAt), wireInt(s.Size)})
}

// UnmarshalJSON reads a summary liberally and keeps it in Raw.
func (s *Summary) UnmarshalJSON(data []byte) error {
	var w wireSummary
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*s = Summary{ID: string(w.ID), Subject: w.Subject, ReceivedAt: time.Time(w.ReceivedAt), Size: int64(w.Size), Raw: bytes.Clone(data)}
	s.FromName, s.From = splitFrom(w.FromName, w.From)
	return nil
}

type wireList struct {
	Messages []Summary `json:"messages"`
	Total    *wireInt  `json:"total"`
}

// MarshalJSON writes the list; its messages are never null.
func (l List) MarshalJSON() ([]byte, error) {
	return marshal(wireList{orEmpty(l.Messages), (*wireInt)(&l.Total)})
}

// UnmarshalJSON reads a list liberally and keeps it in Raw.
func (l *List) UnmarshalJSON(data []byte) error {
	var w wireList
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*l = List{Messages: orEmpty(w.Messages), Total: len(w.Messages), Raw: bytes.Clone(data)}
	if w.Total != nil {
		l.Total = int(*w.Total)
	}
	return nil
}

type wireMessage struct {
	ID          wireID       `json:"id"`
	From        string       `json:"from"`
	FromName    string       `json:"from_name,omitempty"`
	To          string       `json:"to"`
	Subject     string       `json:"subject"`
	Text        string       `json:"text"`
	HTML        string       `json:"html"`
	ReceivedAt  wireTime     `json:"received_at"`
	Attachments []Attachment `json:"attachments"`
}

// MarshalJSON writes the fields of the contract, and from_name where there is one.
func (m Message) MarshalJSON() ([]byte, error) {
	return marshal(wireMessage{wireID(m.ID), m.From, m.FromName, m.To, m.Subject, m.Text, m.HTML, wireTime(m.ReceivedAt), orEmpty(m.Attachments)})
}

// UnmarshalJSON reads a message liberally and keeps it in Raw.
func (m *Message) UnmarshalJSON(data []byte) error {
	var w wireMessage
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*m = Message{ID: string(w.ID), To: w.To, Subject: w.Subject, Text: w.Text, HTML: w.HTML, ReceivedAt: time.Time(w.ReceivedAt),
		Attachments: orEmpty(w.Attachments), Raw: bytes.Clone(data)}
	m.FromName, m.From = splitFrom(w.FromName, w.From)
	return nil
}

type wireAttachment struct {
	ID          string  `json:"id"`
	Filename    string  `json:"filename"`
	ContentType string  `json:"content_type"`
	Size        wireInt `json:"size"`
	ContentID   string  `json:"content_id"`
	Inline      bool    `json:"inline"`
}

// MarshalJSON writes id, filename, content_type, size, content_id and inline.
func (a Attachment) MarshalJSON() ([]byte, error) {
	return marshal(wireAttachment{a.ID, a.Filename, a.ContentType, wireInt(a.Size), a.ContentID, a.Inline})
}

// UnmarshalJSON reads an attachment with any of the field names that services are likely to use,
// ignores what it does not understand, and keeps it all in Raw. A string is taken as the file name,
// so that a message can be read whatever its attachments look like.
func (a *Attachment) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		fields = map[string]json.RawMessage{"filename": data}
	}
	text := func(names ...string) (s string) {
		for _, name := range names {
			if json.Unmarshal(fields[name], &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	var id wireID
	_ = id.UnmarshalJSON(fields["id"]) // without one it is ""
	*a = Attachment{
		ID:          string(id),
		Filename:    text("filename", "name"),
		ContentType: text("content_type", "contentType", "mime_type"),
		ContentID:   strings.Trim(text("content_id", "contentId", "cid"), "<>"),
		URL:         text("url"),
		Content:     fromBase64(text("content", "data")),
		Raw:         bytes.Clone(data),
	}
	var size wireInt
	_ = size.UnmarshalJSON(fields["size"]) // it never fails
	a.Size = cmp.Or(max(0, int64(size)), int64(len(a.Content)))
	a.Inline = string(fields["inline"]) == "true"
	return nil
}

var standardBase64 = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "", "\t", "", " ", "")

// fromBase64 accepts the standard and the URL alphabet, with or without padding and line breaks;
// nil for anything else.
func fromBase64(s string) []byte {
	content, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(standardBase64.Replace(s), "="))
	if err != nil || s == "" {
		return nil
	}
	return content
}

// splitFrom takes `Name <address>` apart; a bare address stays as it is.
func splitFrom(name, from string) (string, string) {
	from = strings.TrimSpace(from)
	if !strings.HasSuffix(from, ">") {
		return name, from
	}
	if a, err := mail.ParseAddress(from); err == nil {
		return cmp.Or(name, a.Name), a.Address
	}
	// mail.ParseAddress refuses it, for example for an unquoted comma in the name.
	open := strings.LastIndexByte(from, '<')
	if open < 0 {
		return name, from
	}
	return cmp.Or(name, strings.Trim(strings.TrimSpace(from[:open]), `"`)), strings.TrimSpace(from[open+1 : len(from)-1])
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
