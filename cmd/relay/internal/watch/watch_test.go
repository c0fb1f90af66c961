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

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

var update = flag.Bool("update", false, "write the golden files")

// night is a source of a made night. It takes down what it was asked to do.
type night struct {
	*viewtest.Night

	of    *view.Builder
	given bool
	acts  []Act
}

func (n *night) Old() bool { return false }

func (n *night) Next(context.Context) (*view.Night, error) {
	if n.given {
		return nil, nil
	}
	n.given = true
	return n.of.Night(n.Now), nil
}
func (n *night) Graph() string                           { return graphText(n.Epic, n.Night.Graph, n.of.Graph(n.Now)) }
func (n *night) Timeline() *view.Timeline                { return n.of.Timeline(n.Now) }
func (n *night) Forecast(context.Context) *view.Forecast { return nil }

func (n *night) Part(_ context.Context, id string, part agentlog.AttemptPart, _ int) string {
	return fmt.Sprintf("%s of %s\n+added \x1b[31mred\x1b[0m\n-removed\t%s", part, id, strings.Repeat("long ", 60))
}

func (n *night) Log(id string) (more func() string, done func()) {
	return func() string { return "22:10:00 says     " + id + " goes on\n" }, func() {}
}

func (n *night) Do(_ context.Context, act Act) (string, error) {
	n.acts = append(n.acts, act)
	if act.What == attempts.RequestGate {
		return "", errors.New("the run is busy")
	}
	return "done", nil
}

// screenOf returns a model of a night on a screen, which has read what it shows.
func screenOf(tb testing.TB, tasks, w, h int) (*model, *night) {
	tb.Helper()
	made := viewtest.Of(tb, tasks)
	n := &night{Night: made, of: made.Builder()}
	m := newModel(tb.Context(), n, func() time.Time { return made.Now }, style{zone: time.UTC})
	send(m, m.look()())
	send(m, tea.WindowSizeMsg{Width: w, Height: h})
	m.forecast = &view.Forecast{P50: made.Now.Add(33 * time.Minute), P90: made.Now.Add(90 * time.Minute)}
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
		if got := displaywidth.String(plain); got > m.w {
			t.Errorf("%s: line %d has %d columns of %d: %s", name, i, got, m.w, plain)
		}
		lines[i] = strings.TrimRight(plain, " ")
	}
	if len(lines) != m.h {
		t.Errorf("%s: got %d lines of %d", name, len(lines), m.h)
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
