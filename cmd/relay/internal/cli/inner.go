package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
)

// Inner runs commands of relay inside this process, one at a time, with the environment of this process.
type Inner struct {
	App   *App
	Dir   string // top folder of the checkout of the run that has started this process, else that of -C; "" : where it was started
	Epic  string // of a playlist, that --epic names or this process's agent works for; "" : it is the one in relay's folder
	Relay func(ctx context.Context, a *App, args []string) (code int)
}

// Heard returns the app with streams of its own.
func (s *Inner) Heard() (a *App, out, told *bytes.Buffer) {
	out, told = &bytes.Buffer{}, &bytes.Buffer{}
	copied := *s.App
	copied.In, copied.Out, copied.Err = strings.NewReader(""), terminal.NewWriter(out), terminal.NewWriter(told)
	copied.Out.Redact, copied.Err.Redact = s.App.Secrets.Values, s.App.Secrets.Values
	return &copied, out, told
}

// Run answers with what a command prints. Its error is what the command tells of it.
func (s *Inner) Run(ctx context.Context, args ...string) (string, error) {
	a, out, told := s.Heard()
	if s.Epic != "" {
		args = append([]string{args[0], "--epic=" + s.Epic}, args[1:]...)
	}
	if s.Dir != "" {
		args = append([]string{"--chdir=" + s.Dir}, args...)
	}
	if code := s.Relay(ctx, a, args); code != terminal.OK {
		return "", errors.New(WithoutName(told.String()))
	}
	return out.String(), nil
}

// WithoutName returns what a command has told, as it stands in an answer.
func WithoutName(told string) string {
	lines := strings.Split(strings.TrimSpace(told), "\n")
	return strings.Join(each.Of(lines, func(line string) string { return strings.TrimPrefix(line, "relay: ") }), "\n")
}
