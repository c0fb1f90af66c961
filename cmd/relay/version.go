package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"relay/cmd/relay/internal/cli"

	"github.com/spf13/cobra"
)

// version returns the module's version as the toolchain recorded it, with the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
	}
	return v
}

func newVersionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "relay %s %s/%s %s\n", version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}
