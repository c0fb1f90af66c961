package terminal

import (
	"bytes"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

// Who wants colours where, on something that is no terminal.
func TestColourIsAsTheUserWantsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		choice  string
		environ map[string]string
		want    bool
	}{
		"a pipe":                          {"auto", map[string]string{"TERM": "xterm"}, false},
		"always":                          {"always", nil, true},
		"always, although NO_COLOR":       {"always", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, true},
		"never, although CLICOLOR_FORCE":  {"never", map[string]string{"CLICOLOR_FORCE": "1"}, false},
		"CLICOLOR_FORCE":                  {"auto", map[string]string{"CLICOLOR_FORCE": "1"}, true},
		"CLICOLOR_FORCE=0":                {"auto", map[string]string{"CLICOLOR_FORCE": "0"}, false},
		"NO_COLOR and CLICOLOR_FORCE":     {"auto", map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		"an empty NO_COLOR says nothing":  {"auto", map[string]string{"NO_COLOR": "", "CLICOLOR_FORCE": "1"}, true},
		"always, after it had been never": {"always", nil, true},
	} {
		var out bytes.Buffer
		w := NewWriter(&out)
		if err := w.Colour(c.choice, func(name string) string { return c.environ[name] }); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(w.Palette.Good("ok")))
		want := "ok"
		if c.want {
			want = "\x1b[32mok\x1b[0m"
		}
		if out.String() != want {
			t.Errorf("%s: got %q, want %q", name, out.String(), want)
		}
	}
	err := NewWriter(nil).Colour("blue", nil)
	if err == nil || err.Error() != `--color is auto, always, never, not "blue"` {
		t.Errorf("got %v", err)
	}
}

// Text without a palette stays as it is, and text from outside gets no more than colours.
func TestMarks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	mine := NewWriter(&out)
	if err := mine.Colour("always", nil); err != nil {
		t.Fatal(err)
	}
	_, _ = mine.Write([]byte("a\x1b[31m" + mine.Palette.Bad("b\x1b[35m") + "\n"))
	if got, want := out.String(), "a\\u001b[31m\x1b[31mb\\u001b[35m\x1b[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var none Palette
	for _, mark := range []func(string) string{none.Good, none.Bad, none.Wait, none.Dim, none.Strong} {
		if got := mark("text"); got != "text" || displaywidth.String(got) != 4 {
			t.Errorf("got %q", got)
		}
	}
	out.Reset()
	p := mine.Palette
	_, _ = mine.Write([]byte(p.Wait("a") + p.Dim("b") + p.Strong("c") + p.Bad("")))
	if got, want := out.String(), "\x1b[33ma\x1b[0m\x1b[2mb\x1b[0m\x1b[1mc\x1b[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
