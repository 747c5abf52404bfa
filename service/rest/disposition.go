package rest

import (
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFilename is the most bytes of a file name that a download is called.
const maxFilename = 200

// disposition is the Content-Disposition of a download (RFC 6266) under the name that a mail gives it. Whatever
// could lead out of the folder of downloads, hide the extension or break the field is taken out of the name.
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

// downloadType is the media type under which an attachment is sent: the one that the mail says when it is one, else
// arbitrary bytes.
func downloadType(contentType string) string {
	if name, _, err := mime.ParseMediaType(contentType); err == nil && strings.Contains(name, "/") && isASCII(name) {
		return name
	}
	return "application/octet-stream"
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
