// Package clients tests the program that writes the table of mail clients.
package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMake makes the table of an invented checkout.
func TestMake(t *testing.T) {
	for _, name := range []string{"python3", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs Python and Git: install the packages python3 and git")
		}
	}
	checkout := t.TempDir()
	for name, content := range map[string]string{
		"LICENSE":                "MIT License\n\nSomebody\n",
		"_data/nicenames.yml":    "family:\n  gmail: \"Gmail\"\n  outlook: \"Outlook\"\n  yahoo: \"Yahoo! Mail\"\nplatform:\n  ios: \"iOS\"\n",
		"_features/_template.md": "---\ntitle: \"Test property\"\nstats: {\n---\n",
		// as usual, the newest version, notes, tabs and a comma at the end
		"_features/css-sparkle.md": "---\ntitle: \"sparkle property\"\nstats: {\n\toutlook: {\n\t\twindows: {\n\t\t\t\"2007\":\"n\",\n\t\t\t\"2019\":\"y\",\n\t\t},\n\t\tmacos: { \"16\":\"y\", \"17.1\":\"n #1\" }\n\t},\n" +
			"\tyahoo: { ios: { \"2020-01\":\"a #2\" } },\n\tgmail: { mobile-webmail: { \"2020-01\":\"n\" }, ios: { } }\n}\n" +
			"notes_by_num: {\n    \"1\": \"Not at all.\",\n    \"2\": \"Partial. Only [in gold](https://x.example/). See \\\"there\\\".\"\n}\n---\n\nText: {\n",
		"_features/html-gleam.md":         "---\ntitle: \"<gleam> element\"\nstats: { gmail: { ios: { \"2021\":\"n\" } } }\n---\n",
		"_features/css-border-radius.md":  "---\ntitle: \"border-radius\"\nstats: { outlook: { outlook-com: { \"2024 1\":\"a #2\" }, windows: { \"2019\":\"n\" } } }\nnotes_by_num: { \"2\": \"No slash.\" }\n---\n",
		"_features/css-pseudo-class-x.md": "---\ntitle: \":x\"\nstats: { outlook: { windows: { \"2019\":\"u\" } } }\n---\n",
	} {
		path := filepath.Join(checkout, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commit := exec.Command("sh", "-ec", "git init -q && git add . && git -c user.name=x -c user.email=x@x.example commit -qm x --date=2026-01-02T03:04:05Z")
	commit.Dir, commit.Env = checkout, append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(checkout, "rules.txt"), []byte("# invented\ncss-border-radius#2 | | | border-radius: / | no ellipses\ncss-border-radius | L | p | border-radius | square corners\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command("python3", "make", checkout, filepath.Join(checkout, "rules.txt")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	_, table, _ := strings.Cut(string(got), "# Somebody\n")
	first, table, _ := strings.Cut(table, "\n")
	if want := strings.Join([]string{
		"names\tgmail\tgmail-ios\toutlook\toutlook-mac\toutlook-web\toutlook-windows\tyahoo\tyahoo-ios",
		"client\tgmail-ios\tGmail\tiOS",
		"client\toutlook-mac\tOutlook\tMac",
		"client\toutlook-web\tOutlook\tthe web",
		"client\toutlook-windows\tOutlook\tWindows",
		"client\tyahoo-ios\tYahoo\tiOS",
		"style\tborder-radius\t/\t\tborder-radius\tno ellipses",
		"no\t\toutlook-web=2024_1",
		"layout\tborder-radius\t\tp\tborder-radius\tsquare corners",
		"no\t\toutlook-windows=2019",
		"style\tsparkle\t\t\tsparkle\t",
		"no\t\toutlook-mac=17.1",
		"partly\tOnly in gold\tyahoo-ios=2020-01",
		"style\t<gleam\t\t\t<gleam>\t",
		"no\t\tgmail-ios=2021", "",
	}, "\n"); table != want || !strings.HasPrefix(first, "data\t2026-01-02 ") {
		t.Errorf("%s\n%s\nwant\n%s", first, table, want)
	}
}
