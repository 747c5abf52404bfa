package ui

import (
	"context"
	"strings"

	"mayfly/api"
	"mayfly/ui/safecopy"
)

// attachmentAt is an attachment and the message it belongs to.
type attachmentAt struct {
	inboxID, messageID string
	attachment         api.Attachment
}

// mostImages bounds the inline images that are fetched for a copy.
const mostImages = 20

// inlineImages fetches the images that the HTML of a message shows by their content IDs. One that cannot be
// had is left out: the copy shows its alternative text.
func inlineImages(ctx context.Context, c *api.Client, inboxID string, msg api.Message) []safecopy.Image {
	var out []safecopy.Image
	for _, at := range msg.Attachments {
		if at.ContentID == "" || !strings.HasPrefix(at.ContentType, "image/") || len(out) == mostImages {
			continue
		}
		content, err := c.AttachmentContent(ctx, inboxID, msg.ID, at)
		if err != nil {
			continue
		}
		out = append(out, safecopy.Image{ContentID: at.ContentID, Type: at.ContentType, Content: content})
	}
	return out
}

// bytesText tells a size.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return itoa(int(n)) + " B"
	case n < 1000*1000:
		return itoa(int(n+500)/1000) + " KB"
	}
	return itoa(int(n/1000/1000)) + "." + itoa(int(n/1000/100%10)) + " MB"
}
