package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func bind(keys, usualKeys map[string][]string, action string, v any) error {
	if usualKeys == nil {
		return nil
	}
	if _, known := usualKeys[action]; !known {
		err := fmt.Errorf("no action is called %q", action)
		if near := nearest(action, slices.Sorted(maps.Keys(usualKeys))); near != "" {
			err = fmt.Errorf("%w; did you mean %q?", err, near)
		}
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	chosen := []string{}
	var wrong []string
	for _, v := range list {
		key, ok := v.(string)
		if !ok {
			return errUnwanted
		}
		if !isKey(key) {
			wrong = append(wrong, strconv.Quote(key))
			continue
		}
		chosen = append(chosen, key)
	}
	if len(chosen) > 0 || len(list) == 0 {
		keys[action] = chosen
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %w", action, noKey(wrong...))
	}
	return nil
}

// noKey says that there are no such keys, given in quotes.
func noKey(names ...string) error {
	return fmt.Errorf(`there is no key %s; a key is written such as "c", "ctrl+y" or "f2"`, strings.Join(names, ", "))
}

// addCommand gives a key the shell command that v is.
func addCommand(c *Config, key string, v any) error {
	line, ok := v.(string)
	if !ok || strings.TrimSpace(line) == "" {
		return errUnwanted
	}
	if !isKey(key) {
		return noKey(strconv.Quote(key))
	}
	c.Commands = append(c.Commands, Command{key, strings.TrimSpace(line)})
	return nil
}

// isKey reports whether key is written as the terminal application names keys: one character or a
// name, after modifiers in this order.
func isKey(key string) bool {
	for _, modifier := range []string{"ctrl+", "alt+", "shift+", "meta+", "hyper+", "super+"} {
		key = strings.TrimPrefix(key, modifier)
	}
	return utf8.RuneCountInString(key) == 1 && key != " " || slices.Contains(strings.Fields(keyNames), key)
}

const keyNames = "enter tab backspace esc space up down left right home end pgup pgdown insert delete begin find select menu " +
	"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f20"

// dropClashes reports keys that mean two actions, unless these usually share a key (in different
// panes), and takes them from the action or the command that the file gave them.
func (r *reader) dropClashes(usualKeys map[string][]string) {
	now := maps.Clone(usualKeys)
	maps.Copy(now, r.config.Keys)
	line := func(action string) int { return r.seen[dotted([]string{"keys", action})] }
	changed := slices.SortedFunc(maps.Keys(r.config.Keys), func(a, b string) int { return cmp.Or(line(a)-line(b), cmp.Compare(a, b)) })
	for _, action := range changed {
		r.line = line(action)
		now[action] = slices.DeleteFunc(now[action], func(key string) bool {
			for _, other := range slices.Sorted(maps.Keys(usualKeys)) {
				if other != action && slices.Contains(now[other], key) && !overlap(usualKeys[action], usualKeys[other]) {
					r.report([]string{"keys", action}, "%q is already the key of %s; %s goes without it", key, other, action)
					return true
				}
			}
			return false
		})
		r.config.Keys[action] = now[action]
	}
	r.config.Commands = slices.DeleteFunc(r.config.Commands, func(c Command) bool { return r.clashes(c, now) })
}

// clashes reports a command whose key is that of an action.
func (r *reader) clashes(c Command, keys map[string][]string) bool {
	path := []string{"commands", c.Key}
	for _, action := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(keys[action], c.Key) {
			r.line = r.seen[dotted(path)]
			r.report(path, "%q is already the key of %s; the command goes without it unless [keys] gives %[2]s another", c.Key, action)
			return true
		}
	}
	return false
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(k string) bool { return slices.Contains(b, k) })
}

// nearest is the one of names that has most in common with a wrong name, "" when none has much.
func nearest(wrong string, names []string) string {
	best, most := "", 2
	for _, listed := range names {
		name, n := strings.Trim(listed, "[]"), 0
		for n < min(len(name), len(wrong)) && name[n] == wrong[n] {
			n++
		}
		for word := range strings.SplitSeq(name, "-") {
			if strings.Contains(wrong, word) {
				n += len(word)
			}
		}
		if n > most {
			best, most = listed, n
		}
	}
	return best
}
