package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is config.toml as it is written.
type document struct {
	Profile  string             `toml:"profile"`
	Profiles map[string]Profile `toml:"profiles"`
	Local    Local              `toml:"local"`
	Relay    Relay              `toml:"relay"`
	UI       UI                 `toml:"ui"`
	Browser  Browser            `toml:"browser"`
	Checks   Checks             `toml:"checks"`
	Keys     map[string]keyList `toml:"keys"`
	Commands map[string]string  `toml:"commands"`
}

// keyList is a key or a list of keys.
type keyList []string

func (l *keyList) UnmarshalTOML(value []byte) error {
	var list struct{ Keys []string }
	if toml.Unmarshal(slices.Concat([]byte("keys = "), value), &list) != nil &&
		toml.Unmarshal(slices.Concat([]byte("keys = ["), value, []byte("]")), &list) != nil {
		return errors.New("neither a key nor a list of keys")
	}
	*l = list.Keys
	return nil
}

// reader decodes a file statement by statement, so that an error in one hides no other and takes no
// other setting away.
type reader struct {
	path     string
	document document
	problems []Problem
	line     int            // where the statement begins
	lines    map[string]int // where each setting and table begins, by its dotted name
	table    []string       // the table that the statement is in
	header   []byte         // its header
	skip     bool           // there is no such table
}

func (r *reader) report(key []string, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.path, r.line, dotted(key), fmt.Sprintf(format, args...)})
}

// read reads all statements of a file.
func (r *reader) read(data []byte) {
	unclear := 0 // the last line that may belong to a broken statement above
	for r.line = 1; len(data) > 0; {
		length, broken := 0, (*unstable.ParserError)(nil)
		first, _, _ := bytes.Cut(data, []byte("\n"))
		if first = bytes.TrimSpace(first); len(first) > 0 && first[0] != '#' {
			var p unstable.Parser
			p.Reset(data)
			if p.NextExpression() {
				length = r.statement(p.Expression(), data)
			} else if errors.As(p.Error(), &broken) {
				r.unreadable(string(first), broken.Message, r.line > unclear)
				unclear = max(unclear, r.line+bytes.Count(data[:p.Range(broken.Highlight).Offset], []byte("\n")))
			}
		}
		if end := bytes.IndexByte(data[length:], '\n'); end >= 0 {
			length += end + 1
		} else {
			length = len(data)
		}
		r.line += bytes.Count(data[:length], []byte("\n"))
		data = data[length:]
	}
}

// statement decodes the statement that data begins with, and returns its length in bytes, or less when it ends on its first line.
func (r *reader) statement(e *unstable.Node, data []byte) int {
	if e.Kind == unstable.KeyValue {
		if !r.skip {
			r.keyValue(r.table, r.header, e, data)
		}
		return int(e.Raw.Offset + e.Raw.Length)
	}
	header, _, _ := bytes.Cut(data, []byte("\n"))
	r.table, _ = names(e)
	r.header = slices.Concat(header, []byte("\n"))
	r.skip = !r.again(r.table, "[%s]") && !r.decode(r.table, r.header)
	return 0
}

// names returns the names of a key, and where it ends.
func names(e *unstable.Node) (key []string, end uint32) {
	for it := e.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
		end = it.Node().Raw.Offset + it.Node().Raw.Length
	}
	return key, end
}

// keyValue decodes a setting of a table, which data has after the text before. An inline table is decoded as one in brackets is:
// first the table, and then each of its settings.
func (r *reader) keyValue(table []string, before []byte, e *unstable.Node, data []byte) {
	key, end := names(e)
	key = slices.Concat(table, key)
	if r.again(key, "%s") {
		return
	}
	if _, isSetting := find(key); isSetting || e.Value().Kind != unstable.InlineTable || len(within(key)) == 0 {
		if !r.decode(key, slices.Concat(before, data[e.Raw.Offset:e.Raw.Offset+e.Raw.Length])) {
			delete(r.lines, dotted(key))
		}
		return
	}
	before = slices.Concat(before, data[e.Raw.Offset:end])
	r.decode(key, slices.Concat(before, []byte(" = {}")))
	for it := e.Value().Children(); it.Next(); {
		r.keyValue(key, slices.Concat(before, []byte(".")), it.Node(), data)
	}
}

// again reports a setting or table, written in a format, that is in the file twice.
func (r *reader) again(key []string, format string) bool {
	name := fmt.Sprintf(format, dotted(key))
	first, again := r.lines[name]
	if again {
		r.report(key, "%s is set twice, first on line %d", name, first)
	} else {
		r.lines[name] = r.line
	}
	return again
}

// decode reads a statement, and reports whether all of it is known.
func (r *reader) decode(key []string, text []byte) bool {
	if _, isSetting := find(key); !isSetting && len(within(key)) == 0 {
		r.unknown(key)
		return false
	}
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().EnableUnmarshalerInterface().Decode(&r.document)
	var missing *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &missing):
		for _, e := range missing.Errors {
			r.unknown(e.Key())
		}
	case errors.As(err, &wrong):
		r.takes(wrong.Key())
	case err != nil:
		r.takes(key)
	}
	return err == nil
}

// takes reports a value that does not fit its key, and what the key takes.
func (r *reader) takes(key []string) {
	if s, ok := find(key); ok {
		r.report(key, "%s takes %s", dotted(key[len(key)-1:]), s.takes)
	} else {
		r.report(key, "%s is a table, which begins with [%[1]s]", dotted(key))
	}
}

// unknown reports an unknown setting, and the names that exist.
func (r *reader) unknown(key []string) {
	n := len(key) - 1
	for n > 0 && len(within(key[:n])) == 0 {
		n--
	}
	table := ""
	if n > 0 {
		table = " of [" + dotted(key[:n]) + "]"
	}
	instead := "there are " + strings.Join(within(key[:n]), ", ")
	for _, s := range settings() {
		if s.name == key[n] {
			instead = "it belongs above the first table"
		} else if home, ok := strings.CutSuffix(s.name, "."+key[n]); ok {
			instead = "it belongs under [" + strings.ReplaceAll(home, "*", "NAME") + "]"
		}
	}
	r.report(key, "%q is not a setting%s; %s", key[n], table, instead)
}

// unreadable reports a line that is not TOML. Where it may be the rest of a statement above, it is reported only if it gives a
// setting that is known.
func (r *reader) unreadable(text, why string, first bool) {
	name, _, assigned := strings.Cut(text, "=")
	key := slices.Concat(r.table, strings.Split(strings.TrimSpace(name), "."))
	_, isSetting := find(key)
	switch {
	case assigned && isSetting && !r.skip:
		r.takes(key)
	case !first:
	case strings.HasPrefix(text, "["):
		r.skip, r.table = true, nil
		r.report(nil, "a table begins with its name in brackets, such as [ui], on a line of its own")
	default:
		r.report(r.table, "this is not TOML: %s", why)
	}
}

// dotted is a key as it is written in a file.
func dotted(key []string) string {
	names := slices.Clone(key)
	for i, name := range names {
		if name == "" || strings.Trim(name, bareCharacters) != "" {
			names[i] = strconv.Quote(name)
		}
	}
	return strings.Join(names, ".")
}

const bareCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
