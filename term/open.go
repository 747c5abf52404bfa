package term

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"
)

// openTimeout is how long an opener is watched for a failure.
const openTimeout = 2 * time.Second

// Open hands a URL or a file to the system's opener as one argument; no shell sees it. An opener that
// ends with a status other than 0 within two seconds is an error. One that is still running then, or
// when ctx ends, has opened its target and goes on by itself.
func (e Env) Open(ctx context.Context, target string) error {
	name, args := e.opener()
	cmd := exec.Command(name, append(args, target)...)
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("nothing here opens links: %s is not installed", name)
	} else if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the opener, which may be the browser itself
	watched := time.NewTimer(openTimeout)
	defer watched.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s could not open it: %w", name, err)
		}
	case <-watched.C:
	case <-ctx.Done():
	}
	return nil
}

func (e Env) opener() (name string, args []string) {
	switch runtime.GOOS {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	if browser := e.Getenv("BROWSER"); browser != "" {
		if path, err := exec.LookPath(browser); err == nil {
			return path, nil
		}
	}
	return "xdg-open", nil
}
