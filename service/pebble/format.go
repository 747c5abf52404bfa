package pebble

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"mayfly/service"
)

// These are the first bytes of the database's keys. Names end in a zero byte, times are
// milliseconds since 1970, and all numbers are big-endian, so that keys are ordered like what they
// stand for.
//
//	f                                       format of the store
//	k key-ID                                a key
//	h hash                                  the ID of the key with that secret
//	p fingerprint                           a public key of SSH
//	t name                                  a secret of the service
//	a address 0                             the owner of an address, and its inbox
//	i key-ID 0 inbox-ID 0                   an inbox, found by its owner only
//	l key-ID 0 ^created inbox-ID 0          the inboxes of a key, the newest first
//	d key-ID 0 inbox-ID 0                   what clients keep of an inbox
//	x expires inbox-ID 0                    partition, creation and owner of an inbox, ordered by expiry
//	e partition inbox-ID 0                  an inbox whose expiry was changed
//	m partition inbox-ID 0 's' ^seq         summary of a message and its delivery details, the newest first
//	m partition inbox-ID 0 'b' ^seq         its raw body, unless other messages have it, too
//	s partition inbox-ID 0 ^seq             the name of the body that it shares
//	b name                                  a shared body
//	c name                                  how many messages share it
//	q key-ID                                a key's messages on the last days
//	n key-ID                                how many inboxes a key has
//	r                                       what a test of writing writes
//
// The partition of an inbox is when it was to expire at first. Inboxes that expire at the same time are
// neighbours, one range deletion removes their messages, and whole files can be dropped. The body of a delivery
// to several inboxes is stored once, and removed with the last of its messages, whatever removes that.
const (
	formatKey     = 'f'
	keyPrefix     = 'k'
	hashPrefix    = 'h'
	sshPrefix     = 'p'
	secretPrefix  = 't'
	statePrefix   = 'd'
	addressPrefix = 'a'
	inboxPrefix   = 'i'
	listPrefix    = 'l'
	expiryPrefix  = 'x'
	movedPrefix   = 'e'
	messagePrefix = 'm'
	sharePrefix   = 's'
	bodyPrefix    = 'b'
	sharesPrefix  = 'c'
	emailsPrefix  = 'q'
	numberPrefix  = 'n'
	readyKey      = 'r'

	summaryKind = 's'
	bodyKind    = 'b'
)

// isName reports whether s can be part of a key of the database. Nothing else was ever stored.
func isName(s string) bool { return s != "" && len(s) <= 512 && strings.IndexByte(s, 0) < 0 }

func prefixed[S string | []byte](prefix byte, s S) []byte { return append([]byte{prefix}, s...) }

func hashKey(hash [32]byte) []byte { return append([]byte{hashPrefix}, hash[:]...) }

func addressKey(address string) []byte { return append(prefixed(addressPrefix, address), 0) }

func inboxKey(keyID, id string) []byte {
	return append(append(append(prefixed(inboxPrefix, keyID), 0), id...), 0)
}

// listKey returns the key of an inbox in the list of its owner's.
func listKey(keyID string, created time.Time, id string) []byte {
	list := append(prefixed(listPrefix, keyID), 0)
	return append(append(binary.BigEndian.AppendUint64(list, ^uint64(created.UnixMilli())), id...), 0)
}

func expiryKey(in service.Inbox) []byte {
	return timeKey(expiryPrefix, in.ExpiresAt.UnixMilli(), in.ID)
}

// movedKey marks an inbox whose expiry was changed, after which its Partition is set.
func movedKey(in service.Inbox) []byte { return timeKey(movedPrefix, in.Partition, in.ID) }

// partition returns when an inbox was to expire at first.
func partition(in service.Inbox) int64 { return cmp.Or(in.Partition, in.ExpiresAt.UnixMilli()) }

// messagesKey returns the prefix of the keys of an inbox's messages.
func messagesKey(in service.Inbox) []byte { return timeKey(messagePrefix, partition(in), in.ID) }

// timeKey leaves room for what messageKey appends.
func timeKey(prefix byte, ms int64, id string) []byte {
	k := make([]byte, 0, 1+8+len(id)+1+1+8)
	k = append(k, prefix)
	k = binary.BigEndian.AppendUint64(k, uint64(max(0, ms)))
	k = append(k, id...)
	return append(k, 0)
}

// encodeExpiry encodes what the end of an inbox needs.
func encodeExpiry(in service.Inbox) []byte {
	var w writer
	w.number(in.Partition)
	w.time(in.CreatedAt)
	w.string(in.KeyID)
	return w
}

func decodeExpiry(key, value []byte) (service.Inbox, error) {
	if len(key) < 1+8+1 {
		return service.Inbox{}, errValue
	}
	r := reader{b: value}
	in := service.Inbox{
		ID: string(key[9 : len(key)-1]), ExpiresAt: time.UnixMilli(int64(binary.BigEndian.Uint64(key[1:]))).UTC(),
		Partition: r.number(), CreatedAt: r.time(), KeyID: r.string(),
	}
	return in, r.err
}

// messageKey appends to messagesKey.
func messageKey(messages []byte, kind byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append(messages, kind), ^seq)
}

func seqOf(key []byte) uint64 { return ^binary.BigEndian.Uint64(key[len(key)-8:]) }

// sharesKey returns the prefix of the keys of the bodies that an inbox's messages share.
func sharesKey(in service.Inbox) []byte { return timeKey(sharePrefix, partition(in), in.ID) }

func shareKey(in service.Inbox, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(sharesKey(in), ^seq)
}

// newBody returns the name of a body: when the last of its inboxes was to expire, so that bodies that go together
// are neighbours, a random number, and its size.
func newBody(partition int64, size int) []byte {
	name := binary.BigEndian.AppendUint64(make([]byte, 0, 24), uint64(max(0, partition)))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(name, rand.Uint64()), uint64(size))
}

func bodySize(name []byte) uint32 { return uint32(binary.BigEndian.Uint64(name[len(name)-8:])) }

// sharers is the key of the database that counts the messages that share a body.
func sharers(body []byte) string { return string(prefixed(sharesPrefix, body)) }

// after returns the key that follows all keys with the prefix. No prefix ends in 0xff here.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	end[len(end)-1]++
	return end
}

var errValue = errors.New("a value of the store is damaged")

// writer encodes values: numbers as varints, strings with their length in front.
type writer []byte

func (w *writer) number(n int64)   { *w = binary.AppendVarint(*w, n) }
func (w *writer) time(t time.Time) { w.number(t.UnixMilli()) }
func (w *writer) timeIfAny(t time.Time) {
	if t.IsZero() {
		t = time.UnixMilli(0)
	}
	w.time(t)
}
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
func (r *reader) timeIfAny() (t time.Time) {
	if ms := r.number(); ms != 0 {
		t = time.UnixMilli(ms).UTC()
	}
	return t
}

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

func encodeEmails(e service.Emails) []byte {
	var w writer
	for _, n := range []int64{int64(e.Day), int64(e.Count), int64(e.DayBefore), int64(e.Before)} {
		w.number(n)
	}
	return w
}

func decodeEmails(value []byte) (service.Emails, error) {
	r := reader{b: value}
	e := service.Emails{Day: service.Day(r.number()), Count: int(r.number()), DayBefore: service.Day(r.number()), Before: int(r.number())}
	return e, r.err
}

// encodeInbox encodes the fields of an inbox that are not in its key. Messages that arrive later are not
// counted in it, see counted.
func encodeInbox(in service.Inbox) []byte {
	var w writer
	w.time(in.CreatedAt)
	w.time(in.ExpiresAt)
	w.time(in.LastReceived)
	w.string(in.Address)
	for _, n := range []int64{in.Partition, int64(in.Messages), int64(in.Last), int64(in.Version)} {
		w.number(n)
	}
	return w
}

func decodeInbox(keyID, id string, value []byte) (service.Inbox, error) {
	r := reader{b: value}
	in := service.Inbox{
		ID: id, KeyID: keyID, CreatedAt: r.time(), ExpiresAt: r.time(), LastReceived: r.time(), Address: r.string(),
		Partition: r.number(), Messages: int(r.number()), Last: uint64(r.number()), Version: uint64(r.number()),
	}
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

// encodeMessage encodes a message without its body, and its delivery details. The sequence number in its ID is the one in its key.
func encodeMessage(m service.Message, delivery []byte) []byte {
	w := make(writer, 0, 64+len(m.From)+len(m.FromName)+len(m.Subject)+len(m.To)+len(delivery))
	w.string(m.ID)
	w.time(m.ReceivedAt)
	w.number(m.Size)
	w.string(m.From)
	w.string(m.FromName)
	w.string(m.Subject)
	w.string(m.To)
	return append(w, delivery...)
}

// sizeOfSummary returns about how many bytes a message takes without its body.
func sizeOfSummary(n *service.NewMessage) int {
	return 2*64 + len(n.From) + len(n.FromName) + len(n.Subject) + len(n.To) + len(n.Delivery)
}

// decodeMessage returns a message, and of the value its delivery details, which may be empty.
func decodeMessage(value []byte) (m service.Message, delivery []byte, err error) {
	r := reader{b: value}
	m = service.Message{
		Summary: service.Summary{
			ID: r.string(), ReceivedAt: r.time(), Size: r.number(),
			From: r.string(), FromName: r.string(), Subject: r.string(),
		},
		To: r.string(),
	}
	return m, r.b, r.err
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
	w.timeIfAny(k.RevokedAt)
	w.string(string(k.OldHash[:]))
	w.timeIfAny(k.OldUntil)
	w.timeIfAny(k.UsedAt)
	return w
}

func decodeKey(id string, value []byte) (service.StoredKey, error) {
	r := reader{b: value}
	k := service.StoredKey{Key: service.Key{ID: id}}
	hash := r.string()
	k.Name, k.Plan, k.CreatedAt = r.string(), service.Plan(r.string()), r.time()
	k.RevokedAt = r.timeIfAny()
	if len(r.b) > 0 { // older versions end here
		copy(k.OldHash[:], r.string())
		k.OldUntil, k.UsedAt = r.timeIfAny(), r.timeIfAny()
	}
	if len(hash) != len(k.Hash) {
		return k, errValue
	}
	copy(k.Hash[:], hash)
	return k, r.err
}
