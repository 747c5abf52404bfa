package message

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mayfly/api"
	"mayfly/internal/files"
	"mayfly/render"
)

const (
	maxName  = 120  // bytes of a file name, its extension included
	maxTries = 1000 // files of one name in a directory
)

// Saved is a file that has what was to be saved.
type Saved struct {
	Path   string
	Before bool // it was there already, with the same content
}

// Save writes the raw message into dir as an .eml file named after its subject. Without a raw form
// it writes the text and the HTML, as .txt and .html files; an empty one is left out. It returns
// the files it saved, also with an error.
func (m *Message) Save(dir string) ([]Saved, error) { return m.saveAs(dir, m.Subject) }

// saveAs does the same with files named after title.
func (m *Message) saveAs(dir, title string) (all []Saved, err error) {
	name := fileName(render.Clean(title), "message")
	if m.Raw != nil {
		file, err := writeNew(dir, name+".eml", m.Raw)
		if err != nil {
			return nil, err
		}
		return []Saved{file}, nil
	}
	for _, body := range []struct{ extension, content string }{{".txt", m.Text}, {".html", m.HTML}} {
		if body.content == "" {
			continue
		}
		file, err := writeNew(dir, name+body.extension, []byte(body.content))
		if err != nil {
			return all, err
		}
		all = append(all, file)
	}
	return all, nil
}

// SaveAll writes every message that c can see into dir, to files whose names sort by time, and calls saved with each
// and its files. A message that cannot be saved does not stop the others.
func SaveAll(ctx context.Context, c *api.Client, dir string, saved func(*Message, []Saved) error) error {
	inboxes, err := c.Inboxes(ctx)
	for _, inbox := range inboxes.Inboxes {
		list, failed := c.Messages(ctx, inbox.ID)
		err = errors.Join(err, failed)
		for _, summary := range list.Messages {
			var files []Saved
			m, failed := FetchRaw(ctx, c, inbox.ID, summary)
			if failed == nil {
				files, failed = m.saveAs(dir, keptName(m.ReceivedAt, inbox.Email, m.Subject))
			}
			if failed == nil {
				failed = saved(m, files)
			}
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Keep saves a raw message into dir as SaveAll does.
func Keep(dir string, at time.Time, to, subject string, raw []byte) (Saved, error) {
	return writeNew(dir, fileName(keptName(at, to, subject), "message")+".eml", raw)
}

// keptName sorts by time, and has nothing that scripts and CI systems have to quote.
func keptName(at time.Time, to, subject string) string {
	words := strings.FieldsFunc(render.Clean(to+" "+subject), func(r rune) bool { return unicode.IsSpace(r) || r == '@' })
	return at.UTC().Format("20060102T150405.000Z") + "-" + strings.Join(words, "-")
}

// Files are the indexes of the attachments that are files of their own, not images that the body shows: some
// mailers mark all attachments as inline, and number them.
func (m *Message) Files() []int {
	var files []int
	for i, a := range m.Attachments {
		if !a.Inline || a.ContentID == "" || !strings.HasPrefix(a.ContentType, "image/") || !strings.Contains(m.HTML, "cid:"+a.ContentID) && !strings.Contains(m.HTML, "cid:"+url.PathEscape(a.ContentID)) {
			files = append(files, i)
		}
	}
	return files
}

// SaveAttachment writes the content of attachment i into dir.
func (m *Message) SaveAttachment(dir string, i int, content []byte) (Saved, error) {
	return writeNew(dir, m.FileName(i), content)
}

// FileName is what attachment i is saved as, unless a file has that name already. Without an extension of its own, its
// name gets that of its content type.
func (m *Message) FileName(i int) string {
	a := m.Attachments[i]
	name := fileName(a.Filename, fmt.Sprintf("attachment-%d", i+1))
	if filepath.Ext(name) == "" {
		name += extension(a.ContentType)
	}
	return name
}

// extensions are those of common content types, for which systems list several or none.
var extensions = map[string]string{
	"application/gzip": ".gz", "application/json": ".json", "application/pdf": ".pdf", "application/xml": ".xml",
	"application/zip": ".zip", "audio/mpeg": ".mp3", "image/gif": ".gif", "image/jpeg": ".jpg", "image/png": ".png",
	"image/svg+xml": ".svg", "image/webp": ".webp", "message/rfc822": ".eml", "text/calendar": ".ics", "text/csv": ".csv",
	"text/html": ".html", "text/markdown": ".md", "text/plain": ".txt", "text/vcard": ".vcf", "text/xml": ".xml", "video/mp4": ".mp4",
}

// extension is the extension for a content type, "" when it says nothing.
func extension(contentType string) string {
	if ext, ok := extensions[contentType]; ok {
		return ext
	}
	if listed, err := mime.ExtensionsByType(contentType); err == nil && len(listed) > 0 && contentType != "application/octet-stream" {
		return listed[0]
	}
	return ""
}

// fileName makes a file name of one component out of what a message says: no directories, no control or
// direction-changing characters, nothing Windows reserves, not hidden, of bounded length. When
// nothing is left it is fallback.
func fileName(untrusted, fallback string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(strings.ToValidUTF8(untrusted, "")) {
		switch {
		case strings.ContainsRune(`/\:*?"<>|`, r):
			b.WriteByte('_')
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case !unicode.IsPrint(r): // controls, format characters (bidi, zero width), surrogates
		default:
			b.WriteRune(r)
		}
	}
	name := strings.Join(strings.Fields(b.String()), " ")
	name = strings.TrimRight(strings.TrimLeft(name, ". -~"), ". ")
	name = shorten(name)
	if name == "" {
		return fallback
	}
	if reserved(name) {
		name = "_" + name
	}
	return name
}

// shorten keeps the extension of a long name.
func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	ext := filepath.Ext(name)
	if len(ext) > 16 {
		ext = ""
	}
	stem := name[:maxName-len(ext)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return strings.TrimRight(stem, ". ") + ext
}

// reserved reports the device names of Windows, with any extension.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem = strings.TrimSpace(stem)
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if r := []rune(stem); len(r) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) {
		return strings.ContainsRune("0123456789¹²³", r[3])
	}
	return false
}

// writeNew creates a file that only the user may read, numbered where its name is taken by another content.
func writeNew(dir, name string, content []byte) (Saved, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Saved{}, fmt.Errorf("save %s: %w", name, err)
	}
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for n := 1; n <= maxTries; n++ {
		numbered := name
		if n > 1 {
			numbered = fmt.Sprintf("%s (%d)%s", stem, n, ext)
		}
		path := filepath.Join(dir, numbered)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if hasContent(path, content) {
				return Saved{path, true}, nil
			}
			continue
		}
		if err != nil {
			return Saved{}, fmt.Errorf("save %s: %w", name, err)
		}
		_, err = file.Write(content)
		if err = errors.Join(err, file.Close()); err != nil {
			return Saved{}, errors.Join(fmt.Errorf("save %s: %w", path, err), os.Remove(path))
		}
		return Saved{Path: path}, nil
	}
	return Saved{}, fmt.Errorf("save %s: %s already holds %d files of that name", name, dir, maxTries)
}

// hasContent reports whether a path is a file, and no link to one, with that content.
func hasContent(path string, content []byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false
	}
	there, _, err := files.Read(path, int64(len(content)))
	return err == nil && bytes.Equal(there, content)
}
