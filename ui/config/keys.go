package config

import (
	"fmt"
	"slices"
	"strings"
)

// bind checks the table [keys] and keeps what is right in it. A value is a key or a list of keys; an empty
// list takes an action's keys away.
func (c *Config) bind(name string, chosen map[string]any, actionKeys map[string][]string, lines map[string]int) {
	c.Keys = map[string][]string{}
	for _, path := range byLine(lines) {
		action, ok := strings.CutPrefix(path, "keys.")
		if !ok {
			continue
		}
		line := lines[path]
		if _, known := actionKeys[action]; !known {
			c.complain(name, line, fmt.Sprintf("no action is called %q%s", action, nearest(action, actionKeys)))
			continue
		}
		keys, err := keyList(chosen[action])
		if err != nil {
			c.complain(name, line, fmt.Sprintf("%s: %v", action, err))
			continue
		}
		c.Keys[action] = keys
	}
	c.clashes(name, actionKeys, lines)
}

func keyList(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case []any:
		keys := make([]string, 0, len(v))
		for _, k := range v {
			s, ok := k.(string)
			if !ok || s == "" {
				return nil, fmt.Errorf("%v is not a key", k)
			}
			keys = append(keys, s)
		}
		return keys, nil
	}
	return nil, fmt.Errorf("write a key such as \"ctrl+y\", or a list of keys")
}

// clashes reports keys that mean two actions, except where they usually do (in different panes),
// and drops the binding that the file adds.
func (c *Config) clashes(name string, usual map[string][]string, lines map[string]int) {
	after := func(action string) []string {
		if k, ok := c.Keys[action]; ok {
			return k
		}
		return usual[action]
	}
	actions := make([]string, 0, len(usual))
	for a := range usual {
		actions = append(actions, a)
	}
	slices.Sort(actions)
	for _, path := range byLine(lines) {
		action, ok := strings.CutPrefix(path, "keys.")
		if !ok || c.Keys[action] == nil {
			continue
		}
		c.Keys[action] = slices.DeleteFunc(slices.Clone(c.Keys[action]), func(key string) bool {
			for _, other := range actions {
				if other == action || !slices.Contains(after(other), key) || share(usual[action], usual[other]) {
					continue
				}
				c.complain(name, lines[path], fmt.Sprintf("%q is already the key of %s; %s goes without it", key, other, action))
				return true
			}
			return false
		})
	}
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(k string) bool { return slices.Contains(b, k) })
}

// nearest suggests the action whose name has most in common with a wrong one.
func nearest(wrong string, actionKeys map[string][]string) string {
	best, most := "", 2
	for a := range actionKeys {
		n := 0
		for n < min(len(a), len(wrong)) && a[n] == wrong[n] {
			n++
		}
		for _, word := range strings.Split(a, "-") {
			if strings.Contains(wrong, word) {
				n += len(word)
			}
		}
		if n > most || n == most && best != "" && a < best {
			best, most = a, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
