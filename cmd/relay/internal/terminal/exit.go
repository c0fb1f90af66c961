package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/orchestrator/decide"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
	"relay/runners/process"
)

// Exit codes, the same for every command.
const (
	OK          = 0
	Failure     = 1
	Usage       = 2
	Gated       = 3  // finished with gated or blocked tasks
	Stopped     = 4  // by a deadline or a budget
	Invalid     = 10 // epic or configuration
	Running     = 11 // another run holds the epic
	NoRunner    = 12
	Interrupted = 130
	Terminated  = 143
)

// UsageError is a mistake on the command line.
type UsageError struct{ Message, Hint string }

func (e *UsageError) Error() string { return e.Message }

// Hinted is an error with a hint: what to type next. Its exit code is Code, or 1 when that is 0.
type Hinted struct {
	Err  error
	Hint string
	Code int
}

func (e *Hinted) Error() string { return e.Err.Error() }
func (e *Hinted) Unwrap() error { return e.Err }

// ExitCode is an error that only sets the exit code: the user has seen everything.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit returns the code as an [ExitCode]; nil for [OK].
func Exit(code int) error {
	if code == OK {
		return nil
	}
	return ExitCode(code)
}

// Diagnosis has the exit code, messages and hint of an error.
type Diagnosis struct {
	Code     int
	Messages []string
	Hint     string
}

// Diagnose returns the exit code, the messages and the hint of an error. No other code maps errors to these.
func Diagnose(err error) Diagnosis {
	for _, kind := range []func(error) (Diagnosis, bool){badInput, ledgerTrouble} {
		if d, ok := kind(err); ok {
			return d
		}
	}
	d := Diagnosis{Code: Failure, Messages: []string{Message(err)}}
	var hint *Hinted
	var refused *attempts.RefusedError
	var none *decide.NoRunnerError
	switch {
	case errors.As(err, &hint):
		d.Hint = hint.Hint
		if hint.Code != 0 {
			d.Code = hint.Code
		}
	case errors.As(err, &refused):
		d.Hint = refused.Hint
	case errors.As(err, &none):
		d.Code, d.Hint = NoRunner, "fix what that agent's CLI reports, then type relay work\nrelay check --ask shows whether it still does"
	case errors.Is(err, git.ErrNoRepository):
		d.Messages, d.Hint = []string{"this folder is in no git repository"}, "type git init first, or name another folder with -C"
	case errors.Is(err, git.ErrBare):
		d.Messages, d.Hint = []string{"this is a bare repository, without files to work on"}, "clone it, and run relay in the clone"
	case errors.Is(err, syscall.ENOSPC):
		d.Hint = "make room on that disk, then type the command again: nothing recorded is lost"
	case process.NoRoom(err), errors.Is(err, syscall.EMFILE):
		d.Hint = "end what else runs here, or raise its limits (ulimit -u, ulimit -n), then type the command again: nothing recorded is lost"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		d.Hint = "relay must be able to write there: run it outside the sandbox of an agent's CLI\nrelay check looks at everything"
	case errors.Is(err, context.Canceled), errors.Is(err, orchestrator.ErrInterrupted):
		d = Diagnosis{Code: Interrupted, Messages: []string{"interrupted"}}
	case errors.As(err, new(syscall.Errno)):
		d.Hint = "relay check looks at the repository, the disk and the programs"
	}
	return d
}

// badInput diagnoses what the user wrote: command line, configuration, epic, blueprint.
func badInput(err error) (Diagnosis, bool) {
	var usage *UsageError
	var mistakes epic.Problems
	better := ""
	if outer, ok := errors.AsType[*Hinted](err); ok {
		better = outer.Hint
	}
	switch {
	case errors.As(err, &usage):
		return Diagnosis{Usage, []string{usage.Message}, usage.Hint}, true
	case errors.As(err, &mistakes):
		return problems(mistakes, better), true
	}
	return Diagnosis{}, false
}

// maxProblemsShown is how many mistakes of one file relay lists: the first ones usually explain the others.
const maxProblemsShown = 20

// problems returns the diagnosis of the mistakes in one file. The hint of the only one stands alone, unless there is a
// better one.
func problems(list epic.Problems, better string) Diagnosis {
	d := Diagnosis{Code: Invalid, Hint: better}
	for i, p := range list {
		if i == maxProblemsShown {
			d.Messages = append(d.Messages, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		m, h := p.Error(), p.Hint
		switch {
		case strings.Contains(h, "\n"): // an example
			d.Hint = h
		case h != "" && (len(list) > 1 || better != ""):
			m += " (" + h + ")"
		}
		d.Messages = append(d.Messages, m)
	}
	if len(list) == 1 && better == "" {
		d.Hint = list[0].Hint
	}
	return d
}

// ledgerTrouble diagnoses errors of the ledger and of its lock.
func ledgerTrouble(err error) (Diagnosis, bool) {
	var held *attempts.HeldError
	var edited *attempts.EditedError
	var damage *attempts.DamageError
	var other *attempts.EpicError
	switch {
	case errors.As(err, &held):
		return Diagnosis{Running, []string{HolderMessage(err, held)}, holderHint(err, held)}, true
	case errors.As(err, &edited) && edited.Unreadable != nil:
		return Diagnosis{Failure, []string{Message(edited)}, "relay ledger repair rewrites it from the event logs, and keeps a copy"}, true
	case errors.As(err, &edited):
		lines := strings.Split(strings.TrimSpace(plaintext.Escape(edited.Diff)), "\n")
		if len(lines) > maxProblemsShown {
			lines = append(lines[:maxProblemsShown], "…")
		}
		return Diagnosis{
			Failure, append([]string{Message(edited)}, lines...),
			"relay ledger accept keeps the edit\nrelay ledger repair discards it",
		}, true
	case errors.As(err, &damage):
		d := Diagnosis{Code: Failure, Hint: cmp.Or(damage.Faults[0].Hint, "relay ledger repair saves what can be read, and keeps a copy")}
		d.Messages = each.Of(damage.Faults[:min(len(damage.Faults), maxProblemsShown)], func(f attempts.Fault) string { return Message(f) })
		return d, true
	case errors.As(err, &other):
		return Diagnosis{Invalid, []string{Message(other)}, "give epic.yml its old id back, or relay init --force BLUEPRINT.md"}, true
	case errors.Is(err, attempts.ErrNoLedger):
		return Diagnosis{Failure, []string{"this epic has no attempt ledger yet"}, "relay init BLUEPRINT.md makes both"}, true
	}
	return Diagnosis{}, false
}

// Message returns the text of an error, harmless for a terminal.
func Message(err error) string { return strings.TrimSpace(plaintext.Escape(err.Error())) }

// CodeOfRun returns the exit code of a run: of the error it ended with, else of its summary. sig is the signal that ended it, or nil.
func CodeOfRun(s decide.Summary, err error, sig os.Signal) int {
	switch {
	case err != nil:
		return Diagnose(err).Code
	case s.Reason == decide.Interrupted:
		return CodeOfSignal(sig)
	case s.Reason == decide.Reload: // the next run says
		return OK
	case s.Reason == decide.Deadline, s.Reason == decide.BudgetExhausted:
		return Stopped
	case s.Reason == decide.DiskFloor, s.Reason == decide.MemoryFloor: // the machine's fault
		return Failure
	case s.Left > 0, s.Reason == decide.EpicRefused, s.Reason == decide.EpicUnjudged,
		s.Reason == decide.EpicUndone, s.Reason == decide.EpicLooks:
		return Gated
	}
	return OK
}

// CodeOfSignal returns the exit code of a run that INT or TERM ended.
func CodeOfSignal(sig os.Signal) int {
	if sig == syscall.SIGTERM {
		return Terminated
	}
	return Interrupted
}

// ErrTerminated is the cause of a run that was stopped by TERM rather than INT.
var ErrTerminated = fmt.Errorf("%w by TERM", orchestrator.ErrInterrupted)

// HolderText returns text that says who holds the epic.
func HolderText(h *attempts.Holder) string {
	if h == nil || h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, plaintext.LocalTime(h.Since))
}

// HolderMessage returns text that says that another relay holds the epic, or else what err is about.
func HolderMessage(err error, e *attempts.HeldError) string {
	who, inUse := HolderText(&e.Holder), new(*relayfiles.InUseError)
	held, work := "the epic is held by ", "relay is already at work on this epic: "
	switch checkout := errors.As(err, inUse); {
	case checkout && (*inUse).Epic:
		dir := plaintext.Fit(e.Holder.Dir, 200)
		held, work = "this epic is held in "+dir+" by ", "relay is already at work on this epic in "+dir+": "
	case checkout:
		who, held, work = atWork(&e.Holder), "this checkout is held by ", "relay is already at work in this checkout: "
	case e.Path != "":
		held, work = "this repository is held by ", "another relay has been changing the worktrees of this repository for too long: "
	}
	if e.Foreign {
		return held + who + ", another machine"
	}
	return work + who
}

// atWork returns text that says who holds a checkout, and for which epic.
func atWork(h *attempts.Holder) string {
	shown := HolderText(h)
	if h.Epic != "" {
		shown += ", on epic " + plaintext.Fit(h.Epic, 80)
	}
	if h.Dir != "" {
		shown += " in " + plaintext.Fit(h.Dir, 200)
	}
	return shown
}

// holderHint returns text that says what to type about whoever is in the way.
func holderHint(err error, e *attempts.HeldError) string {
	stop := "wait until it ends"
	if e.Holder.PID > 0 {
		stop += fmt.Sprintf(", or stop it cleanly: kill %d", e.Holder.PID)
	}
	inUse := new(*relayfiles.InUseError)
	switch {
	case e.Foreign && e.Path != "":
		return "if that run is over: rm " + plaintext.ShellWord(e.Path) + ", then type the command again"
	case e.Foreign:
		return "if that run is over, remove the file lock in relay's folder, then type the command again"
	case errors.As(err, inUse) && (*inUse).Epic:
		return stop + "\nrelay init BLUEPRINT.md, with another title in it, makes an epic that can be worked here meanwhile"
	case errors.As(err, inUse):
		return stop + "\nto work on both, give one a checkout of its own: git worktree add"
	case e.Path != "":
		return stop
	}
	return "relay status --watch follows it\nCtrl-C or TERM stops it cleanly"
}
