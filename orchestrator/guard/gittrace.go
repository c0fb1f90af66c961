package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/plaintext"
)

// TracedCommand is a git command that an agent has run, as git itself has written it down (GIT_TRACE2_EVENT). It is evidence
// of what the agent did: no other git writes there. A missing one proves nothing, as an agent can clear its
// environment.
type TracedCommand struct {
	Name     string // push
	Args     []string
	Worktree string // it worked in, without symbolic links; "": none
	Code     int    // exit status
}

// String returns the command as somebody would type it in the same place.
func (c TracedCommand) String() string {
	return plaintext.Capped(gitLine(c.Args[max(0, slices.Index(c.Args, c.Name)):]...), 200)
}

// Bounds of what git writes down of one turn of an agent: processes, and bytes that are read of each.
const (
	tracedProcesses = 4096
	tracedBytes     = 64 << 10
)

// TraceEnv returns the variables that have git write down its commands in a folder.
func TraceEnv(folder string) []string {
	return []string{
		"GIT_TRACE2_EVENT=" + folder, "GIT_TRACE2_EVENT_BRIEF=1",
		"GIT_TRACE2_EVENT_NESTING=1", fmt.Sprintf("GIT_TRACE2_MAX_FILES=%d", tracedProcesses),
	}
}

// TakeTrace returns the commands that git has written down in a folder, and removes the folder. It skips what
// an agent has put in place of a trace.
func TakeTrace(folder string) (list []TracedCommand) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), tracedProcesses)] {
		if !e.Type().IsRegular() {
			continue
		}
		if f, err := os.Open(filepath.Join(folder, e.Name())); err == nil {
			text, _ := io.ReadAll(io.LimitReader(f, tracedBytes))
			_ = f.Close()
			if cmd := parse(text); cmd.Name != "" {
				list = append(list, cmd)
			}
		}
	}
	_ = os.RemoveAll(folder) // what stays is read again, and says the same
	return list
}

// parse reads what one process of git has written, one event in a line.
func parse(text []byte) TracedCommand {
	cmd := TracedCommand{Code: -1}
	for line := range bytes.Lines(text) {
		var e struct {
			Event, Worktree, Name string
			Argv                  []string
			Code                  int
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		switch e.Event {
		case "start":
			cmd.Args = e.Argv[min(1, len(e.Argv)):]
		case "def_repo":
			cmd.Worktree = filepath.FromSlash(e.Worktree)
		case "cmd_name":
			cmd.Name = e.Name
		case "exit":
			cmd.Code = e.Code
		}
	}
	return cmd
}

// Operands returns the arguments behind the subcommand that are no options. The value of an option that stands by
// itself is taken for one.
func (c TracedCommand) Operands() []string {
	at := slices.Index(c.Args, c.Name)
	if at < 0 {
		return nil
	}
	return each.Where(c.Args[at+1:], func(arg string) (string, bool) { return arg, !strings.HasPrefix(arg, "-") })
}

// ChangesCheckout reports whether a command changes HEAD, the index or files where it is run.
func (c TracedCommand) ChangesCheckout() bool {
	if c.Has("-h", "--help", "-n", "--dry-run") {
		return false
	}
	switch c.Name {
	case "add", "am", "apply", "bisect", "checkout", "checkout-index", "cherry-pick", "clean", "commit", "merge", "mv", "pull",
		"read-tree", "rebase", "reset", "restore", "revert", "rm", "stash", "switch", "symbolic-ref", "update-index", "update-ref":
		return true
	}
	return false
}

// TakesStash reports whether a command takes entries out of the stash.
func (c TracedCommand) TakesStash() bool { return c.Name == "stash" && c.Has("clear", "drop", "pop") }

// Has reports whether one of some options was given.
func (c TracedCommand) Has(options ...string) bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool { return slices.Contains(options, arg) })
}

// gitLine returns a git command as somebody would type it.
func gitLine(args ...string) string {
	return strings.Join(append([]string{"git"}, each.Of(args, plaintext.ShellWord)...), " ")
}
