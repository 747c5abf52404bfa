package reader

import (
	"mayfly/render/image"
)

// The reasons why an action is unavailable, as the screen shows them; "" if it is available.

// NeedOpen is the reason when no message is open on the screen.
func (p *Pane) NeedOpen() string {
	if p.Opened == nil || p.Rect.Empty() {
		return "Open a message first"
	}
	return ""
}

// NeedSearch is the reason when there is no search to end.
func (p *Pane) NeedSearch() string {
	if !p.search.On() {
		return "There is no search to end"
	}
	return ""
}

// NeedHits is the reason when the search has no hits; key is the one that searches.
func (p *Pane) NeedHits(key string) string {
	if p.search.Hits() == 0 {
		return "No search matches: " + key + " searches the message"
	}
	return ""
}

// NeedAttachments is the reason when there are no attachments to save.
func (p *Pane) NeedAttachments() string {
	if reason := p.NeedOpen(); reason != "" {
		return reason
	}
	if len(p.Opened.Files()) == 0 {
		return "This message has no attachments"
	}
	return ""
}

// NeedImages is the reason when no image can be shown. noRaw means that the service provides no raw
// messages.
func (p *Pane) NeedImages(noRaw bool) string {
	if reason := p.NeedOpen(); reason != "" {
		return reason
	}
	switch {
	case p.showImages:
		return ""
	case p.facts.here+p.facts.away == 0:
		return "This message has no embedded images; remote images are never loaded"
	case p.imageMode.Protocol == image.Off:
		return "This terminal has no colours to draw images with"
	case p.facts.here == 0 && (noRaw || p.rawErr != nil || p.Opened.Raw != nil):
		return "The images are missing: the service does not provide raw messages"
	}
	return ""
}
