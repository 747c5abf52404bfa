package host

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"mayfly/internal/message"
)

// Copies are the copies made by one run of the program. The zero value is ready to use.
type Copies struct {
	mu  sync.Mutex
	dir string
}

// makeDir creates the directory of the copies once and returns it; only the user can read it.
func (c *Copies) makeDir() (_ string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		c.dir, err = os.MkdirTemp("", "mayfly-copy-") // mode 0700
	}
	return c.dir, err
}

// Attachment writes an attachment of a message and returns its path.
func (c *Copies) Attachment(m *message.Message, i int, content []byte) (path string, err error) {
	dir, err := c.makeDir()
	if err != nil {
		return "", fmt.Errorf("writing the attachment: %w", err)
	}
	file, err := m.SaveAttachment(dir, i, content)
	return file.Path, err
}

// Write writes a page and returns its path.
func (c *Copies) Write(page string) (path string, err error) {
	dir, err := c.makeDir()
	if err == nil {
		path = filepath.Join(dir, "mail-"+rand.Text()+".html")
		err = os.WriteFile(path, []byte(page), 0o600)
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
	err := os.RemoveAll(c.dir) // of "": nothing
	c.dir = ""
	return err
}
