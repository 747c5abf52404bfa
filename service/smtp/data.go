package smtp

import "bytes"

// before is what precedes the next octet of a message.
type before uint8

const (
	lineStart before = iota // CRLF, or nothing yet
	bareLF
	bareCR // or a CR whose LF may still come
	inLine
)

// dotReader finds the end of a message sent with DATA, and undoes dot-stuffing. Only CRLF.CRLF ends
// the message. A lone dot between any other line breaks does not, but makes the message ambiguous.
type dotReader struct {
	before    before
	line      int  // octets of the current line so far
	longest   int  // octets of the longest line
	ambiguous bool // there was a lone dot between line breaks that are not both CRLF
}

// next consumes octets of p, passes those of the message to emit, and returns how many it consumed
// and whether the message is complete. It may leave up to two octets at the end of p, with which
// the next p has to start.
func (d *dotReader) next(p []byte, emit func([]byte)) (taken int, done bool) {
	start := 0 // of what is not emitted yet
	lf := -1   // index of the next LF; len(p) if there is none
	flush := func(end int) {
		if end > start {
			emit(p[start:end])
		}
		start = end
	}
	for i := 0; i < len(p); {
		if d.before != inLine && p[i] == '.' {
			if i+1 == len(p) {
				flush(i)
				return i, false
			}
			if follows := p[i+1]; follows == '\r' || follows == '\n' {
				if d.before == lineStart && follows == '\r' {
					if i+2 == len(p) {
						flush(i)
						return i, false
					}
					if p[i+2] == '\n' {
						flush(i)
						return i + 3, true
					}
				}
				d.ambiguous = true
			}
			if d.before == lineStart {
				flush(i)
				start = i + 1
			}
			d.before = inLine
			d.add(1)
			i++
			continue
		}
		if d.before == bareCR && p[i] == '\n' {
			d.line = 0
			d.before = lineStart
			i++
			continue
		}
		if lf < i {
			if lf = bytes.IndexByte(p[i:], '\n'); lf < 0 {
				lf = len(p)
			} else {
				lf += i
			}
		}
		i += d.skipLine(p[i:], lf-i)
	}
	flush(len(p))
	return len(p), false
}

// skipLine consumes a line and its line break, or what p has of it, but stops after a CR that no LF
// follows. lf is the index of the next LF, or len(p).
func (d *dotReader) skipLine(p []byte, lf int) (taken int) {
	cr := bytes.IndexByte(p[:lf], '\r')
	switch {
	case cr >= 0 && (cr < lf-1 || lf == len(p)):
		d.add(min(cr+1, len(p)-1)) // without one that may be the start of CRLF
		d.before = bareCR
		return cr + 1
	case lf == len(p):
		d.add(lf)
		d.before = inLine
		return lf
	case cr >= 0:
		d.add(cr)
		d.before = lineStart
	default:
		d.add(lf)
		d.before = bareLF
	}
	d.line = 0
	return lf + 1
}

func (d *dotReader) add(n int) {
	d.line += n
	d.longest = max(d.longest, d.line)
}
