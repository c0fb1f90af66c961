// Package watch shows a night full screen in a terminal, while it goes on and afterwards. It renders the model of package view, reads files
// only, and leaves every decision to the functions of the commands: leaving it leaves the run.
//
// feed.go reads the files. model.go has the state of the screen, keys.go what keys do. window.go, list.go, pane.go
// and timeline.go draw.
package watch

import (
	"context"
	"errors"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/view"
)

// framesASecond bounds how often the screen is drawn.
const framesASecond = 20

// Run shows the night that ends with a run until the person leaves it; "" is the newest. Decisions are commands that relay runs.
func Run(ctx context.Context, a *cli.App, run string, relay func(ctx context.Context, args ...string) (string, error)) error {
	hint := "relay status shows how the epic stands, relay status --watch goes on with it"
	in, isFile := a.In.(*os.File)
	if !isFile || !a.CanAsk() || !terminal.IsTerminal(a.Out.Dest) {
		return &terminal.Hinted{Err: errors.New("relay watch needs a terminal"), Code: terminal.Usage, Hint: hint}
	}
	if term := a.Lookup("TERM"); term == "" || term == "dumb" {
		return &terminal.Hinted{Err: errors.New("relay watch needs a terminal that can place text (TERM is dumb or not set)"), Code: terminal.Usage, Hint: hint}
	}
	feed, err := Open(ctx, a, run)
	if err != nil {
		return err
	}
	feed.run = relay
	night, err := feed.Next(ctx)
	if err != nil {
		return err
	}
	m := newModel(ctx, feed, night, a.Now, feed.style)
	profile := colorprofile.Ascii
	if a.Out.Palette {
		profile = colorprofile.ANSI
	}
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(a.Out.Dest), tea.WithEnvironment(a.Environ),
		tea.WithColorProfile(profile), tea.WithFPS(framesASecond)).Run()
	if m.win.night.Run.State == view.On {
		fmt.Fprintln(a.Err, "relay: the run goes on; relay watch shows it again, relay stop stops it")
	}
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
