package ui

import (
	"context"
	"errors"
	"strings"

	"mayfly/api"
	"mayfly/ui/safecopy"
)

// attachmentAt is an attachment and the message it belongs to.
type attachmentAt struct {
	inboxID, messageID string
	attachment         api.Attachment
}

// rawMessage fetches the raw message; a service that does not give it cannot be saved from.
func rawMessage(ctx context.Context, c *api.Client, inboxID, id string) ([]byte, error) {
	raw, err := c.Raw(ctx, inboxID, id)
	if errors.Is(err, api.ErrUnsupported) {
		return nil, errors.New("this service does not hand out messages as they were received: b opens a copy to save")
	}
	return raw, err
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
