package render

import (
	"fmt"
	"strings"
)

// Notice returns what a reader should know about the view, one fact per line: what was not loaded,
// what is hidden.
func (m *Mail) Notice() []string {
	var lines []string
	d := m.body
	if d.Simplified != "" {
		lines = append(lines, "simplified view: "+d.Simplified)
	}
	images, trackers := 0, 0
	for i := range d.Images {
		switch {
		case d.Images[i].Tracker:
			trackers++
		case d.Images[i].Remote:
			images++
		}
	}
	var remote []string
	if images > 0 {
		remote = append(remote, count(images, "remote image"))
	}
	if trackers > 0 {
		remote = append(remote, count(trackers, "tracker"))
	}
	if remote != nil {
		lines = append(lines, strings.Join(remote, ", ")+": not loaded")
	}
	if d.HiddenBytes > 0 {
		lines = append(lines, "hidden text: "+Bytes(d.HiddenBytes))
	}
	blocked := 0
	for i := range d.Links {
		if d.Links[i].Blocked {
			blocked++
		}
	}
	if blocked > 0 {
		lines = append(lines, count(blocked, "link")+" blocked: not a web or mail address")
	}
	if d.Scripts > 0 {
		lines = append(lines, count(d.Scripts, "script")+": not run")
	}
	if d.Forms > 0 {
		lines = append(lines, count(d.Forms, "form")+": not sent")
	}
	return lines
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Bytes formats a number of bytes for people.
func Bytes(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
