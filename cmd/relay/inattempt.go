package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/reanchor"
	"relay/runners/process"
)

// personal are the commands by which a person decides what is worked on and what counts.
var personal = []string{"init", "work", "reload", "finish", "clean", "gate", "ungate", "retry", "accept", "repair"}

// refuseInAttempt refuses such a command to what a run of the same repository has started: an agent, or a check. Whose agent
// session was not started by relay may type anything.
func (a *app) refuseInAttempt(cmd *cobra.Command) error {
	folder, inside := a.runAbove()
	if dry := cmd.Flags().Lookup("dry-run"); !inside || !slices.Contains(personal, cmd.Name()) || dry != nil && dry.Changed {
		return nil
	}
	p, err := a.repository(cmd.Context())
	if err != nil || !isSameRepository(cmd.Context(), p, folder) {
		return nil // the command says what is wrong; or it is another repository, as in tests of relay itself
	}
	return &exit.Hinted{Err: errors.New(cmd.CommandPath() + " is for people, and this was started by a run of this repository"),
		Hint: "say in the result what should be decided, and why; whoever reads the report types it"}
}

// runAbove finds the run that this process was started by: the folder where it was typed.
func (a *app) runAbove() (folder string, inside bool) {
	for _, argv := range process.Ancestors() {
		if len(argv) == 3 && argv[1] == guardianCommand {
			return argv[2], true
		}
	}
	folder = a.lookup("RELAY_DIR") // of a system that does not show its processes
	return folder, folder != ""
}

// isSameRepository reports whether a folder belongs to this repository, or this one's checkout lies in that repository.
func isSameRepository(ctx context.Context, p *project.Project, folder string) bool {
	git, err := reanchor.OpenGit(ctx, folder)
	return err != nil || project.SameFile(git.CommonDir(), p.Git.CommonDir()) || project.Rel(git.Root(), p.Root) != p.Root
}
