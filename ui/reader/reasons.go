package reader

import (
	"mayfly/render/image"
)

// The reasons for which something cannot be done with the message now, in the words the screen
// shows; empty when it can.

// NeedOpen is the reason why nothing can be done with the body.
func (p *Pane) NeedOpen() string {
	if p.Opened == nil {
		return "Open a message first"
	}
	return ""
}

// needHits is the reason why there is no hit to go to; key is the one that searches.
func (p *Pane) needHits(key string) string {
	if len(p.search.hits) == 0 {
		return "No search matches: " + key + " searches the message"
	}
	return ""
}

// NeedAttachments is the reason why there are no attachments to save.
func (p *Pane) NeedAttachments() string {
	if reason := p.NeedOpen(); reason != "" {
		return reason
	}
	if len(p.Opened.Attachments) == 0 {
		return "This message has no attachments"
	}
	return ""
}

// needImages is the reason why no image can be shown. noRaw says that the service gives no raw
// messages.
func (p *Pane) needImages(noRaw bool) string {
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
