package mail

import "bytes"

// Summarize reads the summary from the header of a raw message, at most its first 256 KiB. The
// result shares no memory with raw.
func Summarize(raw []byte) Summary {
	rest := raw[:min(len(raw), usual.headerBytes)]
	if bytes.IndexByte(rest[:min(len(rest), 4096)], '\n') < 0 && bytes.IndexByte(rest, '\r') >= 0 {
		rest = bytes.ReplaceAll(rest, []byte{'\r'}, []byte{'\n'})
	}
	rest = bytes.TrimLeft(skipMboxLine(skipBlankLines(rest)), " \t")
	var s Summary
	var from, subject bool
	for len(rest) > 0 && !(from && subject) {
		line, after := cutLine(rest)
		if len(line) == 0 {
			rest = bytes.TrimLeft(after, " \t\r\n")
			if line, _ = cutLine(rest); !startsTorn(line) {
				break
			}
			continue
		}
		end := foldedEnd(rest, len(rest)-len(after))
		field := rest[:end]
		rest = rest[end:]
		switch {
		case !from && isField(field, "from"):
			from = true
			if list := parseAddresses(string(unfold(fieldValue(field))), 1); len(list) > 0 {
				s.From = list[0]
			}
		case !subject && isField(field, "subject"):
			subject = true
			s.Subject = decodeHeader(unfold(fieldValue(field)))
		}
	}
	return s
}

// startsTorn reports whether a header goes on behind empty lines.
func startsTorn(line []byte) bool {
	name, ok := fieldName(line)
	return ok && isTornField(name)
}

// isField reports whether a field has the name, which is in lower case.
func isField(field []byte, name string) bool {
	if len(field) <= len(name) {
		return false
	}
	for i := range len(name) {
		if field[i]|0x20 != name[i] {
			return false
		}
	}
	return len(bytes.TrimLeft(field[len(name):], " \t")) > 0 && bytes.TrimLeft(field[len(name):], " \t")[0] == ':'
}

func fieldValue(field []byte) []byte { return field[bytes.IndexByte(field, ':')+1:] }
