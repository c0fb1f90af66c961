// Package adapter is what the adapters of all CLIs share: settings, streams of JSON lines, limits of a process, and results.
//
// request.go holds what the runners of all CLIs do with a request and with what came of it: commands, results, outcomes, faults of
// providers, and the settings in the user's home.
//
// stream.go runs CLIs that print a stream of events, tells watchers of it, and counts what was used of the model.
//
// line.go reads the JSON lines that agent CLIs print.
//
// process.go runs one supervised process, reads its output as it comes and holds it to its limits.
package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// ClearResult makes sure that no result is there before the agent runs: an old one would be taken for its claim. It fails
// when it cannot be removed.
func ClearResult(req runners.Request) error {
	path := req.Result
	if path == "" || req.Ended {
		return nil
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory, not a place for a result", path)
	}
	return os.Remove(path)
}

// The environment variables an agent finds besides RELAY_ATTEMPT, which is its mark.
const (
	EnvTask    = "RELAY_TASK"
	EnvResult  = "RELAY_RESULT"  // where it may write its result
	envPrompt  = "RELAY_PROMPT"  // the file it gets on stdin, for what runs further down its tree
	envSession = "RELAY_SESSION" // only when a session is resumed
)

// Mark is the name of an attempt, taken apart: run/task/attempt, and for what is asked about an attempt a role
// (run/task/attempt/review).
type Mark struct{ Run, Task, Attempt, Role string }

// ParseMark parses a request's mark; parts that are missing are empty.
func ParseMark(s string) Mark {
	parts := append(strings.SplitN(s, "/", 4), "", "", "", "")
	return Mark{Run: parts[0], Task: parts[1], Attempt: parts[2], Role: parts[3]}
}

// Command returns the part of a supervised command that does not depend on the CLI. Of the settings of the environment a
// later list is stronger.
func Command(req runners.Request, argv []string, settings ...[]string) process.Command {
	own := []string{EnvTask + "=" + ParseMark(req.Mark).Task, envPrompt + "=" + req.Prompt}
	if req.Result != "" {
		own = append(own, EnvResult+"="+req.Result)
	}
	if req.Session != "" {
		own = append(own, envSession+"="+req.Session)
	}
	return process.Command{
		Argv: argv, Env: MergeEnv(append([][]string{req.Env}, append(settings, own)...)...), Dir: req.Dir,
		Stdin: req.Prompt, Stdout: req.Transcript, Stderr: req.Stderr, End: req.End,
		Mark: req.Mark, StopGrace: req.Limits.StopGrace, Role: cmp.Or(req.Role, sandbox.Agent),
	}
}

// ServerName is how the MCP server that agents get is called in the configuration of their CLI.
const ServerName = "relay"

// Variables lists the names of the variables that an agent finds, in order.
func Variables(req runners.Request, env []string) []string {
	names := []string{"RELAY_ATTEMPT", EnvTask, EnvResult}
	for _, entry := range slices.Concat(req.Env, env) {
		if name, _, _ := strings.Cut(entry, "="); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// MergeEnv joins lists of NAME=value; a later value of a name replaces an earlier one in its place.
func MergeEnv(lists ...[]string) []string {
	var n int
	for _, list := range lists {
		n += len(list)
	}
	merged, at := make([]string, 0, n), make(map[string]int, n)
	for _, list := range lists {
		for _, entry := range list {
			name, _, _ := strings.Cut(entry, "=")
			if i, ok := at[name]; ok {
				merged[i] = entry
				continue
			}
			at[name] = len(merged)
			merged = append(merged, entry)
		}
	}
	return merged
}

// Observe passes an event with this text to the request's observer, if there is one.
func Observe(req runners.Request, kind runners.EventKind, text string) {
	if req.Observe != nil {
		req.Observe(runners.Event{Kind: kind, Text: runners.OneLine(text, runners.MaxEvent)})
	}
}

// StartFault returns the report of an agent that could not be started.
func StartFault(err error) runners.Report {
	return runners.Report{Outcome: runners.CannotStart, Detail: runners.OneLine(err.Error(), runners.MaxDetail)}
}

// sessionPattern, with maxSession, keeps what comes back as an argument of --resume from being a flag or anything else.
var sessionPattern = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxSession = 128

// SessionID returns a session's id if it can be used as an argument, and otherwise the other one.
func SessionID(id, otherwise string) string {
	if len(id) <= maxSession && sessionPattern.MatchString(id) {
		return id
	}
	return otherwise
}
