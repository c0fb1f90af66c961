package command

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/runners/command"
	"relay/runners/process"
)

// steadyGrowth is what the heap of a guardian may grow by, in per cent: it keeps next to nothing, all night long.
const steadyGrowth = 100

func newGuardianCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    cli.GuardianCommand + " FOLDER",
		Short:  "Watch over the processes of a run",
		Hidden: true,
		Args:   cobra.MaximumNArgs(1),
		RunE: func(*cobra.Command, []string) error {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(steadyGrowth)
			}
			return process.ServeGuardian(os.Stdin, os.Stdout)
		},
	}
}

func newAgentCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    project.ScriptedAgentCommand + " SCRIPT",
		Short:  "Be the scripted agent",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(cmd *cobra.Command, args []string) error { return runAgent(cmd.Context(), a, args[0]) },
	}
}

func runAgent(ctx context.Context, a *cli.App, path string) error {
	text, err := project.ReadFile(path, project.MaxScript)
	if err != nil {
		return fmt.Errorf("read the script: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	return terminal.Exit(command.RunScript(ctx, text, command.ScriptEnv{
		Name: path, Environ: a.Environ, Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}

func newVersionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "relay %s %s/%s %s\n", project.RelayVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}
