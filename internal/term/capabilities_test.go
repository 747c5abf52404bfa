package term

import (
	"image/color"
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func TestMessagesChangeCapabilities(t *testing.T) {
	var c Capabilities
	for i, step := range []struct {
		msg  tea.Msg
		want Change
	}{
		{tea.EnvMsg{"TERM=xterm", "COLORFGBG=0;15"}, Colors},
		{tea.ColorProfileMsg{Profile: colorprofile.TrueColor}, Colors},
		{tea.ColorProfileMsg{Profile: colorprofile.TrueColor}, Unchanged},
		{tea.BackgroundColorMsg{Color: color.White}, Unchanged}, // as the environment said
		{tea.BackgroundColorMsg{Color: color.Black}, Colors},
		{tea.EnvMsg{"TERM=xterm", "COLORFGBG=0;15"}, Unchanged}, // the terminal knows better
		{tea.FocusMsg{}, Unchanged},
		{tea.BlurMsg{}, Focus},
		{tea.FocusMsg{}, Focus},
		{tea.BlurMsg{}, Focus},
		{tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset}, Images},
		{tea.TerminalVersionMsg{Name: "kitty(0.28.0)"}, Images},
		{tea.WindowSizeMsg{}, Unchanged},
	} {
		if got, cmd := c.Update(step.msg); got != step.want || cmd != nil {
			t.Errorf("%d: %#v changes %d, want %d; command: %v", i, step.msg, got, step.want, cmd != nil)
		}
	}
	want := Capabilities{
		Env:     Env{"TERM=xterm", "COLORFGBG=0;15"},
		Profile: colorprofile.TrueColor, Background: DarkBackground, Blurred: true, Graphemes: true, Version: "kitty(0.28.0)",
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
	for value, want := range map[ansi.ModeSetting]bool{
		ansi.ModeNotRecognized: false, ansi.ModeSet: true, ansi.ModeReset: true,
		ansi.ModePermanentlySet: true, ansi.ModePermanentlyReset: false,
	} {
		if c.Update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: value}); c.Graphemes != want {
			t.Errorf("the report %d of mode 2027 means graphemes: %v", value, c.Graphemes)
		}
	}
}

func TestTheVersionIsAskedOfKittyAndGhostty(t *testing.T) {
	for environ, want := range map[string]bool{"TERM=xterm-kitty": true, "TERM_PROGRAM=ghostty": true, "TERM=xterm": false} {
		var c Capabilities
		if _, cmd := c.Update(tea.EnvMsg{environ}); (cmd != nil) != want {
			t.Errorf("%s: asked %v", environ, cmd != nil)
		}
	}
}
