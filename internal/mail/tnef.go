package mail

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// tnefSignature starts a winmail.dat (MS-OXTNEF), in which some mail programs wrap a message.
var tnefSignature = []byte{0x78, 0x9f, 0x3e, 0x22}

// Attributes of TNEF.
const (
	tnefBody           = 0x800c
	tnefAttachData     = 0x800f
	tnefAttachTitle    = 0x8010
	tnefAttachRendData = 0x9002 // starts an attachment
	tnefMAPIProps      = 0x9003
	tnefAttachment     = 0x9005 // MAPI properties of the attachment
	tnefOEMCodepage    = 0x9007
)

// MAPI properties.
const (
	mapiBody         = 0x1000
	mapiBodyHTML     = 0x1013
	mapiAttachData   = 0x3701
	mapiFilename     = 0x3704
	mapiLongFilename = 0x3707
	mapiMIMEType     = 0x370e
	mapiContentID    = 0x3712
)

func isTNEF(pt part, content []byte) bool {
	return strings.HasPrefix(pt.mediaType, "application/") && bytes.HasPrefix(content, tnefSignature)
}

// tnef reads a winmail.dat. It reports false if it finds nothing in it; then the file itself is the
// attachment.
func (p *parser) tnef(pt part, content []byte) (entity, bool) {
	var e entity
	var body text
	charset := "windows-1252"
	r := tnefReader{data: content[len(tnefSignature):]}
	r.skip(2) // the key
	for r.more() {
		r.skip(1) // the level
		id := r.uint32() & 0xffff
		data := r.bytes(int(r.uint32()))
		r.skip(2) // the checksum
		if r.failed {
			p.defect("A winmail.dat is broken")
			break
		}
		switch id {
		case tnefOEMCodepage:
			if len(data) >= 4 {
				charset = "cp" + strconv.Itoa(int(binary.LittleEndian.Uint32(data)))
			}
		case tnefBody:
			body.plain, body.plainType = lines(decodeText(trimNUL(data), charset)), "text/plain"
		case tnefMAPIProps:
			readMAPI(data, func(id uint16, typ uint16, value []byte) {
				switch id {
				case mapiBody:
					body.plain, body.plainType = lines(mapiString(typ, value, charset)), "text/plain"
				case mapiBodyHTML:
					if typ == mapiBinary {
						body.html = lines(decodeHTML(trimNUL(value), ""))
					} else {
						body.html = lines(mapiString(typ, value, charset))
					}
					body.hasHTML = true
				}
			})
		case tnefAttachRendData:
			if p.parts++; p.parts > p.limits.parts {
				p.defect("The message has too many parts: the rest is not shown")
				r.failed = true
				break
			}
			e.attachments = append(e.attachments, Attachment{
				ID: pt.id() + ".t" + strconv.Itoa(len(e.attachments)+1), ContentType: "application/octet-stream"})
		default:
			if len(e.attachments) > 0 {
				e.attachments[len(e.attachments)-1].setTNEF(id, data, charset)
			}
		}
	}
	if body.plainType != "" || body.hasHTML {
		e.spare = []text{body}
	}
	return e, len(e.attachments) > 0 || len(e.spare) > 0
}

// setTNEF applies an attribute to the attachment.
func (a *Attachment) setTNEF(id uint32, data []byte, charset string) {
	switch id {
	case tnefAttachTitle:
		if a.Filename == "" {
			a.Filename = decodeText(trimNUL(data), charset)
		}
	case tnefAttachData:
		a.Content, a.Size = data, len(data)
	case tnefAttachment:
		readMAPI(data, func(id uint16, typ uint16, value []byte) {
			switch id {
			case mapiLongFilename:
				a.Filename = mapiString(typ, value, charset)
			case mapiFilename:
				if a.Filename == "" {
					a.Filename = mapiString(typ, value, charset)
				}
			case mapiMIMEType:
				a.ContentType = strings.ToLower(mapiString(typ, value, charset))
			case mapiContentID:
				a.ContentID = trimID(mapiString(typ, value, charset))
			case mapiAttachData:
				if a.Content == nil && typ == mapiBinary {
					a.Content, a.Size = value, len(value)
				}
			}
		})
	}
}

// A tnefReader reads little-endian values until the data ends.
type tnefReader struct {
	data   []byte
	failed bool
}

func (r *tnefReader) more() bool { return !r.failed && len(r.data) > 0 }

func (r *tnefReader) bytes(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.failed = true
		n = 0
	}
	b := r.data[:n:n]
	r.data = r.data[n:]
	return b
}

func (r *tnefReader) skip(n int) { r.bytes(n) }

func (r *tnefReader) uint16() uint16 {
	if b := r.bytes(2); len(b) == 2 {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *tnefReader) uint32() uint32 {
	if b := r.bytes(4); len(b) == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Types of MAPI properties.
const (
	mapiString8  = 0x1e
	mapiUnicode  = 0x1f
	mapiObject   = 0x0d
	mapiBinary   = 0x102
	mapiMultiple = 0x1000 // a flag
)

// mapiSize is the size of a type of fixed size in a property list; 0 for others.
func mapiSize(typ uint16) int {
	switch typ {
	case 0x1, 0x2, 0x3, 0x4, 0xa, 0xb:
		return 4
	case 0x5, 0x6, 0x7, 0x14, 0x40:
		return 8
	case 0x48:
		return 16
	}
	return 0
}

// readMAPI calls found with each property of a list; of several values it gives the first.
func readMAPI(data []byte, found func(id, typ uint16, value []byte)) {
	r := tnefReader{data: data}
	for count := r.uint32(); count > 0 && r.more(); count-- {
		typ, id := r.uint16(), r.uint16()
		if id >= 0x8000 { // named
			r.skip(16)
			if r.uint32() == 0 {
				r.skip(4)
			} else {
				r.padded(r.uint32())
			}
		}
		base := typ &^ mapiMultiple
		variable := base == mapiString8 || base == mapiUnicode || base == mapiObject || base == mapiBinary
		values := uint32(1)
		if variable || typ&mapiMultiple != 0 {
			values = r.uint32()
		}
		for i := uint32(0); i < values && r.more(); i++ {
			var value []byte
			if variable {
				value = r.padded(r.uint32())
			} else if size := mapiSize(base); size > 0 {
				value = r.bytes(size)
			} else {
				return
			}
			if i == 0 && !r.failed {
				found(id, base, value)
			}
		}
	}
}

// padded reads n octets that are padded to a multiple of four.
func (r *tnefReader) padded(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)) {
		r.failed = true
		return nil
	}
	b := r.bytes(int(n))
	r.skip(min(int(-n&3), len(r.data)))
	return b
}

func mapiString(typ uint16, value []byte, charset string) string {
	if typ != mapiUnicode {
		return decodeText(trimNUL(value), charset)
	}
	return strings.TrimRight(decodeWith(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), value[:len(value)&^1]), "\x00")
}

func trimNUL(b []byte) []byte { return bytes.TrimRight(b, "\x00") }
