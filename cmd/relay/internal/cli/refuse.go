package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// personal are the commands by which a person decides what is worked on and what counts as done.
var personal = []string{
	"init", "work", "schedule", "trust", "notify", "reload", "finish", "clean",
	"gate", "ungate", "approve", "answer", "retry", "stop", "pause", "accept", "repair", "rebuild", "fork",
}

// RefuseGuarded fails for a command by which a person decides, when an agent or a check of a run in the same repository has started it.
// An agent that relay has not started may call any command.
func RefuseGuarded(a *App, cmd *cobra.Command) error {
	if dry := cmd.Flags().Lookup("dry-run"); !slices.Contains(personal, cmd.Name()) || dry != nil && dry.Changed {
		return nil
	}
	return RefuseInside(cmd.Context(), a, cmd.CommandPath())
}

// RefuseInside does the same for what the command of a path would do.
func RefuseInside(ctx context.Context, a *App, path string) error {
	folder, inside := runAbove(a)
	if !inside {
		return nil
	}
	p, err := a.Repository(ctx)
	if err != nil || !isSameRepository(ctx, p, folder) {
		return nil //nolint:nilerr // the command says what is wrong; or it is another repository, as in tests of relay itself
	}
	return &terminal.Hinted{
		Err:  errors.New(path + " is for people, and a run of this repository started this process"),
		Hint: "say in the result what should be decided, and why: the user reads that in the report",
	}
}

// InRun reports whether a run started this process.
func InRun(a *App) bool {
	_, inside := runAbove(a)
	return inside
}

// runAbove finds the run that this process was started by: the folder where it was typed.
func runAbove(a *App) (folder string, inside bool) {
	for _, argv := range process.Ancestors() {
		if len(argv) == 3 && argv[1] == GuardianCommand {
			return argv[2], true
		}
		if root, ok := strings.CutPrefix(argv[0], sandbox.Title); ok { // no process sees the guardian from inside
			return root, true
		}
	}
	folder = a.Lookup("RELAY_DIR") // of a system that does not show its processes
	return folder, folder != ""
}

// CheckoutOfRun returns the top folder of the checkout in which records are kept: of a project that lies in that of a run whose agent or
// check has started this process, the one where the run was started; inside is true then. Otherwise it is the project's own.
func CheckoutOfRun(ctx context.Context, a *App, p *project.Project) (top string, inside bool) {
	folder, inside := runAbove(a)
	if !inside || !isSameRepository(ctx, p, folder) {
		return p.Root, false
	}
	git, err := git.Open(ctx, folder)
	if err != nil {
		return p.Root, false
	}
	return git.Root(), true
}

// isSameRepository reports whether a folder belongs to this repository, or this one's checkout is a slot of that repository or lies in it.
func isSameRepository(ctx context.Context, p *project.Project, folder string) bool {
	git, err := git.Open(ctx, folder)
	return err != nil || project.SameFile(git.CommonDir(), p.Git.CommonDir()) || slot.Borrows(p.Git, git) ||
		plaintext.Relative(git.Root(), p.Root) != p.Root
}
