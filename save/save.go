// Package save writes messages and attachments into a folder: under names that are safe on every
// system whatever the mail says, never over a file that exists, readable by the user alone.
package save

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxName  = 120  // bytes of a file name, its extension included
	maxTries = 1000 // files of one name in a folder
)

// File is something to be saved; its Name is what a mail calls it, and is not trusted.
type File struct {
	Name    string
	Content []byte
}

// Message writes a raw message (RFC 5322) as an .eml file named after its subject.
func Message(dir string, raw []byte, subject string) (path string, err error) {
	return write(dir, File{Name: Name(subject, "message") + ".eml", Content: raw})
}

// Bodies writes the text and the HTML of a message whose raw form is not to be had, as .txt and .html files named
// after its subject. An empty one is left out.
func Bodies(dir, subject, text, html string) (paths []string, err error) {
	name := Name(subject, "message")
	for _, f := range []File{{name + ".txt", []byte(text)}, {name + ".html", []byte(html)}} {
		if len(f.Content) == 0 {
			continue
		}
		path, err := write(dir, f)
		if err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Attachments writes every file and calls progress after each. It returns the paths it wrote, also
// when one of the later files could not be written.
func Attachments(dir string, files []File, progress func(done, total int)) (paths []string, err error) {
	for i, f := range files {
		f.Name = Name(f.Name, fmt.Sprintf("attachment-%d", i+1))
		path, err := write(dir, f)
		if err != nil {
			return paths, err
		}
		paths = append(paths, path)
		if progress != nil {
			progress(i+1, len(files))
		}
	}
	return paths, nil
}

// Name makes a file name of one component out of what a mail says: no folders, no control or
// direction-changing characters, nothing Windows reserves, not hidden, of bounded length. When
// nothing is left it is fallback.
func Name(untrusted, fallback string) string {
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

// write creates a new file for f, numbered when its name is taken.
func write(dir string, f File) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save %s: %w", f.Name, err)
	}
	ext := filepath.Ext(f.Name)
	stem := strings.TrimSuffix(f.Name, ext)
	for n := 1; n <= maxTries; n++ {
		name := f.Name
		if n > 1 {
			name = fmt.Sprintf("%s (%d)%s", stem, n, ext)
		}
		path := filepath.Join(dir, name)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("save %s: %w", f.Name, err)
		}
		if err := fill(file, f.Content); err != nil {
			return "", errors.Join(fmt.Errorf("save %s: %w", path, err), os.Remove(path))
		}
		return path, nil
	}
	return "", fmt.Errorf("save %s: %s already holds %d files of that name", f.Name, dir, maxTries)
}

func fill(file *os.File, content []byte) error {
	_, err := file.Write(content)
	return errors.Join(err, file.Close())
}
