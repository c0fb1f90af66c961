package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// gitCommand is a git command that an agent has run, as git itself has written it down (GIT_TRACE2_EVENT). It is evidence
// of what the agent did: nobody else's git writes there. That there is none proves nothing, an agent can clear its
// environment.
type gitCommand struct {
	name     string // push
	args     []string
	worktree string // it worked in, without symbolic links; "": none
	code     int    // exit status
}

// String is the command as somebody would type it in the same place.
func (c gitCommand) String() string {
	var line strings.Builder
	line.WriteString("git")
	for _, arg := range c.args[max(0, slices.Index(c.args, c.name)):] {
		line.WriteString(" " + text.ShellWord(arg))
	}
	return attempts.Clean(line.String(), 200)
}

// Bounds of what git writes down of one turn of an agent: processes, and bytes that are read of each.
const (
	tracedProcesses = 4096
	tracedBytes     = 64 << 10
)

// traced adds to an agent's environment that git writes down its commands. Without the folder git does not. Side by side in
// one checkout it is not asked to: changes belong to no task there.
func (c *checkout) traced(a engine.Attempt, env []string) []string {
	if c.tree == nil {
		return env
	}
	c.traces, c.turned = filesOf(c.o.Dir, a).traces, true
	if os.MkdirAll(c.traces, 0o700) != nil {
		return env
	}
	return append(env, "GIT_TRACE2_EVENT="+c.traces, "GIT_TRACE2_EVENT_BRIEF=1", "GIT_TRACE2_EVENT_NESTING=1", fmt.Sprintf("GIT_TRACE2_MAX_FILES=%d", tracedProcesses))
}

// gitCommands returns what the agent has had git do since it was last asked. What the agent put in place of a trace is
// passed over.
func (c *checkout) gitCommands() (list []gitCommand) {
	if c.traces == "" {
		return nil
	}
	entries, err := os.ReadDir(c.traces)
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), tracedProcesses)] {
		if !e.Type().IsRegular() {
			continue
		}
		if f, err := os.Open(filepath.Join(c.traces, e.Name())); err == nil {
			text, _ := io.ReadAll(io.LimitReader(f, tracedBytes))
			_ = f.Close()
			if cmd := parseTrace(text); cmd.name != "" {
				list = append(list, cmd)
			}
		}
	}
	_ = os.RemoveAll(c.traces) // what stays is read again, and says the same
	return list
}

// parseTrace reads what one process of git has written, one event in a line.
func parseTrace(text []byte) gitCommand {
	cmd := gitCommand{code: -1}
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
			cmd.args = e.Argv[min(1, len(e.Argv)):]
		case "def_repo":
			cmd.worktree = filepath.FromSlash(e.Worktree)
		case "cmd_name":
			cmd.name = e.Name
		case "exit":
			cmd.code = e.Code
		}
	}
	return cmd
}

// operands are the arguments behind the subcommand that are no options. The value of an option that stands by itself is
// taken for one.
func (c gitCommand) operands() (list []string) {
	for i := range c.args {
		if c.args[i] != c.name {
			continue
		}
		for _, arg := range c.args[i+1:] {
			if !strings.HasPrefix(arg, "-") {
				list = append(list, arg)
			}
		}
		break
	}
	return list
}

// changesCheckout reports whether a command changes HEAD, the index or files where it is run.
func (c gitCommand) changesCheckout() bool {
	if c.has("-h", "--help", "-n", "--dry-run") {
		return false
	}
	switch c.name {
	case "add", "am", "apply", "bisect", "checkout", "checkout-index", "cherry-pick", "clean", "commit", "merge", "mv", "pull", "read-tree", "rebase",
		"reset", "restore", "revert", "rm", "stash", "switch", "symbolic-ref", "update-index", "update-ref":
		return true
	}
	return false
}

// takesStash reports whether a command takes entries out of the stash.
func (c gitCommand) takesStash() bool { return c.name == "stash" && c.has("clear", "drop", "pop") }

// has reports whether one of some options was given.
func (c gitCommand) has(options ...string) bool {
	for _, arg := range c.args {
		if slices.Contains(options, arg) {
			return true
		}
	}
	return false
}
