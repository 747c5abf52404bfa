package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"mayfly/api"
)

// pieceBytes is how much of a text is encoded at a time.
const pieceBytes = 32 << 10

// sendLarge sends a large message without having all of its JSON in memory, in which a control
// character takes six bytes.
func (w *response) sendLarge(m api.Message) error {
	var size counter
	if err := writeMessage(&size, m); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(int(size)))
	w.allowTime(int(size))
	w.WriteHeader(http.StatusOK)
	_ = writeMessage(w, m) // it fails when the client has left
	return nil
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// writeMessage writes what encode would return, in pieces.
func writeMessage(w io.Writer, m api.Message) error {
	text, html := m.Text, m.HTML
	m.Text, m.HTML = "", ""
	frame, err := encode(m)
	if err != nil {
		return err
	}
	// A JSON string cannot contain these quotes.
	before, after, _ := bytes.Cut(frame, []byte(`"text":"","html":""`))
	p := pieces{w: w}
	p.raw(before)
	p.raw([]byte(`"text":"`))
	p.text(text)
	p.raw([]byte(`","html":"`))
	p.text(html)
	p.raw([]byte(`"`))
	p.raw(after)
	return p.err
}

// pieces writes JSON piece by piece until the first error.
type pieces struct {
	w   io.Writer
	b   bytes.Buffer
	err error
}

func (p *pieces) raw(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

// text writes a string as JSON, without the quotes.
func (p *pieces) text(s string) {
	e := json.NewEncoder(&p.b)
	e.SetEscapeHTML(false)
	for len(s) > 0 && p.err == nil {
		n := min(len(s), pieceBytes)
		for n < len(s) && n > pieceBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		p.b.Reset()
		if p.err = e.Encode(s[:n]); p.err == nil {
			p.raw(p.b.Bytes()[1 : p.b.Len()-len("\"\n")])
		}
		s = s[n:]
	}
}
