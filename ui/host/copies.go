package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"mayfly/api"
	"mayfly/internal/browser"
	"mayfly/internal/message"
)

// Copies are the copies made by one run of the program. The zero value is ready to use.
type Copies struct {
	mu    sync.Mutex
	dir   string
	count int
}

// folder makes the folder of the copies.
func (c *Copies) folder() (err error) {
	if c.dir == "" {
		c.dir, err = os.MkdirTemp("", "mayfly-copy-") // mode 0700
	}
	return err
}

// Attachment writes an attachment of a message and returns its path.
func (c *Copies) Attachment(m *message.Message, i int, content []byte) (path string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.folder(); err != nil {
		return "", fmt.Errorf("writing the attachment: %w", err)
	}
	file, err := m.SaveAttachment(c.dir, i, content)
	return file.Path, err
}

// Write writes a copy and returns its path.
func (c *Copies) Write(p browser.Page) (path string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err = c.folder(); err == nil {
		c.count++
		path = filepath.Join(c.dir, fmt.Sprintf("mail-%d.html", c.count))
		err = os.WriteFile(path, []byte(browser.SafeCopy(p)), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("writing a copy: %w", err)
	}
	return path, nil
}

// Remove removes every copy.
func (c *Copies) Remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		return nil
	}
	dir := c.dir
	c.dir = ""
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the copies: %w", err)
	}
	return nil
}

// maxImages bounds the inline images fetched for a page.
const maxImages = 20

// PageOf returns a message as a page, with the images that its HTML refers to by content ID. One that cannot be
// fetched is left out, and the page shows its alternative text. The client may be nil for a message from a file.
func PageOf(ctx context.Context, c *api.Client, m *message.Message) browser.Page {
	page := browser.Page{Subject: m.Subject, From: m.From.Addr, To: m.Recipients(), Text: m.Text, HTML: m.HTML}
	for i, at := range m.Attachments {
		if at.ContentID == "" || !strings.HasPrefix(at.ContentType, "image/") || len(page.Images) == maxImages {
			continue
		}
		if content, err := m.AttachmentContent(ctx, c, i); err == nil {
			page.Images = append(page.Images, browser.InlineImage{ContentID: at.ContentID, Type: at.ContentType, Content: content})
		}
	}
	return page
}
