package term

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Open hands a URL or a file to the system's opener as one argument; no shell sees it. It returns
// when the opener ends, which may be when the user closes the browser, and the error says how it
// failed. The opener is left running when this program ends or is suspended.
func (e Env) Open(target string) error {
	command := e.opener(target)
	cmd := exec.Command(command[0], command[1:]...)
	Detach(cmd)
	name := filepath.Base(command[0])
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not installed", name)
	case err != nil:
		return fmt.Errorf("%s could not open it: %w", name, err)
	}
	return nil
}

// opener is the command that opens target.
func (e Env) opener(target string) []string {
	const handler = "url.dll,FileProtocolHandler"
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", target}
	case "windows":
		return []string{"rundll32", handler, target}
	}
	if command := e.browser(target); command != nil {
		return command
	}
	if distribution := e.Getenv("WSL_DISTRO_NAME"); distribution != "" {
		if installed("wslview") {
			return []string{"wslview", target}
		}
		if installed("rundll32.exe") {
			if filepath.IsAbs(target) { // a file, as Windows sees it
				target = `\\wsl.localhost\` + distribution + strings.ReplaceAll(target, "/", `\`)
			}
			return []string{"rundll32.exe", handler, target}
		}
	}
	return []string{"xdg-open", target}
}

// browser is the first command in BROWSER that is installed, nil without one. The variable has
// commands separated by colons; %s in an argument stands for the target, which otherwise comes last.
func (e Env) browser(target string) []string {
	for _, listed := range filepath.SplitList(e.Getenv("BROWSER")) {
		command := strings.Fields(listed)
		if len(command) == 0 || !installed(command[0]) {
			continue
		}
		if !strings.Contains(listed, "%s") {
			return append(command, target)
		}
		for i, argument := range command {
			command[i] = strings.ReplaceAll(argument, "%s", target)
		}
		return command
	}
	return nil
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
