package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"mayfly/internal/fortest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares the cells of the screen with a file: its text, then a letter for the style of
// each cell.
func (h *harness) golden(name string) {
	h.t.Helper()
	got := h.cells()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		fortest.Must(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
		fortest.Must(h.t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatalf("%v: go test ./ui -update writes it", err)
	}
	if got != string(want) {
		h.t.Errorf("%s differs from the screen (go test ./ui -update writes it anew):\n%s", path, udiff.Unified(path, "the screen", string(want), got))
	}
}

// cells writes down the screen: its text, then a letter for the style of each cell, then what the
// letters stand for.
func (h *harness) cells() string {
	buf := h.screen()
	styles := map[string]byte{}
	var legend []string
	var text, styled strings.Builder
	for y := range h.app.height {
		cells, style := make([]string, h.app.width), make([]byte, h.app.width)
		for x := range h.app.width {
			style[x] = '.'
			c := buf.CellAt(x, y)
			if c == nil {
				continue
			}
			cells[x] = c.Content
			seq := c.Style.String()
			if seq == "" {
				continue
			}
			letter, ok := styles[seq]
			if !ok {
				letter = byte('a' + len(styles))
				styles[seq] = letter
				legend = append(legend, fmt.Sprintf("%c %q", letter, seq))
			}
			style[x] = letter
		}
		mask(cells, style)
		text.WriteString(strings.TrimRight(strings.Join(cells, ""), " ") + "\n")
		styled.WriteString(strings.TrimRight(string(style), ".") + "\n")
	}
	slices.Sort(legend)
	return text.String() + "\n" + styled.String() + "\n" + strings.Join(legend, "\n") + "\n"
}

// varying is what differs from run to run: the jitter of the next request.
var varying = regexp.MustCompile(` {2,}[^│]*: retry in \d+ s.*| *in \d+ s *`)

// mask covers what differs from run to run.
func mask(cells []string, style []byte) {
	row := strings.Join(cells, "")
	at := varying.FindStringIndex(row)
	if at == nil {
		return
	}
	pos := 0
	for x, c := range cells {
		if pos >= at[0] && pos < at[1] && c != "" {
			cells[x], style[x] = "~", '.'
		}
		pos += len(c)
	}
}
