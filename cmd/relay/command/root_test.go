package command

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
)

var update = flag.Bool("update", false, "write the pages of the help")

// Help is read at night, on a small terminal. What every page says is in testdata/help.
func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &cli.App{In: strings.NewReader(""), Out: terminal.NewWriter(&out), Err: terminal.NewWriter(&out), Now: time.Now}
	folder := filepath.Join("testdata", "help")
	root := newRootCommand(a)
	pages := map[string]bool{}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		out.Reset()
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		page := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".golden"
		pages[page] = true
		checkPage(t, cmd, filepath.Join(folder, page), out.String())
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(root)
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !pages[entry.Name()] {
			t.Errorf("testdata/help/%s belongs to no command: remove it", entry.Name())
		}
	}
}

func checkPage(t *testing.T, cmd *cobra.Command, golden, got string) {
	t.Helper()
	for row := range strings.SplitSeq(got, "\n") {
		if width := displaywidth.String(row); width > 80 {
			t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), width, row)
		}
	}
	if cmd.Short == "" && cmd.HasParent() || strings.HasSuffix(cmd.Short, ".") {
		t.Errorf("%s: its line in the list is %q", cmd.CommandPath(), cmd.Short)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Errorf("%s --help has no golden page: go test ./cmd/relay/command -run 'TestHelp$' -update", cmd.CommandPath())
		return
	}
	if got != string(want) {
		t.Errorf("%s --help differs from %s; when it is meant so: go test ./cmd/relay/command -run 'TestHelp$' -update\n%s", cmd.CommandPath(), golden, changed(got, string(want)))
	}
}

// changed are the rows of a page that are not in the other one.
func changed(got, want string) string {
	old := strings.Split(want, "\n")
	fresh := slices.DeleteFunc(strings.Split(got, "\n"), func(row string) bool { return slices.Contains(old, row) })
	return strings.Join(fresh, "\n")
}
