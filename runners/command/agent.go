package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// ScriptEnv records where the scripted agent runs, and with what.
type ScriptEnv struct {
	Name           string   // of the script, for messages
	Environ        []string // RELAY_ATTEMPT and RELAY_TASK say which steps are meant, RELAY_RESULT where claims go
	Dir            string   // working directory
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Exit statuses of the scripted agent that no step asks for.
const (
	exitBadScript  = 64
	exitNoSession  = 65
	exitUnexpected = 66 // the prompt is not as the script expects
	exitStep       = 67 // a step could not be carried out
)

const maxPrompt = 16 << 20

// RunScript carries out the steps the script has for this task and attempt, and returns the agent's exit status.
func RunScript(ctx context.Context, script []byte, env ScriptEnv) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(env.Stderr, "scripted agent: %v\n", err)
		return code
	}
	s, err := ParseScript(env.Name, script)
	if err != nil {
		return fail(exitBadScript, err)
	}
	a := scriptedAgent{ScriptEnv: env}
	m := adapter.ParseMark(a.getenv("RELAY_ATTEMPT"))
	if task := a.getenv(adapter.EnvTask); task != "" {
		m.Task = task
	}
	steps := s.session(m)
	if steps == nil {
		return fail(exitNoSession, fmt.Errorf("%s has no session for %s", env.Name, a.getenv("RELAY_ATTEMPT")))
	}
	prompt, err := io.ReadAll(io.LimitReader(env.Stdin, maxPrompt))
	if err != nil {
		return fail(exitStep, err)
	}
	a.prompt = string(prompt)
	for _, st := range steps {
		err := a.carryOut(ctx, st)
		var end *endError
		switch {
		case errors.As(err, &end):
			if end.message != "" {
				fmt.Fprintln(env.Stderr, end.message)
			}
			return end.code
		case err != nil:
			return fail(exitStep, fmt.Errorf("%s:%d: %s: %w", env.Name, st.line, st.name, err))
		}
	}
	return 0
}

// endError ends the session.
type endError struct {
	code    int
	message string
}

func (e *endError) Error() string { return fmt.Sprintf("exit status %d: %s", e.code, e.message) }

type scriptedAgent struct {
	ScriptEnv
	prompt string
}

func (a *scriptedAgent) getenv(name string) string { return runners.Variable(a.Environ, name) }

func (a *scriptedAgent) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Dir, name)
}

// command runs a program of the session to its end, with the agent's own output.
func (a *scriptedAgent) command(ctx context.Context, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.Dir, a.Environ, a.Stdout, a.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &endError{code: max(1, exit.ExitCode()), message: strings.Join(argv, " ") + ": " + exit.Error()}
	}
	return err
}

func (a *scriptedAgent) writeFile(name, text string, flags int) error {
	path := a.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (a *scriptedAgent) edit(name, from, to string) error {
	path := a.path(name)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if from == "" || !strings.Contains(string(data), from) {
		return fmt.Errorf("%s does not hold %q", name, from)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o666)
}
