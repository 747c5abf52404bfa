package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/check"
)

// formatFlag lets a command print the findings of the checks as a CI system reads them.
func (f *viewFlags) formatFlag(cmd *cobra.Command) {
	choiceFlag(cmd, cmd.Flags(), &f.format, "format", "text", "`format` of what is printed: text, or the findings of the checks as github (annotations), sarif or junit",
		"text", "github", "sarif", "junit")
}

// findings writes what the checks found in a message, in the format of a CI system. Lines are those of an HTML file; those of a
// message are in its HTML part, which no system shows.
func (f *viewFlags) findings(w io.Writer, m *message.Message) error {
	found := m.Mail().Checks()
	file, lines := filepath.ToSlash(render.Clean(m.ID)), strings.HasSuffix(m.ID, ".html") || strings.HasSuffix(m.ID, ".htm")
	line := func(one check.Finding) int {
		if !lines {
			return 0
		}
		return one.Line
	}
	switch f.format {
	case "github":
		return annotations(w, file, found, line)
	case "sarif":
		return sarif(w, file, found, line)
	}
	return junit(w, file, found)
}

// annotations writes workflow commands of GitHub Actions.
func annotations(w io.Writer, file string, found []check.Finding, line func(check.Finding) int) error {
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, one := range found {
		at := ""
		if n := line(one); n > 0 {
			at = fmt.Sprintf(",line=%d", n)
		}
		level := map[check.Level]string{check.Error: "error", check.Warning: "warning"}[one.Level]
		if level == "" {
			level = "notice"
		}
		if _, err := fmt.Fprintf(w, "::%s file=%s%s,title=%s::%s\n", level, property.Replace(file), at, one.ID, text.Replace(render.Clean(one.Message))); err != nil {
			return err
		}
	}
	return nil
}

type object map[string]any

// sarif writes a log in the format SARIF 2.1.0.
func sarif(w io.Writer, file string, found []check.Finding, line func(check.Finding) int) error {
	results := []object{}
	for _, one := range found {
		level := "note"
		if one.Level >= check.Warning {
			level = one.Level.String()
		}
		place := object{"artifactLocation": object{"uri": file}}
		if n := line(one); n > 0 {
			place["region"] = object{"startLine": n}
		}
		results = append(results, object{
			"ruleId": one.ID, "level": level, "message": object{"text": render.Clean(one.Message)}, "locations": []object{{"physicalLocation": place}},
		})
	}
	return writeJSON(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "mayfly", "version": version()}}, "results": results}},
	})
}

// junit writes a suite with a failed test for each error and warning, and one that passed if there are none.
func junit(w io.Writer, file string, found []check.Finding) error {
	type failed struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
	}
	type test struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		Failure *failed `xml:"failure,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Cases    []test   `xml:"testcase"`
	}{Name: "mayfly"}
	for _, one := range found {
		if one.Level >= check.Warning {
			suite.Cases = append(suite.Cases, test{file, one.ID, &failed{render.Clean(one.Message), one.Level.String()}})
		}
	}
	if suite.Failures = len(suite.Cases); suite.Failures == 0 {
		suite.Cases = []test{{file, "checks", nil}}
	}
	suite.Tests = len(suite.Cases)
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
