// Package command runs commands: one that is an agent, acceptance commands, programs for their versions, and the scripted agent.
//
// command.go runs an agent that is known only by its command line.
//
// script.go is the scripted agent, which needs no model: it reads scripts and carries them out.
//
// shell.go runs acceptance commands: text of the user, never of an agent.
//
// version.go asks programs for their version and compares it with the versions that an adapter was tested on.
package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// Options describe any CLI by its command line.
type Options struct {
	Name string // "" : "command"
	// Argv is the command line. In each argument {prompt_file}, {result_file}, {dir}, {model}, {run}, {task}, {attempt},
	// {session} are replaced; an argument with a placeholder that has no value in this request is left out. Other
	// braces stay as they are.
	Argv []string
	// PromptArg says that the prompt is read from {prompt_file}: stdin is then the null device, else the prompt.
	PromptArg bool
	// Exit says that the exit status is the claim: 0 without a result is a success. Without it, silence means no result.
	Exit bool
	// Final says that the result is the last thing it writes: then it may live on only as long as Limits.Linger. Else it may
	// work on, and its end is that of its process.
	Final      bool
	Model      string   // for requests that name none
	Env        []string // added to the request's environment
	StopSignal string   // "TERM" (default) or "INT"
}

// Runner runs an agent that is known only by its command line. Its claim is the result file, or the last fenced
// relay-result block of its output.
type Runner struct {
	sup process.Supervisor
	Options
}

// New returns a runner for the CLI that o describes.
func New(sup process.Supervisor, o Options) *Runner {
	o.Name = cmp.Or(o.Name, "command")
	return &Runner{sup: sup, Options: o}
}

// Name returns the runner's name in configuration and ledger.
func (c *Runner) Name() string { return c.Options.Name }

// Run runs the command once.
func (c *Runner) Run(ctx context.Context, req runners.Request) (runners.Report, error) {
	if len(c.Argv) == 0 {
		return adapter.StartFault(fmt.Errorf("agent %s has no command line (argv)", c.Name())), nil
	}
	req.Model = cmp.Or(req.Model, c.Model)
	if err := adapter.ClearResult(req); err != nil {
		return runners.Report{}, err
	}
	cmd := adapter.Command(req, expand(c.Argv, req), c.Env)
	cmd.StopSignal = c.StopSignal
	if c.PromptArg {
		cmd.Stdin = ""
	}
	w := adapter.Process{Supervisor: c.sup, Command: cmd, Limits: req.Limits, State: c.state(req)}
	if req.Observe != nil {
		l := listener{req: req, state: w.State}
		w.ReadLine, w.State, w.MaxLine = l.line, l.poll, watchedLine
	}
	e, err := w.Run(ctx)
	if err != nil {
		if w.CannotStart(err) {
			return adapter.StartFault(err), nil
		}
		return runners.Report{}, err
	}
	r := runners.Report{Exit: e.Exit, Model: req.Model, Session: req.Session}
	if err := c.report(&r, e, req); err != nil {
		return r, err
	}
	return r, w.Compact()
}

// report fills in what the command's end and output mean.
func (c *Runner) report(r *runners.Report, e adapter.ProcessEnd, req runners.Request) error {
	out, err := adapter.LastBytes(req.Transcript, runners.MaxFinal)
	if err != nil {
		return err
	}
	r.FinalText = runners.CleanTextEnd(out, runners.MaxFinal)
	o, detail, ok := e.Stopped(resultState(req) == adapter.Finished)
	switch {
	case ok:
		r.Outcome, r.Detail = o, runners.OneLine(detail, runners.MaxDetail)
	case e.Failed():
		r.Outcome, r.Detail = runners.Failed, adapter.ExitDetail(e.Exit, req.Stderr)
		if r.Detail == runners.DescribeExit(e.Exit) { // it said nothing on stderr
			r.Detail = adapter.ExitWords(e.Exit, string(out))
		}
	}
	if req.Question {
		if data, err := runners.ReadResultFile(req.Result); err == nil {
			r.FinalText = runners.CleanText(string(data), runners.MaxFinal)
		}
		if r.Outcome == "" {
			r.Outcome, r.Detail = adapter.ClaimOutcome(req, r, nil)
		}
		return nil
	}
	r.Result, err = adapter.FindResult(nil, req.Result, string(out))
	if r.Outcome == "" {
		r.Outcome, r.Detail = adapter.ClaimOutcome(req, r, err)
	}
	if r.Outcome == runners.NoResult && c.Exit {
		r.Outcome, r.Detail = runners.Claimed, ""
	}
	r.Detail = adapter.JoinDetail(r.Detail, adapter.LeftBehind(e.Exit))
	return nil
}

// watchedLine is the longest line that a watcher sees: several agents at a time may print one without an end.
const watchedLine = 64 << 10

// listener tells a watcher the last line of each look: a command may print faster than anyone can read.
type listener struct {
	req   runners.Request
	state func() adapter.ProcessState
	last  []byte
}

func (l *listener) line(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		l.last = append(l.last[:0], line[:min(len(line), 4*runners.MaxEvent)]...)
	}
}

func (l *listener) poll() adapter.ProcessState {
	if len(l.last) > 0 {
		adapter.Observe(l.req, runners.EventText, string(l.last))
		l.last = l.last[:0]
	}
	return l.state()
}

// state returns how the monitor learns whether the command has finished.
func (c *Runner) state(req runners.Request) func() adapter.ProcessState {
	if c.Final {
		return func() adapter.ProcessState { return resultState(req) }
	}
	return func() adapter.ProcessState { return adapter.Working }
}

// resultState returns Finished once the result file is there: a command has no other final message.
func resultState(req runners.Request) adapter.ProcessState {
	if info, err := os.Lstat(req.Result); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return adapter.Finished
	}
	return adapter.Working
}

// expand replaces the placeholders of each argument, once: what a value holds is not looked at again.
func expand(argv []string, req runners.Request) []string {
	m := adapter.ParseMark(req.Mark)
	values := []string{
		"{prompt_file}", req.Prompt, "{result_file}", req.Result, "{dir}", req.Dir, "{model}", req.Model,
		"{run}", m.Run, "{task}", m.Task, "{attempt}", m.Attempt, "{session}", req.Session,
	}
	fill, expanded := strings.NewReplacer(values...), make([]string, 0, len(argv))
	for _, arg := range argv {
		missing := false
		for pair := range slices.Chunk(values, 2) {
			missing = missing || pair[1] == "" && strings.Contains(arg, pair[0])
		}
		if !missing {
			expanded = append(expanded, fill.Replace(arg))
		}
	}
	return expanded
}
