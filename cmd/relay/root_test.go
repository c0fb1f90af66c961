package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
)

// Help is read at night, on a small terminal.
func TestHelpFitsInto80Columns(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{in: strings.NewReader(""), out: newScrubber(&out), err: newScrubber(&out), now: time.Now}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		out.Reset()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for _, row := range strings.Split(out.String(), "\n") {
			if got := displaywidth.String(row); got > 80 {
				t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), got, row)
			}
		}
		if cmd.Short == "" && cmd.HasParent() || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: its line in the list is %q", cmd.CommandPath(), cmd.Short)
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(newRootCommand(a))
}
