package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
)

type installOptions struct {
	app   *cli.App
	agent string

	user, force, dryRun bool
}

func newCommandsCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "commands",
		Short: "Slash commands for agent CLIs",
	}
	cmd.AddCommand(newInstallCommand(a))
	return cmd
}

func newInstallCommand(a *cli.App) *cobra.Command {
	opts := installOptions{app: a}
	agents := configs.CommandAgents()
	cmd := &cobra.Command{
		Use:       "install AGENT",
		Short:     "Write slash commands for an agent CLI",
		Long:      "Write the slash commands init, work, status, handoff, resume, checkpoint and\nfinalize for an agent CLI:\n" + strings.Join(agents, ", ") + ". A file that is there and differs is kept\nunless --force is given.",
		Args:      cobra.ExactArgs(1),
		ValidArgs: agents,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.agent = args[0]
			return runInstall(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.user, "user", false, "install for your user, in every repository")
	cmd.Flags().Bool("project", false, "install in this repository (default)")
	cmd.Flags().BoolVar(&opts.force, "force", false, "replace files that differ")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "print the names of the files, and write nothing")
	cmd.MarkFlagsMutuallyExclusive("user", "project")
	return cmd
}

func runInstall(ctx context.Context, opts installOptions) error {
	if !slices.Contains(configs.CommandAgents(), opts.agent) {
		return &terminal.UsageError{Message: "there are no slash commands for " + terminal.Quote(opts.agent), Hint: "use one of " + strings.Join(configs.CommandAgents(), ", ")}
	}
	var base string
	if opts.user {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		base = home
	} else {
		p, err := opts.app.Repository(ctx)
		if err != nil {
			return err
		}
		base = p.Root
	}
	files, err := configs.Commands(opts.agent, opts.user)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		if err := opts.install(base, f); err != nil {
			return err
		}
		if f.Invoke != "" {
			names = append(names, f.Invoke)
		}
	}
	fmt.Fprintf(opts.app.Out, "in %s: %s\n", opts.agent, strings.Join(names, ", "))
	return nil
}

func (opts installOptions) install(base string, f configs.CommandFile) error {
	path := filepath.Join(base, filepath.FromSlash(f.Path))
	old, err := project.ReadFile(path, project.MaxScript)
	switch {
	case err == nil && bytes.Equal(old, f.Content):
		fmt.Fprintf(opts.app.Out, "unchanged  %s\n", path)
		return nil
	case err == nil && !opts.force:
		return &terminal.Hinted{Err: fmt.Errorf("%s exists already and differs", path), Hint: "look at it, then add --force to replace it"}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	if opts.dryRun {
		fmt.Fprintf(opts.app.Out, "would write  %s\n", path)
		return nil
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), project.ReplaceFile(path, f.Content)); err != nil {
		return err
	}
	fmt.Fprintf(opts.app.Out, "written  %s\n", path)
	return nil
}
