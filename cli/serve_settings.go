package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// loadServeSettings sets the flags that are not on the command line, from the environment or else
// from a TOML file, where a table's name and that of a setting in it are the flag's. It reports
// everything that is wrong.
func (a *app) loadServeSettings(flags *pflag.FlagSet, file string) error {
	tables, settings := map[string]any{}, map[string]any{}
	var errs []error
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := toml.Unmarshal(text, &tables); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	var flatten func(prefix string, table map[string]any)
	flatten = func(prefix string, table map[string]any) {
		for name, value := range table {
			name = prefix + name
			if inner, ok := value.(map[string]any); ok {
				flatten(name+"_", inner)
			} else if _, twice := settings[name]; twice {
				errs = append(errs, fmt.Errorf("%s: %s is there twice", file, name))
			} else {
				settings[name] = value
			}
		}
	}
	flatten("", tables)
	set := func(f *pflag.Flag, source, value string) {
		err := flags.Set(f.Name, value)
		if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
			err = invalidValue(invalid)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %w", source, err))
		}
	}
	flags.VisitAll(func(f *pflag.Flag) {
		name := strings.ReplaceAll(f.Name, "-", "_")
		setting, inFile := settings[name]
		delete(settings, name)
		if f.Changed {
			return
		}
		variable := "MAYFLY_SERVE_" + strings.ToUpper(name)
		if value := a.env.Getenv(variable); value != "" {
			set(f, variable, value)
		} else if inFile {
			set(f, file+": "+name, settingText(setting))
		}
	})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		errs = append(errs, fmt.Errorf("%s: there is no setting %s", file, name))
	}
	if len(errs) > 0 {
		return a.usageErrors(errors.Join(errs...))
	}
	return nil
}

// settingText formats a value of the file as on the command line.
func settingText(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ",")
}
