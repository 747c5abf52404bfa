package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"mayfly/api"
	"mayfly/internal/mail"
	"mayfly/service"
)

func (s *Server) listMessages(w *response, r *http.Request) error {
	key, id := w.key, r.PathValue("inbox")
	page, err := readPage(r.URL.RawQuery)
	if err != nil {
		return err
	}
	var in service.Inbox
	send, err := s.longPoll(w, r, func() (version uint64, err error) {
		in, err = s.service.Inbox(r.Context(), key, id)
		return in.Version, err
	}, func(ctx context.Context, version uint64) (bool, error) {
		return s.service.WaitMessages(ctx, key, id, version)
	})
	if err != nil || !send {
		return err
	}
	return s.sendMessages(w, r, in, page)
}

// sendMessages sends a list. A long one is read and sent in parts, so that it takes no more memory
// than a short one; messages that arrive meanwhile are newer than all of it and not included.
func (s *Server) sendMessages(w *response, r *http.Request, in service.Inbox, page service.Page) error {
	if body, ok := s.answers.get(listKey(in.ID, in.Version, page)); ok {
		w.Header().Set("Etag", versionTag(in.Version))
		w.send(http.StatusOK, "application/json", body)
		return nil
	}
	part := page
	if part.Limit == 0 {
		part.Limit = maxLimit
	}
	list, err := s.service.Messages(r.Context(), w.key, in.ID, part)
	if err != nil {
		return err
	}
	w.Header().Set("Etag", versionTag(list.Version))
	total, version := list.Total, list.Version
	b := bytes.NewBufferString(`{"messages":[`)
	for {
		if err := writeElements(b, list.Messages, summaryJSON); err != nil {
			return err
		}
		if page.Limit > 0 || len(list.Messages) < part.Limit {
			break
		}
		part.After = list.Messages[len(list.Messages)-1].ID
		if list, err = s.service.Messages(r.Context(), w.key, in.ID, part); err != nil {
			return err
		}
		if len(list.Messages) == 0 {
			break
		}
		b.WriteByte(',')
		if !w.sendPart("application/json", b.Bytes()) {
			return nil
		}
		b.Reset()
	}
	b.WriteString(`],"total":` + strconv.Itoa(total) + "}\n")
	if w.status != 0 {
		w.sendPart("application/json", b.Bytes())
		return nil
	}
	s.answers.put(listKey(in.ID, version, page), b.Bytes())
	w.send(http.StatusOK, "application/json", b.Bytes())
	return nil
}

// listKey returns the cache key of a list, which differs for each version of the inbox.
func listKey(id string, version uint64, p service.Page) string {
	return id + versionTag(version) + strconv.Itoa(p.Limit) + "," + p.After
}

// writeElements writes the elements of a JSON array, directly, as in encode.
func writeElements[T any, J json.Marshaler](b *bytes.Buffer, list []T, object func(T) J) error {
	for i, element := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		j, err := object(element).MarshalJSON()
		if err != nil {
			return err
		}
		b.Write(j)
	}
	return nil
}

func summaryJSON(m service.Summary) api.Summary {
	return api.Summary{ID: m.ID, From: m.From, FromName: m.FromName, Subject: m.Subject, ReceivedAt: m.ReceivedAt, Size: m.Size}
}

// parseCost is how much memory a message takes on its way from the store to the answer, in multiples of
// its size: raw, decoded, converted to UTF-8, and as JSON.
const parseCost = 4

func (s *Server) getMessage(w *response, r *http.Request) error {
	w.Header().Set("Vary", "Accept")
	summary, err := s.service.Summary(r.Context(), w.key, r.PathValue("inbox"), r.PathValue("message"))
	if err != nil {
		return err
	}
	raw := wantsRaw(r.Header["Accept"])
	contentType, etag, cost := "application/json", `"`+summary.ID+`.json"`, parseCost*summary.Size
	if raw {
		contentType, etag, cost = "message/rfc822", `"`+summary.ID+`.eml"`, summary.Size
	}
	if w.unchanged(r, etag) {
		return nil
	}
	body, ok := s.answers.get(etag)
	if !ok {
		release, err := s.reserve(w, r, summary.Size, cost)
		if err != nil {
			return err
		}
		defer release() // once it is sent
		m, err := s.service.Message(r.Context(), w.key, r.PathValue("inbox"), summary.ID)
		if err != nil {
			return err
		}
		if body = m.Raw; !raw {
			if body, err = encode(s.messageJSON(m)); err != nil {
				return err
			}
		}
		s.answers.put(etag, body)
	}
	if raw {
		w.Header().Set("Content-Security-Policy", "sandbox")
	}
	w.send(http.StatusOK, contentType, body)
	return nil
}

func (s *Server) getDelivery(w *response, r *http.Request) error {
	id := r.PathValue("message")
	delivery, err := s.service.Delivery(r.Context(), w.key, r.PathValue("inbox"), id)
	if err == nil && !w.unchanged(r, `"`+id+`.delivery"`) {
		w.send(http.StatusOK, "application/json", delivery)
	}
	return err
}

// listSessions answers with the SMTP sessions that concern the key.
func (s *Server) listSessions(w *response, r *http.Request) error {
	list, err := s.options.Sessions(r.Context(), w.key)
	if err != nil {
		return err
	}
	return w.sendTagged(r, list)
}

// sendTagged sends an object whose entity tag is its hash.
func (w *response) sendTagged(r *http.Request, object any) error {
	body, err := encode(object)
	if sum := sha256.Sum256(body); err == nil && !w.unchanged(r, `"`+hex.EncodeToString(sum[:8])+`"`) {
		w.send(http.StatusOK, "application/json", body)
	}
	return err
}

// deleteMessages deletes the message that the path names, or else all of the inbox.
func (s *Server) deleteMessages(w *response, r *http.Request) error {
	if err := s.service.DeleteMessages(r.Context(), w.key, r.PathValue("inbox"), r.PathValue("message")); err != nil {
		return err
	}
	return w.sendJSON(http.StatusOK, api.Deleted{Deleted: true})
}

func (s *Server) messageJSON(m service.Message) api.Message {
	parsed := s.parse(m)
	answer := api.Message{
		ID:          m.ID,
		From:        m.From,
		FromName:    m.FromName,
		To:          m.To,
		Subject:     m.Subject,
		Text:        parsed.Text,
		HTML:        parsed.HTML,
		ReceivedAt:  m.ReceivedAt,
		Attachments: make([]api.Attachment, len(parsed.Attachments)),
	}
	for i, a := range parsed.Attachments {
		answer.Attachments[i] = api.Attachment{
			ID:          a.ID,
			Filename:    a.Filename,
			ContentType: a.ContentType,
			Size:        int64(a.Size),
			ContentID:   a.ContentID,
			Inline:      a.Inline,
		}
	}
	return answer
}

func (s *Server) getAttachment(w *response, r *http.Request) error {
	summary, err := s.service.Summary(r.Context(), w.key, r.PathValue("inbox"), r.PathValue("message"))
	if err != nil {
		return err
	}
	release, err := s.reserve(w, r, summary.Size, parseCost*summary.Size)
	if err != nil {
		return err
	}
	defer release()
	opened := s.opened.Load()
	if opened == nil || opened.id != summary.ID {
		m, err := s.service.Message(r.Context(), w.key, r.PathValue("inbox"), summary.ID)
		if err != nil {
			return err
		}
		opened = &openedMessage{m.ID, s.parse(m).Attachments}
	}
	i := slices.IndexFunc(opened.attachments, func(a mail.Attachment) bool { return a.ID == r.PathValue("attachment") })
	if i < 0 {
		return service.Errorf(service.NotFound, "No such attachment")
	}
	a := opened.attachments[i]
	if w.unchanged(r, `"`+summary.ID+`.`+a.ID+`"`) {
		return nil
	}
	w.Header().Set("Content-Disposition", disposition(a.Filename))
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.send(http.StatusOK, downloadType(a.ContentType, a.Charset), a.Content)
	return nil
}

// openedFor is how long the attachments of a message are kept.
const openedFor = 10 * time.Second

// openedMessage has the attachments of the message that was parsed last: a client that reads one
// usually asks for the others next.
type openedMessage struct {
	id          string
	attachments []mail.Attachment
}

// parse parses a message and keeps its attachments for a while.
func (s *Server) parse(m service.Message) *mail.Message {
	parsed, id := mail.Parse(m.Raw), m.ID
	if len(parsed.Attachments) > 0 {
		s.opened.Store(&openedMessage{id, parsed.Attachments})
		time.AfterFunc(openedFor, func() {
			if o := s.opened.Load(); o != nil && o.id == id {
				s.opened.CompareAndSwap(o, nil)
			}
		})
	}
	return parsed
}

// Bounds of a cache, in bytes.
const (
	cacheBytes   = 8 << 20
	cachedAnswer = cacheBytes / 16
)

// answerCache keeps the bodies of recent answers. It does not know who may see them: callers check
// that first. It is safe for concurrent use.
type answerCache struct {
	mu     sync.Mutex
	size   int // bytes of all bodies, and about what their bookkeeping takes
	bodies map[string][]byte
}

// get returns a body, which must not be changed.
func (c *answerCache) get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, ok := c.bodies[key]
	return body, ok
}

// put adds a body that is not too large. A full cache begins again.
func (c *answerCache) put(key string, body []byte) {
	if cap(body) > cachedAnswer {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(key) + cap(body) + 200; c.bodies == nil || c.size > cacheBytes {
		c.bodies, c.size = map[string][]byte{}, len(key)+cap(body)+200
	}
	c.bodies[key] = body
}

// maxFilename is the length limit of the file name of a download, in bytes.
const maxFilename = 200

// disposition returns the Content-Disposition (RFC 6266) of a download with the file name that a
// mail gives it, less what could leave the directory of downloads, hide the extension or break the
// field.
func disposition(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.Is(unicode.C, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return -1
		case strings.ContainsRune(`/\:*?"<>|`, r):
			return '_'
		}
		return r
	}, name)
	name = strings.Trim(name, " .")
	for len(name) > maxFilename {
		_, n := utf8.DecodeRuneInString(name)
		name = name[n:]
	}
	if name == "" {
		name = "attachment"
	}
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}

// downloadType returns the media type with which an attachment is sent: the one in the mail, with its charset, if it
// is valid, else that of arbitrary bytes.
func downloadType(contentType, charset string) string {
	var params map[string]string
	if charset != "" {
		params = map[string]string{"charset": charset}
	}
	name, _, err := mime.ParseMediaType(contentType)
	if name = mime.FormatMediaType(name, params); err != nil || !strings.Contains(name, "/") {
		return "application/octet-stream"
	}
	return name
}

// Relay releases messages. Its errors carry a [service.Code].
type Relay interface {
	Release(ctx context.Context, keyID string, to []string, raw []byte) error
	// Allowed returns the addresses, and *@domain as in the contract, that messages can go to.
	Allowed() []string
}

// releaseMessage answers once the relay has taken the message for all recipients.
func (s *Server) releaseMessage(w *response, r *http.Request) error {
	if s.options.Relay == nil {
		w.sendError(http.StatusNotImplemented, "This service has no relay to release messages by")
		return nil
	}
	to, err := readRelease(w, r)
	if err != nil {
		return err
	}
	inboxID, id := r.PathValue("inbox"), r.PathValue("message")
	summary, err := s.service.Summary(r.Context(), w.key, inboxID, id)
	if err != nil {
		return err
	}
	release, err := s.options.Large.Reserve(r.Context(), w.key.ID, summary.Size)
	if err != nil {
		return err
	}
	defer release()
	m, err := s.service.Message(r.Context(), w.key, inboxID, id)
	if err != nil {
		return err
	}
	w.clearReadDeadline()
	start := time.Now()
	err = s.options.Relay.Release(r.Context(), w.key.ID, to, m.Raw)
	w.waited = time.Since(start)
	switch service.ErrorCode(err) {
	case "":
		s.log.Info("message released", "key", w.key.ID, "inbox", inboxID, "message", id, "to", to)
	case service.Undelivered:
		s.log.Warn("message not released", "key", w.key.ID, "inbox", inboxID, "message", id, "to", to, "error", err)
		return err
	default:
		return err
	}
	return w.sendJSON(http.StatusOK, api.Released{To: to})
}

// readRelease reads the addresses that a message is released to.
func readRelease(w http.ResponseWriter, r *http.Request) (to []string, err error) {
	fields, err := readObject(w, r, "to")
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(fields["to"], &to) != nil || len(to) == 0 {
		return nil, invalid("Field \"to\" must be a list of addresses")
	}
	return to, nil
}
