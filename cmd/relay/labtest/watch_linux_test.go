package labtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

// screen is a real terminal: tmux with a server of its own.
type screen struct {
	*lab

	socket string
}

// shows starts a command in a terminal of so many columns and lines.
func (l *lab) shows(columns, lines int, command string) *screen {
	l.t.Helper()
	s := &screen{l, filepath.Join(l.t.TempDir(), "tmux")}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "cd '"+l.root+"' && "+command+"; echo left with $?; cat")
	l.t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() }) //nolint:gosec // its own server
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = append(append([]string{}, s.env...), "TERM=xterm-256color")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// keys types keys one after the other, and waits until the screen has a text.
func (s *screen) keys(text string, keys ...string) {
	s.t.Helper()
	for _, key := range keys {
		s.tmux("send-keys", key)
	}
	seen := ""
	s.await(fmt.Sprintf("%q after %v", text, keys), func() bool {
		seen = s.tmux("capture-pane", "-p")
		return strings.Contains(seen, text)
	})
}

const watchedEpic = `version: 2
id: 20260101-watched
title: Watched
tasks:
  T1: {title: One}
  T2: {title: Two}
  T3: {title: Three, depends_on: [T1]}
`

// watchedAgent says something, and works until it may end.
const watchedAgent = `echo "I begin $RELAY_TASK"; printf 'evil \033]0;owned\007\n'
until [ -e "$HOME/go-$RELAY_TASK" ]; do sleep 0.05; done; echo x > $RELAY_TASK.txt; ok`

// A person watches a run in a real terminal, decides with keys, resizes and leaves: the run goes on.
func TestWatchInATerminal(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			if size[0] > 80 {
				needsMore(t)
			}
			l := newLab(t, watchedEpic, watchedAgent)
			r := l.start("work")
			l.awaitFile(l.inHome("starts"))
			s := l.shows(size[0], size[1], "relay watch")
			s.keys("WORKING 1")
			s.keys("I begin T1", "l")
			s.keys("enter open", "Left")
			s.keys("Stop the attempt of T1?", "s")
			s.keys("nothing was done", "n")
			s.keys("T2 is gated", "Down", "x")
			s.keys("NEEDS YOU 1")
			l.write(l.inHome("go-T1"), "")
			s.keys("DONE 1")
			s.keys("WORKING 1")
			s.tmux("resize-window", "-x", "20", "-y", "5")
			s.tmux("resize-window", "-x", "100", "-y", "30")
			s.keys("level 2", "g")
			s.keys("+ checks  ~ review", "t")
			s.keys("left with 0", "q")
			if seen := s.tmux("capture-pane", "-p"); !strings.Contains(seen, "the run goes on") || strings.Contains(seen, "owned") {
				t.Errorf("it left %s", seen)
			}
			l.write(l.inHome("go-T3"), "")
			l.end(r)
			r.wants(t, terminal.Gated)
		})
	}
}
