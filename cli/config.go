package cli

import (
	"errors"
	"fmt"

	"mayfly/config"
	"mayfly/ui"
)

// config reads config.toml, once. What is wrong in it goes to stderr, unless the command shows that
// itself.
func (a *app) config() config.Config {
	a.configOnce.Do(func() {
		a.conf = config.Read(a.configFile(), ui.Keys())
		if a.showsProblems {
			return
		}
		for _, p := range a.conf.Problems {
			fmt.Fprintln(a.env.Stderr, errorLine(errors.New(p.String())))
		}
	})
	return a.conf
}
