package cli

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// painting returns the environment of a machine with a browser that paints 300 px of blue, whatever it is given.
func painting(t *testing.T) []string {
	if runtime.GOOS == "windows" {
		t.Skip("the browser of this test is a shell script")
	}
	shot := image.NewRGBA(image.Rect(0, 0, 640, 300))
	draw.Draw(shot, image.Rect(100, 0, 200, 300), image.NewUniform(color.RGBA{0, 0, 255, 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	must(t, png.Encode(&b, shot))
	answer := `{"id":%d,"result":{"targetId":"t","sessionId":"s","result":{"value":300},"data":"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"}}\0`
	dir := testFiles(t, map[string]string{"browser": "#!/bin/sh\nfor id in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do printf '" + answer + "' $id >&4; done; cat <&3 >/dev/null\n"})
	browser := filepath.Join(dir, "browser")
	must(t, os.Chmod(browser, 0o700))
	environ := machine(t)
	config := filepath.Join(strings.TrimPrefix(environ[0], "XDG_CONFIG_HOME="), "mayfly")
	must(t, os.MkdirAll(config, 0o700))
	must(t, os.WriteFile(filepath.Join(config, "config.toml"), []byte("[browser]\ncommand = '"+browser+"'\n"), 0o600))
	return environ
}

func TestScreenshot(t *testing.T) {
	environ := painting(t)
	dir := testFiles(t, map[string]string{"a.eml": eml, "b.html": "<p>Hello</p>"})
	a, b, out := filepath.Join(dir, "a.eml"), filepath.Join(dir, "b.html"), filepath.Join(dir, "out.png")
	if r := run(t, environ, "", "preview", "--screenshot", out, "--phone", a); r.status != 0 || r.stdout != out+"\n" {
		t.Errorf("one file: %+v", r)
	}
	file, err := os.Open(out)
	must(t, err)
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the picture: %v, %v", info.Mode(), err)
	}
	if c, err := png.DecodeConfig(file); err != nil || c.Width != 640 || c.Height != 300 {
		t.Errorf("the picture is %v, %v", c, err)
	}
	if r := run(t, environ, "", "preview", "--screenshot", out, a, b); r.status != 0 || r.stdout != filepath.Join(dir, "out-1.png")+"\n"+filepath.Join(dir, "out-2.png")+"\n" {
		t.Errorf("two files: %+v", r)
	}
	if r := run(t, environ, "", "doctor"); !strings.Contains(r.stdout, "browser: it renders messages") {
		t.Errorf("doctor says %s", r.stdout)
	}
	args := []string{"preview", "--screenshot", filepath.Join(dir, "none", "out.png"), a}
	expectFailure(t, run(t, environ, "", args...), statusError, []string{"writing the screenshot"}, args)
}

func TestScreenshotWithoutABrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := testFiles(t, map[string]string{"a.html": "<p>Hello</p>", "b.html": "<p>Hello</p>"})
	if r := run(t, machine(t), "", "doctor"); !strings.Contains(r.stdout, "browser      no Chrome, Chromium, Edge or Brave was found") {
		t.Errorf("doctor says %s", r.stdout)
	}
	args := []string{"preview", "--screenshot", filepath.Join(dir, "out.png"), filepath.Join(dir, "a.html"), filepath.Join(dir, "b.html")}
	expectFailure(t, run(t, machine(t), "", args...), statusError, []string{"no Chrome, Chromium, Edge or Brave was found", "config.toml"}, args)
}
