package cli

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/api/apitest"
)

func TestFormatsOfCI(t *testing.T) {
	dir := t.TempDir()
	faulty, good := filepath.Join(dir, "a.html"), filepath.Join(dir, "b,c.html")
	for file, text := range map[string]string{
		faulty: "<html lang=en><p>Hi\n{{name}}, 100%</p><a href=\"http://x.example/\">x</a>", good: `<html lang="en"><div style="display:none">Soon</div><p>Hello</p>`,
	} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	preview := func(format string, files ...string) result {
		return run(t, machine(t), "", append([]string{"preview", "--fail-on", "error", "--format", format}, files...)...)
	}
	r, shown := preview("github", faulty, good), strings.ReplaceAll(filepath.ToSlash(faulty), ":", "%3A")
	for _, want := range []string{
		"::error file=" + shown + ",line=2,title=placeholder::", "::warning file=" + shown + ",line=2,title=link-http::", "::notice file=" + shown + ",title=preheader-missing::", "100%25",
	} {
		if r.status != statusError || !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "b,c") {
			t.Errorf("status %d, no %q in %s", r.status, want, r.stdout)
		}
	}
	var log struct {
		Version string
		Runs    []struct {
			Results []struct{ RuleID, Level string }
		}
	}
	if r := preview("sarif", faulty); json.Unmarshal([]byte(r.stdout), &log) != nil || log.Version != "2.1.0" || len(log.Runs[0].Results) != 3 ||
		log.Runs[0].Results[0].RuleID != "placeholder" || log.Runs[0].Results[2].Level != "note" {
		t.Errorf("%+v", r)
	}
	s := newHarness(t, apitest.Options{})
	s.deliver(s.inbox("ada").Email, apitest.Mail{From: "x@acme.example", Subject: "Hi, Ada", HTML: "<p>{{name}}</p>"})
	for format, want := range map[string]string{"github": "::error title=placeholder in “Hi%2C Ada”::", "junit": `<testcase classname="Hi, Ada" name="placeholder">`, "sarif": `{"uri":"Hi%2C%20Ada"}`} {
		if got := s.does("read", "--format", format); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %s", format, want, got)
		}
	}
	var suite struct {
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []struct{} `xml:"testcase"`
	}
	if r := preview("junit", faulty, good); xml.Unmarshal([]byte(r.stdout), &suite) != nil || suite.Failures != 2 || suite.Tests != 3 || len(suite.Cases) != 3 {
		t.Errorf("%+v", r)
	}
}
