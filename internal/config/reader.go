package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// reader reads a file expression by expression, so that one that is wrong leaves the others as they
// are.
type reader struct {
	path     string
	data     []byte
	settings []setting
	config   Config

	line  int            // where the expression begins
	table []string       // the table that the expressions are in
	skip  bool           // it is not known which one, or there is none of that name
	seen  map[string]int // the lines of the settings and tables so far, by name
}

func (r *reader) read() {
	broken := 0 // the last line that the parser needed to see that something is wrong
	for at := 0; at < len(r.data); {
		end := r.lineEnd(at)
		text := bytes.TrimSpace(r.data[at:end])
		if len(text) == 0 || text[0] == '#' {
			at = end
			continue
		}
		r.line = r.lineOf(at)
		var p unstable.Parser
		p.Reset(r.data[at:])
		if p.NextExpression() {
			at = r.lineEnd(at + r.expression(p.Expression()))
			continue
		}
		// Its other lines may be expressions of their own, when what is wrong is a missing bracket
		// or quote.
		broken = max(broken, r.unreadable(&p, at, string(text), broken))
		at = end
	}
}

// lineOf is the number of the line that has the byte at offset.
func (r *reader) lineOf(offset int) int { return bytes.Count(r.data[:offset], []byte("\n")) + 1 }

// lineEnd is where the line after the one with the byte at offset begins.
func (r *reader) lineEnd(offset int) int {
	if n := bytes.IndexByte(r.data[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(r.data)
}

func (r *reader) report(path []string, format string, args ...any) {
	r.config.Problems = append(r.config.Problems, Problem{r.path, r.line, dotted(path), fmt.Sprintf(format, args...)})
}

// expression reads an expression, and returns its length in bytes, or less when its end is on its
// first line.
func (r *reader) expression(e *unstable.Node) int {
	if e.Kind != unstable.KeyValue {
		r.header(names(e), e.Kind == unstable.ArrayTable)
		return 0
	}
	if !r.skip {
		r.keyValue(slices.Concat(r.table, names(e)), e)
	}
	return int(e.Raw.Offset + e.Raw.Length)
}

// header begins the table at path.
func (r *reader) header(path []string, array bool) {
	r.table = path
	s, known := find(r.settings, path)
	r.skip = !known
	switch {
	case s != nil:
		r.unwanted(s, path)
	case !known:
		r.unknown(path)
	case array:
		r.report(path, "a table begins with its name in single brackets: [%s]", dotted(path))
	case !r.again(path, "["+dotted(path)+"]"):
		r.seen["["+dotted(path)+"]"] = r.line
	}
}

// again reports what the file has a second time.
func (r *reader) again(path []string, name string) bool {
	first, again := r.seen[name]
	if again {
		r.report(path, "%s is there twice, first on line %d", name, first)
	}
	return again
}

// keyValue sets the setting at path, or those of an inline table.
func (r *reader) keyValue(path []string, e *unstable.Node) {
	s, table := find(r.settings, path)
	switch {
	case table && e.Value().Kind == unstable.InlineTable:
		for it := e.Value().Children(); it.Next(); {
			r.keyValue(slices.Concat(path, names(it.Node())), it.Node())
		}
	case table:
		r.report(path, "%s is a table, which begins with [%[1]s]", dotted(path))
	case s == nil:
		r.unknown(path)
	case !r.again(path, dotted(path)):
		r.set(s, path, value(e.Value()))
	}
}

func (r *reader) set(s *setting, path []string, value any) {
	name := ""
	if i := slices.Index(strings.Split(s.name, "."), "*"); i >= 0 {
		name = path[i]
	}
	err := s.set(&r.config, name, value)
	if errors.Is(err, errUnwanted) {
		r.unwanted(s, path)
		return
	}
	r.seen[dotted(path)] = r.line
	if err != nil {
		r.report(path, "%v", err)
	}
}

func (r *reader) unwanted(s *setting, path []string) {
	r.report(path, "%s takes %s", dotted(path[len(path)-1:]), s.want)
}

// names are the parts of the key of a table or a setting.
func names(e *unstable.Node) []string {
	var path []string
	for it := e.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
	}
	return path
}

// value is a node as a string, a bool, a list of them, or nil for what no setting takes.
func value(n *unstable.Node) any {
	switch n.Kind {
	case unstable.String:
		return string(n.Data)
	case unstable.Bool:
		return string(n.Data) == "true"
	case unstable.Array:
		list := []any{}
		for it := n.Children(); it.Next(); {
			list = append(list, value(it.Node()))
		}
		return list
	}
	return nil
}

// unknown reports that there is nothing at path, and what there is instead.
func (r *reader) unknown(path []string) {
	n := len(path) - 1
	for n > 0 && !isTable(r.settings, path[:n]) {
		n--
	}
	where := ""
	if n > 0 {
		where = " of [" + dotted(path[:n]) + "]"
	}
	r.report(path, "%q is not a setting%s; %s", path[n], where, r.instead(path[:n], path[n]))
}

// instead says what may have been meant by a name that the table does not have.
func (r *reader) instead(table []string, name string) string {
	for _, s := range r.settings {
		if home, ok := strings.CutSuffix("."+s.name, "."+name); ok {
			if home == "" {
				return "it belongs above the first table"
			}
			return "it belongs under [" + strings.ReplaceAll(home[1:], "*", "NAME") + "]"
		}
	}
	names := within(r.settings, table)
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(names, ", ")
}

// unreadable reports that what begins at offset, with a line of text, is not TOML. In lines that an
// earlier such expression may reach into, up to the line broken, only settings that are known are
// reported. It returns the line on which the parser stopped.
func (r *reader) unreadable(p *unstable.Parser, offset int, text string, broken int) int {
	stopped, why := r.line, ""
	if bad := (*unstable.ParserError)(nil); errors.As(p.Error(), &bad) {
		stopped = r.lineOf(offset + int(p.Range(bad.Highlight).Offset))
		why = ": " + bad.Message
	}
	key, _, assigned := strings.Cut(text, "=")
	path := slices.Concat(r.table, strings.Split(strings.TrimSpace(key), "."))
	s, _ := find(r.settings, path)
	switch {
	case assigned && s != nil && !r.skip:
		r.unwanted(s, path)
	case r.line <= broken:
	case strings.HasPrefix(text, "["):
		r.skip = true
		r.report(nil, "a table begins with its name in brackets, such as [ui], on a line of its own")
	default:
		r.report(nil, "this is not TOML%s", why)
	}
	return stopped
}

// dotted is path as it is written in a file.
func dotted(path []string) string {
	names := slices.Clone(path)
	for i, name := range names {
		if name == "" || strings.Trim(name, bareCharacters) != "" {
			names[i] = strconv.Quote(name)
		}
	}
	return strings.Join(names, ".")
}

const bareCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
