package lexicon

import "unicode/utf8"

// trie holds the patterns of a language by their bytes. A search starts at every rune and takes few
// steps, so that scanning is linear in the text.
type trie struct {
	nodes []node
	ends  []end
	root  [256]int32 // children of the root by byte, 0 for none
	inner [256]bool  // bytes that begin a pattern which may start within a word
}

type node struct {
	child, next int32 // first child, next sibling; 0 for none
	end         int32 // first of its ends, 0 for none
	label       byte
}

type end struct {
	next               int32
	class              Class
	openStart, openEnd bool
}

func newTrie() *trie {
	return &trie{nodes: make([]node, 1, 4096), ends: make([]end, 1, 1024)}
}

func (t *trie) add(p pattern, c Class) {
	if p.bytes == "" {
		return
	}
	at := t.root[p.bytes[0]]
	if at == 0 {
		at = t.node(p.bytes[0])
		t.root[p.bytes[0]] = at
	}
	t.inner[p.bytes[0]] = t.inner[p.bytes[0]] || p.openStart
	for i := 1; i < len(p.bytes); i++ {
		next := t.child(at, p.bytes[i])
		if next == 0 {
			next = t.node(p.bytes[i])
			t.nodes[next].next = t.nodes[at].child
			t.nodes[at].child = next
		}
		at = next
	}
	t.ends = append(t.ends, end{next: t.nodes[at].end, class: c, openStart: p.openStart, openEnd: p.openEnd})
	t.nodes[at].end = int32(len(t.ends) - 1)
}

func (t *trie) node(label byte) int32 {
	t.nodes = append(t.nodes, node{label: label})
	return int32(len(t.nodes) - 1)
}

func (t *trie) child(at int32, label byte) int32 {
	for c := t.nodes[at].child; c != 0; c = t.nodes[c].next {
		if t.nodes[c].label == label {
			return c
		}
	}
	return 0
}

func (t *trie) scan(s string, yield func(Hit) bool) {
	m := matcher{trie: t, text: s, yield: yield}
	for i := 0; i < len(s) && !m.stopped; i++ {
		if s[i] == ' ' || !utf8.RuneStart(s[i]) {
			continue
		}
		at := t.root[s[i]]
		if at == 0 {
			continue
		}
		if m.atWord = boundary(s, i); m.atWord || t.inner[s[i]] {
			m.start = i
			m.walk(at, i+1)
		}
	}
}

// longestWord is how far a pattern with an open end reaches into a word, in bytes.
const longestWord = 60

type matcher struct {
	trie    *trie
	text    string
	yield   func(Hit) bool
	start   int
	atWord  bool // the search started at the start of a word
	stopped bool
}

// walk follows the text from i on, below the node at.
func (m *matcher) walk(at int32, i int) {
	for {
		m.report(at, i)
		if m.stopped {
			return
		}
		var next int32
		for c := m.trie.nodes[at].child; c != 0; c = m.trie.nodes[c].next {
			switch label := m.trie.nodes[c].label; {
			case label == rest, label == anyWord:
				if e := wordEnd(m.text, i); e >= 0 && (label == rest || e > i) {
					m.walk(c, e)
				}
			case i < len(m.text) && label == m.text[i]:
				next = c
			}
		}
		if next == 0 {
			return
		}
		at, i = next, i+1
	}
}

func (m *matcher) report(at int32, i int) {
	for e := m.trie.nodes[at].end; e != 0; e = m.trie.ends[e].next {
		end := &m.trie.ends[e]
		if !end.openStart && !m.atWord || !end.openEnd && !boundary(m.text, i) {
			continue
		}
		if !m.yield(Hit{Class: end.class, Start: m.start, End: i}) {
			m.stopped = true
			return
		}
	}
}

// wordEnd returns where the word at i ends, or -1 if that is too far.
func wordEnd(s string, i int) int {
	for j := i; j <= i+longestWord; j++ {
		if j >= len(s) || s[j] == ' ' {
			return j
		}
	}
	return -1
}
