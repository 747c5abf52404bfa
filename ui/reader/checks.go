package reader

import (
	"mayfly/render"
	"mayfly/render/check"
)

// findings are what the view of the checks lists, one for each block of its lines.
func (p *Pane) findings() []check.Finding {
	if p.View != render.Checks || p.laidOut.view != render.Checks || p.Opened == nil {
		return nil
	}
	return p.Opened.Mail().Checks()
}

// moveCheck moves the cursor over the checks by n, and scrolls to where it is. It reports whether
// there is one.
func (p *Pane) moveCheck(n int) bool {
	count := len(p.findings())
	if count == 0 {
		return false
	}
	before := p.check
	p.check = max(0, min(p.check+n, count-1))
	if p.check == before && n < 0 {
		p.top = 0 // to the head
		return true
	}
	first, last := -1, -1
	for i := range p.lines {
		if p.lines[i].Block == p.check+1 {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	p.reveal(last)
	p.reveal(first)
	return true
}

// NeedCheck is the reason when no check is selected; key is the one that shows the checks.
func (p *Pane) NeedCheck(key string) string {
	if len(p.findings()) == 0 {
		return "Only a check has a place to go to: " + key + " shows the checks"
	}
	return ""
}

// ShowPlace goes to where the selected check is: in the HTML source, else in the view that has it. It
// returns the reason if there is no such place.
func (p *Pane) ShowPlace() (reason string) {
	f := p.findings()[p.check]
	switch {
	case f.Line > 0:
		p.ShowView(render.HTML)
		p.target, p.seeking = place{f.Line, f.Column}, true
	case f.Where == "header" || f.Where == "subject":
		p.ShowView(render.Headers)
	case f.Where == "text":
		p.ShowView(render.Text)
	default:
		return "This check has no place in the source"
	}
	p.fromChecks = true
	return ""
}

// clickCheck selects a check, and goes to the place of the selected one.
func (p *Pane) clickCheck(n int) (reason string) {
	if n == p.check {
		return p.ShowPlace()
	}
	p.check = n
	return ""
}

// seek finds the place that was gone to in new lines, and scrolls to it once.
func (p *Pane) seek() {
	p.targetLine = -1
	if p.laidOut.view != render.HTML || p.target == (place{}) {
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
		return n == p.targetLine && p.target != (place{})
	}
	return len(p.findings()) > 0 && p.lines[n].Block == p.check+1
}
