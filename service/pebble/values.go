package pebble

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"mayfly/service"
)

var errValue = errors.New("a value of the store is damaged")

// writer encodes values: numbers as varints, strings with their length in front.
type writer []byte

func (w *writer) number(n int64)   { *w = binary.AppendVarint(*w, n) }
func (w *writer) time(t time.Time) { w.number(t.UnixMilli()) }
func (w *writer) string(s string) {
	*w = append(binary.AppendUvarint(*w, uint64(len(s))), s...)
}

// reader decodes what writer encodes. It is to be asked for its error at the end.
type reader struct {
	b   []byte
	err error
}

func (r *reader) number() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.b, r.err = nil, errValue
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) time() time.Time { return time.UnixMilli(r.number()).UTC() }

func (r *reader) string() string {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > uint64(len(r.b)-size) {
		r.b, r.err = nil, errValue
		return ""
	}
	s := string(r.b[size : size+int(n)])
	r.b = r.b[size+int(n):]
	return s
}

// encodeInbox encodes the fields of an inbox that are not in its key.
func encodeInbox(in service.Inbox) []byte {
	var w writer
	w.time(in.CreatedAt)
	w.time(in.ExpiresAt)
	w.string(in.Address)
	return w
}

func decodeInbox(keyID, id string, value []byte) (service.Inbox, error) {
	r := reader{b: value}
	in := service.Inbox{ID: id, KeyID: keyID, CreatedAt: r.time(), ExpiresAt: r.time(), Address: r.string()}
	return in, r.err
}

// encodeAddress encodes the owner of an address and its inbox, which may be gone.
func encodeAddress(of inboxOf) []byte {
	var w writer
	w.string(of.keyID)
	w.string(of.id)
	return w
}

func decodeAddress(value []byte) (inboxOf, error) {
	r := reader{b: value}
	of := inboxOf{keyID: r.string(), id: r.string()}
	return of, r.err
}

// encodeMessage encodes a message without its body. The place in its ID is the one in its key.
func encodeMessage(m service.Message) []byte {
	w := make(writer, 0, 64+len(m.From)+len(m.FromName)+len(m.Subject)+len(m.To))
	w.string(m.ID)
	w.time(m.ReceivedAt)
	w.number(m.Size)
	w.string(m.From)
	w.string(m.FromName)
	w.string(m.Subject)
	w.string(m.To)
	return w
}

func decodeMessage(value []byte) (service.Message, error) {
	r := reader{b: value}
	m := service.Message{
		Summary: service.Summary{
			ID: r.string(), ReceivedAt: r.time(), Size: r.number(),
			From: r.string(), FromName: r.string(), Subject: r.string(),
		},
		To: r.string(),
	}
	return m, r.err
}

// messageVersion returns the version of an inbox whose newest message has the ID. As it is random,
// no two states have the same version, even after a crash or a restore.
func messageVersion(id string) uint64 {
	digits := strings.TrimPrefix(id, "msg_")
	v, err := strconv.ParseUint(digits[:min(12, len(digits))], 32, 64)
	if err != nil {
		return 1
	}
	return v + 1
}

func encodeKey(k service.StoredKey) []byte {
	var w writer
	w.string(string(k.Hash[:]))
	w.string(k.Name)
	w.string(string(k.Plan))
	w.time(k.CreatedAt)
	if k.RevokedAt.IsZero() {
		w.number(0)
	} else {
		w.time(k.RevokedAt)
	}
	return w
}

func decodeKey(id string, value []byte) (service.StoredKey, error) {
	r := reader{b: value}
	k := service.StoredKey{Key: service.Key{ID: id}}
	hash := r.string()
	k.Name, k.Plan, k.CreatedAt = r.string(), service.Plan(r.string()), r.time()
	if ms := r.number(); ms != 0 {
		k.RevokedAt = time.UnixMilli(ms).UTC()
	}
	if len(hash) != len(k.Hash) {
		return k, errValue
	}
	copy(k.Hash[:], hash)
	return k, r.err
}
