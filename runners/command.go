package runners

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"relay/runners/internal/cleantext"
	"relay/runners/process"
)

// CommandOptions describe any CLI by its command line.
type CommandOptions struct {
	Name string // "" : "command"
	// Argv is the command line. In each argument {prompt_file}, {result_file}, {dir}, {model}, {run}, {task}, {attempt},
	// {session} are replaced; an argument with a placeholder that has no value in this request is left out. Other
	// braces stay as they are.
	Argv []string
	// PromptArg says that the prompt is read from {prompt_file}: stdin is then the null device, else the prompt.
	PromptArg bool
	// Exit says that the exit status is the claim: 0 without a result is a success. Without it, silence is no result.
	Exit bool
	// Final says that the result is the last thing it writes: then it may live on only as long as Limits.Linger. Else it may
	// work on, and its end is that of its process.
	Final      bool
	Model      string   // for requests that name none
	Env        []string // added to the request's environment
	StopSignal string   // "TERM" (default) or "INT"
}

// Command runs an agent that is known only by its command line. Its claim is the result file, or the last fenced
// relay-result block of its output.
type Command struct {
	sup process.Supervisor
	CommandOptions
}

// NewCommand returns a runner for the CLI that o describes.
func NewCommand(sup process.Supervisor, o CommandOptions) *Command {
	if o.Name == "" {
		o.Name = "command"
	}
	return &Command{sup: sup, CommandOptions: o}
}

// Name is the runner's name in configuration and ledger.
func (c *Command) Name() string { return c.CommandOptions.Name }

// Run runs the command once.
func (c *Command) Run(ctx context.Context, req Request) (Report, error) {
	if len(c.Argv) == 0 {
		return startFault(fmt.Errorf("agent %s has no command line (argv)", c.Name())), nil
	}
	if req.Model == "" {
		req.Model = c.Model
	}
	if err := clearResult(req); err != nil {
		return Report{}, err
	}
	cmd := command(req, expand(c.Argv, req), c.Env)
	cmd.StopSignal = c.StopSignal
	if c.PromptArg {
		cmd.Stdin = ""
	}
	w := watch{sup: c.sup, cmd: cmd, limits: req.Limits, mood: c.mood(req)}
	if req.Observe != nil {
		l := listener{req: req, mood: w.mood}
		w.read, w.mood, w.long = l.line, l.tell, watchedLine
	}
	e, err := w.run(ctx)
	if err != nil {
		if w.cannotStart(err) {
			return startFault(err), nil
		}
		return Report{}, err
	}
	r := Report{Exit: e.exit, Model: req.Model, Session: req.Session}
	if err := c.report(&r, e, req); err != nil {
		return r, err
	}
	return r, w.compact()
}

// report fills in what the command's end and output mean.
func (c *Command) report(r *Report, e end, req Request) error {
	out, err := lastBytes(req.Transcript, cleantext.MaxFinal)
	if err != nil {
		return err
	}
	r.FinalText = cleantext.CleanEnd(out, cleantext.MaxFinal)
	o, detail, ok := e.stopped(resultMood(req) == finished)
	switch {
	case ok:
		r.Outcome, r.Detail = o, cleantext.OneLine(detail, cleantext.MaxDetail)
	case e.exit.Code != 0 && !e.exit.Stopped:
		r.Outcome, r.Detail = Failed, exitDetail(e.exit, req.Stderr)
	}
	if req.Question {
		c.answer(r, req)
		return nil
	}
	result, err := claim(nil, req.Result, string(out))
	r.Result = result
	if r.Outcome == "" {
		r.Outcome, r.Detail = claimed(result, err)
	}
	if r.Outcome == NoResult && c.Exit {
		r.Outcome, r.Detail = Claimed, ""
	}
	r.Detail = joinDetail(r.Detail, leftBehind(e.exit))
	return nil
}

// watchedLine is the longest line a watcher is told of: several agents at a time may print one without an end.
const watchedLine = 64 << 10

// listener tells a watcher the last line of each look: a command may print faster than anyone can read.
type listener struct {
	req  Request
	mood func() mood
	last []byte
}

func (l *listener) line(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		l.last = append(l.last[:0], line[:min(len(line), 4*cleantext.MaxEvent)]...)
	}
}

func (l *listener) tell() mood {
	if len(l.last) > 0 {
		observe(l.req, EventText, string(l.last))
		l.last = l.last[:0]
	}
	return l.mood()
}

// mood is what a watch asks of the command.
func (c *Command) mood(req Request) func() mood {
	if c.Final {
		return func() mood { return resultMood(req) }
	}
	return func() mood { return working }
}

// mood is finished once the result file is there: a command has no other final message to tell.
func resultMood(req Request) mood {
	if info, err := os.Lstat(req.Result); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return finished
	}
	return working
}

// answer is the outcome of a question: the result file when there is one, else all of the output's end.
func (c *Command) answer(r *Report, req Request) {
	if data, err := ReadResultFile(req.Result); err == nil {
		r.FinalText = cleantext.Clean(string(data), cleantext.MaxFinal)
	}
	if r.Outcome == "" {
		r.Outcome, r.Detail = answered(r.FinalText)
	}
}

// expand replaces the placeholders of each argument.
func expand(argv []string, req Request) []string {
	m := parseMark(req.Mark)
	values := map[string]string{
		"prompt_file": req.Prompt, "result_file": req.Result, "dir": req.Dir, "model": req.Model,
		"run": m.run, "task": m.task, "attempt": m.attempt, "session": req.Session,
	}
	expanded := make([]string, 0, len(argv))
	for _, arg := range argv {
		if text, err := fill(arg, values); err == nil {
			expanded = append(expanded, text)
		}
	}
	return expanded
}

var errNoValue = errors.New("placeholder without a value")

// fill replaces {name} by its value, once: what a value holds is not looked at again.
func fill(arg string, values map[string]string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(arg, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := values[name]
		switch {
		case !known || !closed:
			b.WriteByte('{')
			arg = rest
			continue
		case value == "":
			return "", errNoValue
		}
		b.WriteString(value)
		arg = after
	}
}
