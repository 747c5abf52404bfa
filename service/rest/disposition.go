package rest

import (
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFilename is the length limit of the file name of a download, in bytes.
const maxFilename = 200

// disposition returns the Content-Disposition (RFC 6266) of a download with the file name that a
// mail gives it, less what could leave the folder of downloads, hide the extension or break the
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

// downloadType returns the media type with which an attachment is sent: the one in the mail if it
// is valid, else that of arbitrary bytes.
func downloadType(contentType string) string {
	if name, _, err := mime.ParseMediaType(contentType); err == nil && strings.Contains(name, "/") && isASCII(name) {
		return name
	}
	return "application/octet-stream"
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
