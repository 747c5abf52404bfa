// Package snapshot compares a message with the text that a test has kept of it.
package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mayfly/internal/diff"
	"mayfly/internal/files"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/render/find"
)

// invitationTimes are when an invitation is for: how that is written depends on the hour and on the time zone of the machine.
var invitationTimes = regexp.MustCompile(`(?m)^(When {4}).*(?:\nHere {4}.*)?$`)

// shown are the header fields that a reader sees.
var shown = []string{"From", "To", "Cc", "Reply-To", "Subject"}

// Text returns what a snapshot keeps of a message in the inbox with an address.
func Text(m *message.Message, address string) string {
	var b strings.Builder
	for _, name := range shown {
		for _, f := range m.Fields {
			if strings.EqualFold(f.Name, name) {
				fmt.Fprintf(&b, "%s: %s\n", name, render.Clean(f.Value))
			}
		}
	}
	b.WriteString("\n" + invitationTimes.ReplaceAllString(m.Outline(), "${1}«date»"))
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			b.WriteString("\n" + title + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	var links, attachments, checks []string
	for _, l := range m.Mail().Links() {
		links = append(links, strings.TrimSpace("- "+render.Clean(l.Text)+" "+render.Clean(l.URL)))
	}
	for _, a := range m.Attachments {
		attachments = append(attachments, "- "+render.Clean(a.Filename)+" "+render.Clean(a.ContentType))
	}
	for _, f := range m.Mail().Checks() {
		if f.Level >= check.Note && f.Alike > 0 && f.ID != "date-off" {
			checks = append(checks, fmt.Sprintf("- %s %s", f.Level, f.ID))
		}
	}
	section("Links:", links)
	section("Attachments:", attachments)
	section("Checks:", checks)

	text := b.String()
	local, domain, _ := strings.Cut(address, "@")
	if address != "" {
		text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(local)+`(@|%40|=)`+regexp.QuoteMeta(domain)).ReplaceAllString(text, "«inbox»")
		text = regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(local)+`\b`).ReplaceAllString(text, "«name»")
	}
	var codes []string
	if code, ok := m.Mail().Code(); ok {
		codes = append(codes, code.Value)
	}
	lines := strings.Split(find.Mask(text, codes...), "\n")
	for n, l := range lines {
		lines[n] = strings.TrimRight(l, " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// Options say where snapshots are, and what becomes of those that differ.
type Options struct {
	Dir    string // default: mails
	Update bool   // accept what differs
	CI     bool   // one that does not exist is an error
	State  string // directory in which the snapshots that were asked for are noted; "" for none
}

// MaxBytes is how large a snapshot may be: to compare takes many times as much memory.
const MaxBytes = 4 << 20

var validName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$`)

// Mismatch is the error of a message that differs from its snapshot.
type Mismatch struct {
	File  string
	Line  int    // of the file, the first that differs
	Words string // the lines that differ, and in them the words: [-removed-] and {+added+}
}

func (m *Mismatch) Error() string {
	return "the message differs from its snapshot " + m.File + ":\n" + m.Words
}

// Check compares a text with the snapshot of a name, and writes a snapshot that does not exist. It returns the file, and whether
// it was written.
func Check(name, text string, o Options) (file string, written bool, err error) {
	if o.Dir == "" {
		o.Dir = "mails"
	}
	if !validName.MatchString(name) {
		return "", false, fmt.Errorf("%q is no name for a snapshot: use letters, digits, spaces, and . _ -", name)
	}
	file = filepath.Join(o.Dir, name+".txt")
	if err := note(file, o.State); err != nil {
		return file, false, err
	}
	kept, err := files.ReadNamed(file, MaxBytes)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return file, false, err
	}
	differs := Compare(file, string(kept), text)
	if !missing && (differs == nil || !o.Update) {
		return file, false, differs
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return file, false, err
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return file, false, err
	}
	if missing && o.CI && !o.Update {
		return file, true, fmt.Errorf("there was no snapshot %s; it was written: commit it", file)
	}
	return file, true, nil
}

// Compare compares a text with the snapshot that was kept in a file. The error is a [Mismatch].
func Compare(file, kept, text string) error {
	before := strings.ReplaceAll(strings.TrimPrefix(kept, "\ufeff"), "\r\n", "\n") // as Git may check it out, or an editor save it
	if before == text {
		return nil
	}
	line, words := differences(before, text)
	return &Mismatch{file, line, words}
}

// differences returns the first line that differs, from 1, and all that differ, with their words marked.
func differences(before, after string) (line int, words string) {
	mark := func(text int, words string) string {
		return [2]string{"[-", "{+"}[text] + words + [2]string{"-]", "+}"}[text]
	}
	var b strings.Builder
	line = 1
	for _, p := range diff.Lines(strings.Split(before, "\n"), strings.Split(after, "\n"), mark) {
		if !p.Changed {
			if b.Len() == 0 {
				line += len(p.Lines[0])
			}
			continue
		}
		for side, sign := range [2]string{"- ", "+ "} {
			for _, l := range p.Lines[side] {
				b.WriteString(strings.TrimRight(sign+l, " ") + "\n")
			}
		}
	}
	return line, strings.TrimRight(b.String(), "\n")
}

const noted = "snapshots"

// note records that a snapshot was asked for.
func note(file, state string) error {
	if state == "" {
		return nil
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(state, noted), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(path + "\n")
	return errors.Join(err, f.Close())
}

// Unused returns the snapshots that no test has asked for, in the directories of those that were.
func Unused(state string) []string {
	list, err := os.ReadFile(filepath.Join(state, noted))
	if err != nil {
		return nil
	}
	asked := map[string]bool{}
	var dirs, unused []string
	for path := range strings.Lines(string(list)) {
		path = strings.TrimSuffix(path, "\n")
		asked[path] = true
		if dir := filepath.Dir(path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // one that is gone has none
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); filepath.Ext(path) == ".txt" && !asked[path] {
				unused = append(unused, path)
			}
		}
	}
	return unused
}
