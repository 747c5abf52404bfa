package mail

import (
	"bytes"
)

// A uuFile is a uuencoded file in a text.
type uuFile struct {
	name    string
	content []byte
}

// cutUU takes up to limit uuencoded files out of a text and returns what is left of it.
func cutUU(text []byte, limit int) (files []uuFile, rest []byte) {
	searched := text
	for len(files) < limit {
		i := findLine(searched, []byte("begin "))
		if i < 0 {
			break
		}
		line, after := cutLine(searched[i:])
		name, ok := uuName(line)
		var content, behind []byte
		if ok {
			content, behind, ok = decodeUU(after)
		}
		if !ok {
			rest = append(rest, searched[:len(searched)-len(after)]...)
			searched = after
			continue
		}
		rest = append(rest, searched[:i]...)
		files = append(files, uuFile{name: name, content: content})
		searched = behind
	}
	if len(files) == 0 {
		return nil, text
	}
	return files, append(rest, searched...)
}

// uuName reads "begin 644 name".
func uuName(line []byte) (string, bool) {
	mode, name, ok := bytes.Cut(line[len("begin "):], []byte(" "))
	if !ok || len(mode) < 3 || len(mode) > 4 || len(bytes.Trim(mode, "01234567")) > 0 {
		return "", false
	}
	name = bytes.TrimSpace(name)
	return string(name), len(name) > 0
}

// decodeUU decodes lines up to "end", or up to the first that is not uuencoded. ok is false if
// there is none.
func decodeUU(data []byte) (content, after []byte, ok bool) {
	for len(data) > 0 {
		line, next := cutLine(data)
		if string(line) == "end" {
			return content, next, ok
		}
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '`' {
			data = next
			continue
		}
		n := int(line[0]-' ') & 63
		groups := (n + 2) / 3 * 4
		if line[0] < '!' || line[0] > '`' || len(line)-1 > groups+4 || len(line)-1 < groups-4 {
			return content, data, ok
		}
		ok = true
		content = appendUU(content, line[1:], n)
		data = next
	}
	return content, data, ok
}

// appendUU decodes n octets of a line that may have lost trailing spaces.
func appendUU(dst, line []byte, n int) []byte {
	at := func(i int) byte {
		if i < len(line) && line[i] >= ' ' && line[i] <= '`' {
			return (line[i] - ' ') & 63
		}
		return 0
	}
	for i := 0; n > 0; i += 4 {
		a, b, c, d := at(i), at(i+1), at(i+2), at(i+3)
		group := [3]byte{a<<2 | b>>4, b<<4 | c>>2, c<<6 | d}
		dst = append(dst, group[:min(n, 3)]...)
		n -= 3
	}
	return dst
}
