package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/mcpserver"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/recorded"
	"relay/cmd/relay/internal/terminal"
)

func newMCPCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   project.ServerCommand,
		Short: "Serve agents by the Model Context Protocol",
		Long: `Serve an agent or another client of the Model Context Protocol on stdin and
stdout: tools that tell how the epic and its tasks stand, and the five actions
of relay discuss. An agent that relay has started can also report its progress
and its result. It ends when its client is gone.`,
		Example: "  claude mcp add relay -- relay mcp\n  codex mcp add relay -- relay mcp",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), a) },
	}
}

func runMCP(ctx context.Context, a *cli.App) error {
	if a.CanAsk() {
		return &terminal.UsageError{Message: "relay mcp talks to a client of MCP, and this is a terminal", Hint: "claude mcp add relay -- relay mcp"}
	}
	if a.Epic != "" {
		if _, _, err := a.PlannedAnyhow(ctx); err != nil {
			return err
		}
	}
	served := &servedApp{app: a, dir: a.Dir, epic: a.Epic}
	if p, err := a.Repository(ctx); err == nil {
		top, inside := cli.CheckoutOfRun(ctx, a, p)
		if inside {
			served.dir = top
			if a.Epic == "" && filepath.Base(filepath.Dir(a.Lookup("RELAY_DIR"))) == project.ListedFolder {
				served.epic = a.Lookup("RELAY_EPIC")
			}
		}
	}
	return mcpserver.Serve(ctx, mcpserver.Options{
		In: io.NopCloser(a.In), Out: unclosed{a.Out.Dest}, Version: project.RelayVersion(),
		Run: served.run, Discuss: served.discuss,
		Redact: a.Secrets.Text, Lookup: a.Lookup, Now: a.Now,
	})
}

// unclosed is a stream that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// servedApp does what tools ask for, one at a time, with the environment of this process.
type servedApp struct {
	app  *cli.App
	dir  string // top folder of the checkout of the run that has started this process, else that of -C; "" : where it was started
	epic string // of a playlist, that --epic names or this process's agent works for; "" : it is the one in relay's folder
}

// heard returns the app with streams of its own.
func (s *servedApp) heard() (a *cli.App, out, told *bytes.Buffer) {
	out, told = &bytes.Buffer{}, &bytes.Buffer{}
	copied := *s.app
	copied.In, copied.Out, copied.Err = strings.NewReader(""), terminal.NewWriter(out), terminal.NewWriter(told)
	copied.Out.Redact, copied.Err.Redact = s.app.Secrets.Values, s.app.Secrets.Values
	return &copied, out, told
}

// run answers with what a command prints. Its error is what the command tells of it.
func (s *servedApp) run(ctx context.Context, args ...string) (string, error) {
	a, out, told := s.heard()
	if s.epic != "" {
		args = append([]string{args[0], "--epic=" + s.epic}, args[1:]...)
	}
	if s.dir != "" {
		args = append([]string{"--chdir=" + s.dir}, args...)
	}
	if code := relay(ctx, a, args); code != terminal.OK {
		return "", errors.New(withoutName(told.String()))
	}
	return out.String(), nil
}

// discuss does an action on discussions.
func (s *servedApp) discuss(ctx context.Context, action string, input []byte) (answer, warnings string, err error) {
	a, _, told := s.heard()
	found, err := recorded.CallDiscussion(ctx, a, action, input)
	if err != nil {
		a.ReportError(err)
		return "", "", errors.New(withoutName(told.String()))
	}
	text, err := json.Marshal(found)
	return string(text), withoutName(told.String()), err
}

// withoutName returns what a command has told, as it stands in an answer.
func withoutName(told string) string {
	lines := strings.Split(strings.TrimSpace(told), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "relay: ")
	}
	return strings.Join(lines, "\n")
}
