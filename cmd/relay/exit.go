package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"relay/attempts"
	"relay/configs"
	"relay/epic"
	"relay/orchestrator"
	"relay/orchestrator/words"
	"relay/reanchor"
	"relay/runners/process"
)

// Exit codes, the same for every command.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitGated       = 3  // finished with gated or blocked tasks
	exitStopped     = 4  // by a deadline or a budget
	exitInvalid     = 10 // epic or configuration
	exitRunning     = 11 // another run holds the epic
	exitNoRunner    = 12
	exitInterrupted = 130
	exitTerminated  = 143
)

// usageError is a mistake on the command line.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

// hinted is an error with what to type next, and an exit code other than 1 when code is not 0.
type hinted struct {
	err  error
	hint string
	code int
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// ended is an exit code about which everything has been said.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// terminated is the cause of a run that was stopped by TERM rather than INT.
var errTerminated = fmt.Errorf("%w by TERM", orchestrator.ErrInterrupted)

func errNoEpic(path string) error {
	return &hinted{err: fmt.Errorf("there is no epic here (%s)", path), hint: "make one from a blueprint: relay init BLUEPRINT.md"}
}

// diagnosis is what a person is told of an error.
type diagnosis struct {
	code     int
	messages []string
	hint     string
}

// exit tells the user of an error and returns the exit code that belongs to it.
func (a *app) exit(err error) int {
	var code ended
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	d := diagnose(err)
	for _, m := range d.messages {
		for row := range strings.SplitSeq(m, "\n") {
			fmt.Fprintf(a.err, "relay: error: %s\n", a.secrets.Text(row))
		}
	}
	if d.hint != "" {
		fmt.Fprintf(a.err, "relay: hint: %s\n", d.hint)
	}
	return d.code
}

// diagnose is the one map from errors to exit code, message and hint.
func diagnose(err error) diagnosis {
	for _, kind := range []func(error) (diagnosis, bool){foretold, badInput, ledgerTrouble} {
		if d, ok := kind(err); ok {
			return d
		}
	}
	d := diagnosis{code: exitFailure, messages: []string{message(err)}}
	var hint *hinted
	var refused *words.RefusedError
	var none *orchestrator.NoRunnerError
	switch {
	case errors.As(err, &hint):
		d.hint = hint.hint
		if hint.code != 0 {
			d.code = hint.code
		}
	case errors.As(err, &refused):
		d.hint = refused.Hint
	case errors.As(err, &none):
		d.code, d.hint = exitNoRunner, "put right what that agent's CLI complains of, then relay work continues; relay check looks for the programs"
	case errors.Is(err, reanchor.ErrNoRepository):
		d.messages, d.hint = []string{"this folder is in no git repository"}, "type git init first, or name another folder with -C"
	case errors.Is(err, reanchor.ErrBare):
		d.messages, d.hint = []string{"this is a bare repository, without files to work on"}, "clone it, and run relay in the clone"
	case errors.Is(err, syscall.ENOSPC):
		d.hint = "make room on that disk, then type the command again: nothing recorded is lost"
	case process.NoRoom(err), errors.Is(err, syscall.EMFILE):
		d.hint = "end what else runs here, or raise its limits (ulimit -u, ulimit -n), then type the command again: nothing recorded is lost"
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		d.hint = "relay must be able to write there; the sandbox of an agent's CLI forbids it: run relay outside; relay check looks at everything"
	case errors.Is(err, context.Canceled), errors.Is(err, orchestrator.ErrInterrupted):
		d = diagnosis{code: exitInterrupted, messages: []string{"interrupted"}}
	case errors.As(err, new(syscall.Errno)):
		d.hint = "relay check looks at the repository, the disk and the programs"
	}
	return d
}

// foretold diagnoses what would happen, as if it had.
func foretold(err error) (diagnosis, bool) {
	var would *wouldRefuse
	if !errors.As(err, &would) {
		return diagnosis{}, false
	}
	d := diagnose(would.err)
	d.messages[0] = "relay work would refuse: " + d.messages[0]
	return d, true
}

// badInput diagnoses what the user wrote: command line, configuration, epic, blueprint.
func badInput(err error) (diagnosis, bool) {
	var usage *usageError
	var inEpic epic.Problems
	var inConfig configs.Problems
	var outer *hinted
	better := ""
	if errors.As(err, &outer) {
		better = outer.hint
	}
	switch {
	case errors.As(err, &usage):
		return diagnosis{exitUsage, []string{usage.message}, usage.hint}, true
	case errors.As(err, &inEpic):
		return problems(inEpic, epic.Problem.Error, func(p epic.Problem) string { return p.Hint }, better), true
	case errors.As(err, &inConfig):
		bare := func(p configs.Problem) string { p.Hint = ""; return p.Error() }
		return problems(inConfig, bare, func(p configs.Problem) string { return p.Hint }, better), true
	}
	return diagnosis{}, false
}

// maxProblemsShown is how many mistakes of one file are told: the first ones usually explain the others.
const maxProblemsShown = 20

// problems tells the mistakes of one file. The hint of the only one stands alone, unless there is a better one.
func problems[P any](list []P, text, hint func(P) string, better string) diagnosis {
	d := diagnosis{code: exitInvalid, hint: better}
	for i, p := range list {
		if i == maxProblemsShown {
			d.messages = append(d.messages, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		m, h := text(p), hint(p)
		switch {
		case strings.Contains(h, "\n"): // an example
			d.hint = h
		case h != "" && (len(list) > 1 || better != ""):
			m += " (" + h + ")"
		}
		d.messages = append(d.messages, m)
	}
	if len(list) == 1 && better == "" {
		d.hint = hint(list[0])
	}
	return d
}

// ledgerTrouble diagnoses what the memory of the epic says.
func ledgerTrouble(err error) (diagnosis, bool) {
	var held *attempts.HeldError
	var edited *attempts.EditedError
	var damage *attempts.DamageError
	var other *attempts.EpicError
	switch {
	case errors.As(err, &held):
		return diagnosis{exitRunning, []string{holderWords(err, held)}, holderHint(err, held)}, true
	case errors.As(err, &edited) && edited.Unreadable != nil:
		return diagnosis{exitFailure, []string{message(edited)}, "relay ledger repair writes it anew from the event logs, and keeps what is there now"}, true
	case errors.As(err, &edited):
		return diagnosis{exitFailure, append([]string{message(edited)}, differences(edited.Diff)...),
			"relay ledger accept takes the edit in; relay ledger repair drops it"}, true
	case errors.As(err, &damage):
		d := diagnosis{code: exitFailure, hint: "relay ledger repair saves what can be read, and keeps a copy"}
		for _, f := range damage.Faults[:min(len(damage.Faults), maxProblemsShown)] {
			d.messages = append(d.messages, message(f))
		}
		return d, true
	case errors.As(err, &other):
		return diagnosis{exitInvalid, []string{message(other)}, "give epic.yml its old id back, or relay init --force BLUEPRINT.md"}, true
	case errors.Is(err, attempts.ErrNoLedger):
		return diagnosis{exitFailure, []string{"this epic has no attempt ledger yet"}, "relay init BLUEPRINT.md makes both"}, true
	}
	return diagnosis{}, false
}

// differences are the first lines of a diff.
func differences(diff string) []string {
	lines := strings.Split(strings.TrimSpace(safe(diff)), "\n")
	if len(lines) > maxProblemsShown {
		lines = append(lines[:maxProblemsShown], "…")
	}
	return lines
}

func message(err error) string { return strings.TrimSpace(safe(err.Error())) }

func quote(s string) string { return fmt.Sprintf("%q", line(s, 60)) }
