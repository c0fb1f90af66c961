package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/planning"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
)

type demoOptions struct {
	app *cli.App
	dir string
}

func newDemoCommand(a *cli.App) *cobra.Command {
	opts := demoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a whole night in seconds, without key or network",
		Long: `Run a whole night in seconds: a scratch repository, five tasks and a scripted
agent; no key, no network, nothing of yours is changed. One task fails and
then succeeds, one cannot be done and is gated, one is blocked by it.

Exit code 0 when the night went as scripted, 1 otherwise.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), opts) },
	}
	cmd.Flags().StringVar(&opts.dir, "dir", "", "make the scratch repository in `DIR` (default: a temporary folder)")
	return cmd
}

func runDemo(ctx context.Context, opts demoOptions) error {
	dir := opts.dir
	if dir != "" {
		dir = opts.app.Path(dir)
	}
	root, err := planning.ScratchDemo(ctx, dir)
	if errors.Is(err, fs.ErrExist) {
		return &terminal.Hinted{Err: fmt.Errorf("%s exists already", opts.app.Path(opts.dir)), Hint: "remove it, or name another folder with --dir"}
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
	step(2, "What could make the run fail?", "relay check")
	if err := runCheck(ctx, checkOptions{app: a}); err != nil {
		return err
	}
	step(3, "The night: a fresh agent for each attempt, and relay's own checks.", "relay work")
	err = runWork(ctx, workOptions{Options: session.Options{App: a}}, pflag.NewFlagSet("demo", pflag.ContinueOnError))
	var code terminal.ExitCode
	if err != nil && !errors.As(err, &code) {
		return err
	}
	step(4, "The morning: where it stands, with the receipt of every attempt.", "relay status --verbose")
	if err := runStatus(ctx, statusOptions{app: a, verbose: true}); err != nil {
		return err
	}
	branch, err := planning.CheckDemo(ctx, a, int(code))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, demoEnd, root, branch)
	return nil
}

const demoEnd = `
--- The night went as scripted.

T2 failed its check once, got the output, and succeeded; T3 failed three times and
was gated; T4 is blocked by it; nothing else was held up.

Look around:   cd %s
  relay report                          the whole night, told for a person
  relay show T2 --attempt 2 --brief     the brief of the second agent of T2
  relay show T2 --attempt 1 --diff      what the first one had done
  relay show T3                         why T3 needs a person
  git log --oneline --graph %s
                                        the work, on a branch of its own
  relay finish                          lands it on main
  relay ungate T3                       then relay work tries again
Your own first night: relay init --help
`

// inside returns the app as if started in the scratch repository by somebody without any configuration of their own.
func (o demoOptions) inside(root string) *cli.App {
	a := *o.app
	a.Dir = root
	a.Environ = slices.DeleteFunc(slices.Clone(a.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "RELAY_") || name == "XDG_CONFIG_HOME" || name == "XDG_STATE_HOME"
	})
	// No folder of the user's is read or written, and the worktrees go with the scratch repository.
	a.Environ = append(a.Environ, "XDG_CONFIG_HOME="+filepath.Join(root, ".git", "no-user-configuration"), "XDG_STATE_HOME=none",
		"RELAY_WORKTREE_DIR="+filepath.Join(root, ".agents-os", "relay"))
	return &a
}
