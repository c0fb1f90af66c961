package terminal

import (
	"bytes"
	"strings"
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

// What comes from outside never drives the terminal, marked or not, and marks are whole however the text is cut.
func FuzzMarks(f *testing.F) {
	f.Add("a\x1b[31m b\ufdd1", 3)
	f.Add(string(markBad)+string(firstKey)+"x", 1)
	f.Fuzz(func(t *testing.T, foreign string, cut int) {
		var out, plain bytes.Buffer
		w := NewWriter(&out)
		if err := w.Colour("always", nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(foreign, w.Palette.key) {
			t.Skip()
		}
		_, _ = NewWriter(&plain).Write([]byte("<" + foreign + ">"))
		_, _ = w.Write([]byte("head "))
		for rest := []byte(w.Palette.Bad("<" + foreign + ">")); len(rest) > 0; {
			n := min(max(1, cut%9), len(rest))
			_, _ = w.Write(rest[:n])
			rest = rest[n:]
		}
		if got, want := out.String(), "head \x1b[31m"+plain.String()+"\x1b[0m"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Two writers do not understand each other's marks, so nobody can bring any along; and unmarked text stays as it is.
func TestMarksAreSecret(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	mine, other := NewWriter(&out), NewWriter(&out)
	for _, w := range []*Writer{mine, other} {
		if err := w.Colour("always", nil); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = mine.Write([]byte(other.Palette.Good("x") + "\n"))
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("it was taken for a mark: %q", out.String())
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
