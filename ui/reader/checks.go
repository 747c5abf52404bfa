package reader

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/render/check"
	"mayfly/render/image"
	"mayfly/ui/dialog"
)

// findings are what the view of the checks lists; the block of a line is the number of its finding, from 1. There are
// none while the lines are those of the message without its raw form, which may have more.
func (p *Pane) findings() []check.Finding {
	if p.View != render.Checks || p.laidOut.view != render.Checks || p.Opened == nil || p.laidOut.raw != (p.Opened.Raw != nil) {
		return nil
	}
	return p.Opened.Mail().Findings()
}

// moveCheck moves the cursor by n over the checks, and scrolls to it. It reports whether there is one.
func (p *Pane) moveCheck(n int) bool {
	if len(p.findings()) == 0 {
		return false
	}
	before := p.check
	p.selectCheck(n)
	if p.check == before && n < 0 {
		p.top = 0 // to the head
		return true
	}
	first := slices.IndexFunc(p.lines, func(l render.Line) bool { return l.Block == p.check+1 })
	last := first
	for last+1 < len(p.lines) && p.lines[last+1].Block == p.check+1 {
		last++
	}
	p.reveal(last)
	p.reveal(first)
	return true
}

// selectCheck selects the check n places on, of those that are not folded.
func (p *Pane) selectCheck(n int) {
	var listed []int
	at := 0
	for i := range p.lines {
		if c := p.lines[i].Block - 1; c >= 0 && !slices.Contains(listed, c) {
			if listed = append(listed, c); c <= p.check {
				at = len(listed) - 1
			}
		}
	}
	if len(listed) > 0 {
		p.check = listed[max(0, min(at+n, len(listed)-1))]
	}
}

// RequireCheck is the reason when no check is selected; key is the one that shows the checks.
func (p *Pane) RequireCheck(key string) string {
	return dialog.Reason(len(p.findings()) == 0, "No finding selected: "+key+" shows the checks")
}

// ShowPlace goes to where the selected check is: in the HTML source, else in the view that has it. It
// returns the reason if there is no such place.
func (p *Pane) ShowPlace() (reason string) {
	f := p.findings()[p.check]
	switch {
	case f.Line > 0:
		p.ShowView(render.HTML)
		p.target, p.seeking = position{f.Line, f.Column}, true
	case f.Where == "header" || f.Where == "subject":
		p.ShowView(render.Headers)
	case f.Where == "text":
		p.ShowView(render.Text)
	default:
		return "This finding has no source location"
	}
	p.fromChecks = true
	return ""
}

// clickCheck selects a check, and goes to the place of the selected one.
func (p *Pane) clickCheck(n int) (reason string) {
	if n == p.check {
		return p.ShowPlace()
	}
	if n >= 0 { // no heading
		p.check = n
	}
	return ""
}

// seek finds the place that was gone to in new lines, and scrolls to it once.
func (p *Pane) seek() {
	p.targetLine = -1
	if p.laidOut.view != render.HTML || p.target == (position{}) {
		return
	}
	p.targetLine = p.lineOf(p.target)
	if p.seeking {
		p.seeking, p.top = false, max(0, p.targetLine-p.textHeight()/3)
	}
}

// marked reports whether a line is of the selected check, or has the place that was gone to.
func (p *Pane) marked(n int) bool {
	if p.laidOut.view == render.HTML {
		return n == p.targetLine && p.target != (position{})
	}
	return len(p.findings()) > 0 && p.lines[n].Block == p.check+1
}

// The reasons why an action is unavailable, as the screen shows them; "" if it is available.

// RequireOpen is the reason when no message is open on the screen.
func (p *Pane) RequireOpen() string {
	return dialog.Reason(p.Opened == nil || p.Rect.Empty(), "Open a message first")
}

// RequireSearch is the reason when there is no search to end.
func (p *Pane) RequireSearch() string {
	return dialog.Reason(!p.search.On(), "No search to clear")
}

// RequireHits is the reason when the search has no hits; key is the one that searches.
func (p *Pane) RequireHits(key string) string {
	return dialog.Reason(p.search.Hits() == 0, "No search matches: "+key+" searches the message")
}

// RequireAttachments is the reason when there are no attachments to save.
func (p *Pane) RequireAttachments() string {
	if reason := p.RequireOpen(); reason != "" || len(p.Opened.Files()) > 0 {
		return reason
	}
	return "This message has no attachments"
}

// RequireImages is why no image can be shown. With noRaw, the service provides no raw messages.
func (p *Pane) RequireImages(noRaw bool) string {
	switch reason := p.RequireOpen(); {
	case reason != "" || p.showImages:
		return reason
	case p.summary.images+p.summary.unfetched == 0:
		return "This message has no embedded images; remote images are never loaded"
	case p.imageMode.Protocol == image.Off:
		return "This terminal has no colours to draw images with"
	case p.summary.images == 0 && (noRaw || p.rawErr != nil || p.Opened.Raw != nil):
		return "The images are missing: the service does not provide raw messages"
	}
	return ""
}

// Labels labels every link on the screen that leads somewhere: typed as shown a label opens its link, in capitals it
// copies it. It returns nil if there is no link on the screen.
func (p *Pane) Labels(open func(render.Link) tea.Cmd, copyLink func(url string) tea.Cmd) dialog.Dialog {
	find := func() []dialog.Label { return p.labels(open, copyLink) }
	if find() == nil {
		return nil
	}
	return dialog.NewLabels(find)
}

func (p *Pane) labels(open func(render.Link) tea.Cmd, copyLink func(url string) tea.Cmd) []dialog.Label {
	var labels []dialog.Label
	seen := map[int]bool{}
	for y := p.Rect.Y + p.Rect.Top(); y < p.Rect.Y+p.Rect.H; y++ {
		line := p.lineAt(y)
		if line == nil {
			continue
		}
		for _, at := range line.Links {
			if l := p.link(at.N); l.URL != "" && !l.Nowhere && !seen[at.N] {
				seen[at.N] = true
				labels = append(labels, dialog.Label{
					X: p.Rect.X + 2 + at.Col, Y: y,
					Open: func() tea.Cmd { return open(l) }, Copy: func() tea.Cmd { return copyLink(l.URL) },
				})
			}
		}
	}
	return labels
}
