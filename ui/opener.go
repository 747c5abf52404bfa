package ui

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
)

// openWithSystem hands a URL or a file to the system's opener as its one argument; no shell sees it.
func openWithSystem(target string) error {
	name, args := opener()
	cmd := exec.Command(name, append(args, target)...)
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("nothing here opens links: %s is not installed", name)
		}
		return fmt.Errorf("open %s: %w", name, err)
	}
	go func() { _ = cmd.Wait() }() // the opener lives as long as it likes; only its entry is collected
	return nil
}

func opener() (name string, args []string) {
	switch runtime.GOOS {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	if browser := os.Getenv("BROWSER"); browser != "" {
		if path, err := exec.LookPath(browser); err == nil {
			return path, nil
		}
	}
	return "xdg-open", nil
}

// webURL checks that a link of a mail may be handed to a browser: absolute, http or https, with a host.
func webURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("the link is not a URL that can be opened")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("only http and https links are opened: shift and its label copies it")
	}
	return u, nil
}
