package watch

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

var update = flag.Bool("update", false, "write the golden files")

// night is a source of a made night. It takes down what it was asked to do.
type night struct {
	*viewtest.Night

	of  *view.Builder
	ran []string
}

func (n *night) Old() bool { return false }

func (n *night) Next(context.Context) (*view.Night, error) {
	return nil, nil //nolint:nilnil // nothing changes
}

func (n *night) Page(_ context.Context, page leaf, row *view.Row, width int) string {
	if page == graphPage {
		return graphText(n.Epic, n.Night.Graph, n.of.Graph(n.Now))
	} else if page == timePage {
		return terminal.Timeline(n.of.Timeline(n.Now), width, nil, false)
	}
	text := map[leaf]string{
		taskPage: row.ID + "  a task of the night\n\nattempt 1  06:00  13m  claude  failure (check, charged)\n  asks: " +
			strings.Repeat("per line or per invoice? ", 12),
		diff:    "diff --git a/tax.go b/tax.go\n@@ -1,2 +1,2 @@\n+added \x1b[31mred\x1b[0m\n-removed\t" + strings.Repeat("long ", 60),
		logPage: strings.Repeat("22:10:00 says     "+row.ID+" goes on\n", 40),
	}[page]
	if page == taskPage {
		return summary(row) + text
	}
	return text
}

func (n *night) Do(_ context.Context, args ...string) (string, error) {
	n.ran = append(n.ran, strings.Join(args, " "))
	if args[0] == "gate" {
		return "", errors.New("the run is busy")
	}
	return "done", nil
}

// screenOf returns a model of a night on a screen, which has read what it shows.
func screenOf(tb testing.TB, tasks, w, h int) (*model, *night) {
	tb.Helper()
	made := viewtest.Of(tb, tasks)
	n := &night{Night: made, of: made.Builder()}
	shown := n.of.Night(made.Now)
	in := func(minutes time.Duration) time.Time { return made.Now.Add(minutes * time.Minute) }
	shown.Forecast = &view.Forecast{BasedOn: 9, P10: in(20), P50: in(33), P90: in(90), LeftOut: shown.Sentence.NeedYou}
	m := newModel(tb.Context(), n, shown, func() time.Time { return made.Now }, style{zone: time.UTC})
	send(m, tea.WindowSizeMsg{Width: w, Height: h})
	return m, n
}

// send gives the model a message, and what comes of that; it lets time stand still.
func send(m *model, msg tea.Msg) {
	_, cmd := m.Update(msg)
	if _, isKey := msg.(tea.KeyPressMsg); !isKey {
		if _, isSize := msg.(tea.WindowSizeMsg); !isSize {
			return
		}
	}
	if cmd != nil {
		if next := cmd(); next != nil {
			send(m, next)
		}
	}
}

// press presses keys, by their names.
func press(m *model, keys ...string) {
	special := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"pgdown": {Code: tea.KeyPgDown}, "end": {Code: tea.KeyEnd}, "home": {Code: tea.KeyHome}, "backspace": {Code: tea.KeyBackspace},
	}
	for _, name := range keys {
		key, ok := special[name]
		if !ok {
			key = tea.Key{Code: []rune(name)[0], Text: name}
		}
		send(m, tea.KeyPressMsg(key))
	}
}

// golden compares a screen with a file.
func golden(t *testing.T, m *model, name string) {
	t.Helper()
	lines := m.screen()
	for i, line := range lines {
		plain := unpainted.ReplaceAllString(line, "")
		if got := displaywidth.String(plain); got > m.win.w {
			t.Errorf("%s: line %d has %d columns of %d: %s", name, i, got, m.win.w, plain)
		}
		lines[i] = strings.TrimRight(plain, " ")
	}
	if len(lines) != m.win.h {
		t.Errorf("%s: got %d lines of %d", name, len(lines), m.win.h)
	}
	got, file := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", name+".golden.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s: got (%v)\n%s", name, err, got)
	}
}

var unpainted = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestScreens(t *testing.T) {
	t.Parallel()
	for _, tasks := range []int{5, 40, 400} {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			m, _ := screenOf(t, tasks, size[0], size[1])
			golden(t, m, fmt.Sprintf("%d-%dx%d", tasks, size[0], size[1]))
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"task": {"enter"}, "diff": {"down", "d"}, "log": {"l"}, "graph": {"g"}, "timeline": {"t"}, "help": {"?"}, "answer": {"a", "A", "é"},
		"filter": {"/", "t", "a", "x", "enter"}, "all": {"D", "end"},
	} {
		m, _ := screenOf(t, 40, 80, 24)
		press(m, keys...)
		golden(t, m, "40-page-"+name)
	}
	m, _ := screenOf(t, 40, 200, 60)
	press(m, "t")
	golden(t, m, "40-200x60-timeline")
	m, _ = screenOf(t, 40, 80, 24)
	m.win.style.ascii = true
	golden(t, m, "40-ascii")
}

// Each key does what its command does, asks before what is hard to undo, and says why it cannot act.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		task, keys string
		want       string
		note       string
	}{
		{"T18 of 400", "uy", "ungate --same -- T18", "done"},
		{"T18 of 400", "un", "", "nothing was done"},
		{"T29 of 400", "aA\n", "answer --same -- T29 A", "done"},
		{"T26", "aA\n", "answer -- T26 A", "done"},
		{"T26", "a\n", "", "the answer is empty: type it, or press esc"},
		{"T26", "u", "", "u: T26 is not gated, it asks you: a answers"},
		{"T18", "u", "ungate -- T18", "done"},
		{"T18", "r", "", "r: T18 has no work to do again"},
		{"T18", "a", "", "a: T18 asks nothing"},
		{"T22", "Ay", "approve -- T22", "done"},
		{"T22", "An", "", "nothing was done"},
		{"T22", "ry", "retry -- T22", "done"},
		{"T22", "rr", "", "nothing was done"},
		{"T1", "ry", "retry -- T1", "done"},
		{"T39", "sy", "stop -- T39", "done"},
		{"T39", "s\n", "", "nothing was done"},
		{"T39", "x", "gate -- T39", "the run is busy"},
		{"T1", "x", "", "x: T1 is held or done"},
		{"T38", "s", "", "s: T38 does not run"},
		{"T38", "Sy", "stop", "done"},
		{"T38", "p", "pause", "done"},
	} {
		task, long := strings.CutSuffix(c.task, " of 400")
		m, n := screenOf(t, map[bool]int{true: 400, false: 40}[long], 80, 24)
		m.list.all, m.list.selected = !long, task
		m.list.move(0)
		for _, key := range c.keys {
			press(m, map[rune]string{'\n': "enter"}[key]+strings.TrimSpace(string(key)))
		}
		got := strings.Join(n.ran, "; ")
		if got != c.want || m.note != c.note {
			t.Errorf("%s %q: got %+v, note %q", c.task, c.keys, n.ran, m.note)
		}
	}
}

// TestEnded tests that the screen of an ended night names what lands it, and that a low one ends with how many tasks are folded.
func TestEnded(t *testing.T) {
	t.Parallel()
	m, _ := screenOf(t, 40, 80, 24)
	n := m.win.night
	n.Run.State = view.Ended
	n.Changed.Next = []view.Command{view.Finish("main"), {Type: "relay retry T1"}}
	lines := m.screen()
	if got := lines[len(lines)-2]; !strings.Contains(got, "then relay finish: lands the completed tasks on main") {
		t.Errorf("the line above the keys is %q", got)
	}
	if got := lines[len(lines)-3]; !strings.Contains(got, "and 30 more: D shows all") {
		t.Errorf("the last line of the list is %q", got)
	}
}

// A question of an epic of a playlist is asked without the flag that names the epic.
func TestFirstOf(t *testing.T) {
	t.Parallel()
	row := view.Row{ID: "T2", Advice: &view.Advice{Equal: true, First: &view.Command{Type: "relay answer T2 A --epic second", For: "per line"}}}
	row.Choices = []view.Command{{Type: "relay answer T2 B --epic second", For: "per invoice"}}
	for selected, want := range map[bool]string{true: "press a: A per line? B per invoice?", false: "asks: A per line? B per invoice?"} {
		if got := firstOf(&row, selected); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// No keys in any window make it panic, draw more than there is room for, or do what is hard to undo without a yes.
func FuzzKeys(f *testing.F) {
	names := []string{
		"enter", "esc", "tab", "up", "down", "pgdown", "end", "home", "backspace", "a", "A", "u", "r", "x", "s", "S", "p", "D", "/", "?", "g", "t", "c",
		"d", "l", "b", "v", "n", "y", "k", "j", "é", "世",
	}
	f.Add([]byte{0, 13, 28, 14, 28, 10, 27}, uint8(80), uint8(24))
	f.Add([]byte{20, 4, 4, 19, 21, 5, 6, 18, 31, 32, 0, 17, 6, 6, 2}, uint8(20), uint8(5))
	f.Add([]byte{9, 31, 32, 8, 0, 24, 5, 3, 3, 2}, uint8(200), uint8(1))
	f.Fuzz(func(t *testing.T, keys []byte, w, h uint8) {
		m, n := screenOf(t, 40, int(w), int(h))
		before := ""
		for _, key := range keys[:min(len(keys), 60)] {
			name, acts, asked := names[int(key)%len(names)], len(n.ran), m.ask
			press(m, name)
			if got := len(m.screen()); h > 0 && w > 0 && got != int(h) {
				t.Fatalf("%d lines in a window of %d", got, h)
			}
			if len(n.ran) == acts {
				before = name
				continue
			}
			act, _, _ := strings.Cut(n.ran[acts], " ")
			if (act == "stop" || act == "approve") && (asked == "" || name != "y") || act == "answer" && name != "enter" {
				t.Fatalf("%s after %s, %s", act, before, name)
			}
		}
	})
}
