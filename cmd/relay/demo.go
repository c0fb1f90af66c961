package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/status"
	"relay/orchestrator/text"
	"relay/reanchor"
)

//go:embed demo
var demoFiles embed.FS

type demoOptions struct {
	app *cli.App
	dir string
}

func newDemoCommand(a *cli.App) *cobra.Command {
	opts := demoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See a whole night in seconds, without key or network",
		Long: `See a whole night in seconds: a scratch repository, five tasks and a scripted
agent; no key, no network, nothing of yours is touched. One task fails and
then succeeds, one cannot be done and is gated, one is blocked by it.

Exit code 0 when the night went as scripted, else 1.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), opts) },
	}
	cmd.Flags().StringVar(&opts.dir, "dir", "", "make the scratch repository in `DIR` (default: a temporary folder)")
	return cmd
}

func runDemo(ctx context.Context, opts demoOptions) error {
	root, err := opts.scratch(ctx)
	if errors.Is(err, fs.ErrExist) {
		return &exit.Hinted{Err: fmt.Errorf("%s is there already", opts.app.Path(opts.dir)), Hint: "remove it, or name another folder with --dir"}
	}
	if err != nil {
		return fmt.Errorf("make the scratch repository: %w", err)
	}
	a := opts.inside(root)
	step := func(n int, what, command string) {
		fmt.Fprintf(a.Out, "\n--- %d. %s\n\n$ %s\n\n", n, what, command)
	}
	fmt.Fprintf(a.Out, "A scratch repository with a blueprint of five tasks: %s\n", root)
	step(1, "The blueprint becomes an epic of tasks with dependencies.", "relay init docs/plan.md")
	if err := runInit(ctx, initOptions{app: a, blueprint: "docs/plan.md"}); err != nil {
		return err
	}
	step(2, "What could fail at 03:00?", "relay check")
	if err := runCheck(ctx, checkOptions{app: a}); err != nil {
		return err
	}
	step(3, "The night: a fresh agent for each attempt, and relay's own checks.", "relay work")
	err = runWork(ctx, workOptions{Options: session.Options{App: a}}, pflag.NewFlagSet("demo", pflag.ContinueOnError))
	var code exit.Code
	if err != nil && !errors.As(err, &code) {
		return err
	}
	step(4, "The morning: where it stands, with the receipt of every attempt.", "relay status --verbose")
	if err := runStatus(ctx, statusOptions{app: a, verbose: true}); err != nil {
		return err
	}
	branch, err := asScripted(ctx, a, int(code))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, demoEnd, root, branch)
	return nil
}

const demoEnd = `
--- The night went as scripted.

T2 failed its check once, was told so, and succeeded; T3 failed twice with the
same error and was gated; T4 is blocked by it; nothing else was held up.

Look around:   cd %s
  relay report                          the whole night, told for a person
  relay show T2 --attempt 2 --brief     what the second agent of T2 was told
  relay show T2 --attempt 1 --diff      what the first one had done
  relay show T3                         why T3 needs a person
  git log --oneline --graph %s
                                        the work, on a branch of its own
  relay finish                          lands it on main
  relay ungate T3                       then relay work tries again
Your own first night: relay init --help
`

// scratch makes the repository the demo plays in.
func (o demoOptions) scratch(ctx context.Context) (root string, err error) {
	if o.dir == "" {
		root, err = os.MkdirTemp("", "relay-demo-")
	} else {
		root, err = filepath.Abs(o.app.Path(o.dir))
		if err == nil {
			err = os.Mkdir(root, 0o755)
		}
	}
	if err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	files := map[string]string{
		"demo/plan.md": "docs/plan.md", "demo/script.yml": ".agents-os/demo-script.yml", "demo/agents.yml": ".agents.yml",
	}
	for from, to := range files {
		text, err := demoFiles.ReadFile(from)
		if err != nil {
			return "", err
		}
		path := filepath.Join(root, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "README.md"), []byte("# Greetings\n"), 0o644); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "relay demo"},
		{"config", "user.email", "demo@relay.invalid"},
		{"add", "--all"},
		{"-c", "commit.gpgSign=false", "commit", "--quiet", "--message=Begin"},
	} {
		if _, err := reanchor.Run(ctx, reanchor.Call{Dir: root, Args: args, Writes: true}); err != nil {
			return "", err
		}
	}
	return root, nil
}

// inside is the app as if started in the scratch repository by somebody without any configuration of their own.
func (o demoOptions) inside(root string) *cli.App {
	a := *o.app
	a.Dir = root
	a.Environ = slices.DeleteFunc(slices.Clone(a.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "RELAY_") || name == "XDG_CONFIG_HOME" || name == "XDG_STATE_HOME"
	})
	// No folder of the user's is read or written: the second one is no path, and so the first night's copy of .git
	// stays in the scratch repository too.
	a.Environ = append(a.Environ, "XDG_CONFIG_HOME="+filepath.Join(root, ".git", "no-user-configuration"), "XDG_STATE_HOME=none")
	return &a
}

// asScripted compares the ledger with what the script must lead to, and returns the branch that has the work.
func asScripted(ctx context.Context, a *cli.App, code int) (branch string, err error) {
	p, err := a.Locate(ctx, nil)
	if err != nil {
		return "", err
	}
	s, err := status.Read(ctx, p, true)
	if err != nil {
		return "", err
	}
	want := []struct {
		status   attempts.Status
		attempts int
		reason   attempts.Reason
	}{
		{status: attempts.Completed, attempts: 1},
		{status: attempts.Completed, attempts: 2},
		{status: attempts.Gated, attempts: 2, reason: attempts.RepeatedFailure},
		{status: attempts.BlockedOn},
		{status: attempts.Completed, attempts: 1},
	}
	if code != exit.Gated {
		return "", fmt.Errorf("the night did not go as scripted: exit code %d, not %d; look into %s", code, exit.Gated, p.Root)
	}
	for i, w := range want {
		t := s.Tasks[i]
		if t.Status != w.status || len(t.Attempts) != w.attempts || t.Reason != w.reason {
			return "", fmt.Errorf("the night did not go as scripted: %s is %s after %s; look into %s",
				t.ID, t.Status, text.Count(len(t.Attempts), "attempt"), p.Root)
		}
	}
	return s.Branch, nil
}
