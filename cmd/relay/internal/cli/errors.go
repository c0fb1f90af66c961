package cli

import (
	"errors"
	"fmt"
	"strings"

	"relay/cmd/relay/internal/exit"
)

// ReportError tells the user of an error and returns the exit code that belongs to it.
func (a *App) ReportError(err error) int {
	var code exit.Code
	switch {
	case err == nil:
		return exit.OK
	case errors.As(err, &code):
		return int(code)
	}
	d := exit.Diagnose(err)
	for _, m := range d.Messages {
		for row := range strings.SplitSeq(m, "\n") {
			fmt.Fprintf(a.Err, "relay: %s %s\n", a.Err.Palette.Bad("error:"), a.Secrets.Text(row))
		}
	}
	for row := range strings.Lines(d.Hint) {
		if !strings.HasPrefix(row, " ") { // else it belongs to an example
			row = "relay: hint: " + row
		}
		fmt.Fprintln(a.Err, strings.TrimSuffix(row, "\n"))
	}
	return d.Code
}
