package runners

import (
	"fmt"
	"strconv"
	"strings"

	"relay/runners/process"
)

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
func (req Request) command(argv []string, settings ...[]string) process.Command {
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

// GitSettings are the variables that give git more settings (NAME=VALUE), after those that the environment gives it already.
func GitSettings(env []string, settings ...string) []string {
	if len(settings) == 0 {
		return nil
	}
	n := 0
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(value) // git refuses what is no number, with or without ours
		}
	}
	var more []string
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		more = append(more, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	return append(more, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

func (req Request) observe(kind EventKind, text string) {
	if req.Observe != nil {
		req.Observe(Event{Kind: kind, Text: oneLine(text, maxEvent)})
	}
}

// startFault is the report of an agent that could not be started.
func startFault(err error) Report {
	return Report{Outcome: CannotStart, Detail: oneLine(err.Error(), maxDetail)}
}
