package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"mayfly/internal/config"
	"mayfly/internal/server"
)

// config reads config.toml, once. What is wrong in it goes to stderr, unless the command shows that
// itself.
func (a *app) config() config.Config {
	a.configOnce.Do(func() {
		a.conf = config.Read(a.configFile(), a.usualKeys)
		a.checkRelay()
		if a.showsProblems {
			return
		}
		for _, p := range a.conf.Problems {
			fmt.Fprintln(a.env.Stderr, errorLine(errors.New(p.String())))
		}
	})
	return a.conf
}

// checkRelay finds the file with the relay's password, from the folder of config.toml, and leaves
// out a relay that cannot work, so that the local service runs without.
func (a *app) checkRelay() {
	r := &a.conf.Relay
	if rest, ok := strings.CutPrefix(r.PasswordFile, "~/"); ok {
		r.PasswordFile = filepath.Join(xdg.Home, rest)
	} else if r.PasswordFile != "" && !filepath.IsAbs(r.PasswordFile) {
		r.PasswordFile = filepath.Join(filepath.Dir(a.configFile()), r.PasswordFile)
	}
	err := server.Relay(*r).Check([]string{server.Domain})
	if err == nil {
		return
	}
	for fault := range strings.Lines(err.Error()) {
		a.conf.Problems = append(a.conf.Problems, config.Problem{File: a.configFile(), Setting: "relay", Text: strings.TrimSpace(fault)})
	}
	*r = config.Relay{}
}
