package cli

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/check"
)

const findingsFormat = "`format` of what is printed: text, or the findings of the checks as github (annotations), sarif or junit"

// formatFlag lets a command print what it found as a CI system reads it.
func formatFlag(cmd *cobra.Command, format *string, usage string) {
	choiceFlag(cmd, cmd.Flags(), format, "format", "text", usage, "text", "github", "sarif", "junit")
}

// examined is a file or a message, and what was found in it.
type examined struct {
	file     string // "" for a message
	name, by string // by the checks, or by comparing it
	findings []check.Finding
}

// examine is what the checks find in a message. Lines are those of an HTML file; those of a message are in its HTML part, which
// no system shows. A message has its subject as name, which is the same in each run.
func examine(m *message.Message) examined {
	name := filepath.ToSlash(m.ID)
	e := examined{name, name, "checks", slices.Clone(m.Mail().Checks())}
	if m.InboxID != "" {
		e.file, e.name = "", cmp.Or(m.Subject, name)
	}
	if ext := strings.ToLower(filepath.Ext(m.ID)); ext != ".html" && ext != ".htm" {
		for i := range e.findings {
			e.findings[i].Line = 0
		}
	}
	return e
}

// writeFindings writes what was found in files in the format of a CI system.
func writeFindings(w io.Writer, format string, all ...examined) error {
	for i := range all {
		all[i].file, all[i].name = render.Clean(all[i].file), render.Clean(all[i].name)
		for j, one := range all[i].findings {
			lines := strings.Split(one.Message, "\n")
			for n, l := range lines {
				lines[n] = render.Clean(l)
			}
			all[i].findings[j].Message = strings.Join(lines, "\n")
		}
	}
	switch format {
	case "github":
		return annotations(w, all)
	case "sarif":
		return sarif(w, all)
	}
	return junit(w, all)
}

// levelOf is error, warning or what a format calls everything below.
func levelOf(f check.Finding, below string) string {
	if f.Level >= check.Warning {
		return f.Level.String()
	}
	return below
}

// annotations writes workflow commands of GitHub Actions.
func annotations(w io.Writer, all []examined) error {
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, e := range all {
		for _, one := range e.findings {
			at := "title=" + one.ID
			if one.Line > 0 {
				at = fmt.Sprintf("line=%d,%s", one.Line, at)
			}
			if e.file != "" {
				at = "file=" + property.Replace(e.file) + "," + at
			} else {
				at += property.Replace(" in “" + e.name + "”")
			}
			if _, err := fmt.Fprintf(w, "::%s %s::%s\n", levelOf(one, "notice"), at, text.Replace(one.Message)); err != nil {
				return err
			}
		}
	}
	return nil
}

type object map[string]any

// sarif writes a log in the format SARIF 2.1.0.
func sarif(w io.Writer, all []examined) error {
	results := []object{}
	for _, e := range all {
		for _, one := range e.findings {
			place := object{"artifactLocation": object{"uri": cmp.Or(e.file, url.PathEscape(e.name))}}
			if one.Line > 0 {
				place["region"] = object{"startLine": one.Line}
			}
			results = append(results, object{
				"ruleId": one.ID, "level": levelOf(one, "note"), "message": object{"text": one.Message}, "locations": []object{{"physicalLocation": place}},
			})
		}
	}
	return writeJSON(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "mayfly", "version": version()}}, "results": results}},
	})
}

// junit writes a suite with a failed test for each error and warning, and one that passed for each file without any.
func junit(w io.Writer, all []examined) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type test struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Cases    []test   `xml:"testcase"`
	}{Name: "mayfly"}
	for _, e := range all {
		failures := suite.Failures
		for _, one := range e.findings {
			if one.Level >= check.Warning {
				first, rest, _ := strings.Cut(one.Message, "\n")
				suite.Cases = append(suite.Cases, test{e.name, one.ID, &failure{first, one.Level.String(), rest}})
				suite.Failures++
			}
		}
		if suite.Failures == failures {
			suite.Cases = append(suite.Cases, test{e.name, e.by, nil})
		}
	}
	suite.Tests = len(suite.Cases)
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
