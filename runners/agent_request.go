package runners

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"relay/runners/internal/cleantext"
	"relay/runners/process"
)

// clearResult makes sure that no result is there before the agent runs: a stale one would be taken for its claim.
func clearResult(req Request) error {
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
	envTask    = "RELAY_TASK"
	envResult  = "RELAY_RESULT"  // where it may write its result
	envPrompt  = "RELAY_PROMPT"  // the file it gets on stdin, for what runs further down its tree
	envSession = "RELAY_SESSION" // only when a session is resumed
)

// mark is the name of an attempt, taken apart: run/task/attempt, and for what is asked about an attempt a role
// (run/task/attempt/review).
type mark struct{ run, task, attempt, role string }

func parseMark(s string) mark {
	parts := append(strings.SplitN(s, "/", 4), "", "", "", "")
	return mark{run: parts[0], task: parts[1], attempt: parts[2], role: parts[3]}
}

// command is the part of a supervised command that does not depend on the CLI.
func command(req Request, argv []string, settings ...[]string) process.Command {
	own := []string{envTask + "=" + parseMark(req.Mark).task, envPrompt + "=" + req.Prompt}
	if req.Result != "" {
		own = append(own, envResult+"="+req.Result)
	}
	if req.Session != "" {
		own = append(own, envSession+"="+req.Session)
	}
	return process.Command{
		Argv: argv, Env: mergeEnv(append([][]string{req.Env}, append(settings, own)...)...), Dir: req.Dir,
		Stdin: req.Prompt, Stdout: req.Transcript, Stderr: req.Stderr, End: req.End,
		Mark: req.Mark, StopGrace: req.Limits.StopGrace,
	}
}

// mergeEnv joins lists of NAME=value; a later value of a name replaces an earlier one in its place.
func mergeEnv(lists ...[]string) []string {
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

func observe(req Request, kind EventKind, text string) {
	if req.Observe != nil {
		req.Observe(Event{Kind: kind, Text: cleantext.OneLine(text, cleantext.MaxEvent)})
	}
}

// startFault is the report of an agent that could not be started.
func startFault(err error) Report {
	return Report{Outcome: CannotStart, Detail: cleantext.OneLine(err.Error(), cleantext.MaxDetail)}
}

// sessionPattern, with maxSession, keeps what comes back as an argument of --resume from being a flag or anything else.
var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxSession = 128

func sessionID(id, otherwise string) string {
	if len(id) <= maxSession && sessionPattern.MatchString(id) {
		return id
	}
	return otherwise
}
