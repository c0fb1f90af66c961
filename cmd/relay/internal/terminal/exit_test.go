package terminal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// Every error a user can meet has its exit code and something to type.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	many := make(epic.Problems, 30)
	for i := range many {
		many[i] = epic.Problem{File: "epic.yml", Line: i + 1, Column: 1, Message: "wrong"}
	}
	for name, c := range map[string]struct {
		err     error
		code    int
		message string
		hint    string
	}{
		"usage":         {&UsageError{Message: "no such flag", Hint: "relay --help"}, 2, "no such flag", "relay --help"},
		"epic":          {epic.Problems{{File: "epic.yml", Line: 3, Column: 5, Message: "wrong", Hint: "right"}}, 10, "epic.yml:3:5: wrong", "right"},
		"many":          {many, 10, "and 10 more", ""},
		"configuration": {epic.Problems{{File: ".agents.yml", Line: 1, Column: 2, Message: "wrong", Hint: "right"}}, 10, ".agents.yml:1:2: wrong", "right"},
		"held":          {&attempts.HeldError{Holder: attempts.Holder{PID: 42, Host: "den", Since: since}}, 11, "relay is already at work on this epic: process 42 on den since 2026-01-02 03:04", "relay status --watch follows it\nCtrl-C or TERM stops it cleanly"},
		"held elsewhere": {
			&attempts.HeldError{Holder: attempts.Holder{PID: 42, Host: "den", Since: since}, Foreign: true}, 11,
			"the epic is held by process 42 on den since 2026-01-02 03:04, another machine",
			"if that run is over, remove the file lock in relay's folder, then type the command again",
		},
		"held by nobody known": {&attempts.HeldError{}, 11, "relay is already at work on this epic: another process", "relay status --watch follows it\nCtrl-C or TERM stops it cleanly"},
		"in use": {
			&relayfiles.InUseError{Held: &attempts.HeldError{Path: "/r/.git/x.lock", Holder: attempts.Holder{PID: 42, Host: "den", Since: since, Epic: "e", Dir: ".agents-os/relay"}}}, 11,
			"already at work in this checkout: process 42 on den since 2026-01-02 03:04, on epic e in .agents-os/relay", "wait until it ends, or stop it cleanly: kill 42\nto work on both, give one a checkout of its own: git worktree add",
		},
		"in use elsewhere": {
			&relayfiles.InUseError{Held: &attempts.HeldError{Path: "/r/.git/x.lock", Foreign: true, Holder: attempts.Holder{PID: 42, Host: "den", Since: since}}}, 11,
			"this checkout is held by process 42 on den since 2026-01-02 03:04, another machine", "if that run is over: rm /r/.git/x.lock, then type the command again",
		},
		"epic in use": {
			&relayfiles.InUseError{Epic: true, Held: &attempts.HeldError{Path: "/r/.git/x.lock", Holder: attempts.Holder{PID: 42, Host: "den", Since: since, Epic: "e", Dir: "/b/.agents-os/relay"}}}, 11,
			"relay is already at work on this epic in /b/.agents-os/relay: process 42 on den since 2026-01-02 03:04",
			"wait until it ends, or stop it cleanly: kill 42\nrelay init BLUEPRINT.md, with another title in it, makes an epic that can be worked here meanwhile",
		},
		"epic in use elsewhere": {
			&relayfiles.InUseError{Epic: true, Held: &attempts.HeldError{Path: "/r/.git/x.lock", Foreign: true, Holder: attempts.Holder{PID: 42, Host: "den", Since: since, Epic: "e", Dir: "/b/.agents-os/relay"}}}, 11,
			"this epic is held in /b/.agents-os/relay by process 42 on den since 2026-01-02 03:04, another machine", "if that run is over: rm /r/.git/x.lock, then type the command again",
		},
		"repository": {
			fmt.Errorf("wait: %w", &attempts.HeldError{Path: "/r/.git/x.lock", Holder: attempts.Holder{PID: 42, Host: "den", Since: since}}), 11,
			"another relay has been changing the worktrees of this repository for too long: process 42 on den since 2026-01-02 03:04", "wait until it ends, or stop it cleanly: kill 42",
		},
		"repository elsewhere": {
			&attempts.HeldError{Path: "/r/.git/x.lock", Foreign: true, Holder: attempts.Holder{PID: 42, Host: "den", Since: since}}, 11,
			"this repository is held by process 42 on den since 2026-01-02 03:04, another machine", "if that run is over: rm /r/.git/x.lock, then type the command again",
		},
		"edited":        {&attempts.EditedError{Path: "attempt-ledger.yml", Diff: "-a\n+b"}, 1, "+b", "relay ledger accept keeps the edit\nrelay ledger repair discards it"},
		"damaged":       {&attempts.DamageError{Faults: []attempts.Fault{{File: "events.jsonl", Line: 3, Message: "a gap"}}}, 1, "events.jsonl:3: a gap", "relay ledger repair saves what can be read, and keeps a copy"},
		"other epic":    {&attempts.EpicError{Path: "attempt-ledger.yml", Have: "a", Want: "b"}, 10, "attempt-ledger.yml belongs to epic a, not to b", "give epic.yml its old id back, or relay init --force BLUEPRINT.md"},
		"no ledger":     {fmt.Errorf("read: %w", attempts.ErrNoLedger), 1, "this epic has no attempt ledger yet", "relay init BLUEPRINT.md makes both"},
		"no runner set": {&decide.NoRunnerError{}, 12, "no usable runner: none is configured", "fix what that agent's CLI reports, then type relay work\nrelay check --ask shows whether it still does"},
		"no runner":     {fmt.Errorf("work: %w", &decide.NoRunnerError{Runner: "a", Why: "gone"}), 12, "work: no usable runner: a: gone", "fix what that agent's CLI reports, then type relay work\nrelay check --ask shows whether it still does"},
		"refused":       {&attempts.RefusedError{Reason: "dirty", Hint: "git stash"}, 1, "dirty", "git stash"},
		"no repository": {git.ErrNoRepository, 1, "this folder is in no git repository", "type git init first, or name another folder with -C"},
		"bare":          {git.ErrBare, 1, "this is a bare repository, without files to work on", "clone it, and run relay in the clone"},
		"full disk":     {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 1, "write x", "make room on that disk, then type the command again: nothing recorded is lost"},
		"read-only":     {&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, 1, "open x", "relay must be able to write there: run it outside the sandbox of an agent's CLI\nrelay check looks at everything"},
		"other trouble": {&fs.PathError{Op: "read", Path: "x", Err: syscall.EIO}, 1, "read x", "relay check looks at the repository, the disk and the programs"},
		"by TERM":       {ErrTerminated, 130, "interrupted", ""},
		"no processes":  {fmt.Errorf("T1: start sh: %w", syscall.EAGAIN), 1, "start sh", "end what else runs here, or raise its limits (ulimit -u, ulimit -n), then type the command again: nothing recorded is lost"},
		"no files":      {&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, 1, "open x", "end what else runs here, or raise its limits (ulimit -u, ulimit -n), then type the command again: nothing recorded is lost"},
		"interrupted":   {context.Canceled, 130, "interrupted", ""},
		"hostile":       {errors.New("bad \x1b[2J name"), 1, `bad \u001b[2J name`, ""},
	} {
		d := Diagnose(c.err)
		if wrapped := Diagnose(fmt.Errorf("doing something: %w", c.err)); wrapped.Code != d.Code || wrapped.Hint != d.Hint {
			t.Errorf("%s: wrapped it is %+v, else %+v", name, wrapped, d)
		}
		if d.Code != c.code {
			t.Errorf("%s: exit code %d, want %d", name, d.Code, c.code)
		}
		if got := strings.Join(d.Messages, "\n"); !strings.Contains(got, c.message) {
			t.Errorf("%s: message %q lacks %q", name, got, c.message)
		}
		if d.Hint != c.hint {
			t.Errorf("%s: hint %q, want %q", name, d.Hint, c.hint)
		}
	}
}

func TestExitCodeOfANight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    decide.Summary
		err  error
		sig  syscall.Signal
		want int
	}{
		"all completed": {s: decide.Summary{Reason: decide.EpicComplete}},
		"tasks left":    {s: decide.Summary{Reason: decide.NoRunnableTasks, Left: 2}, want: 3},
		"named tasks":   {s: decide.Summary{Reason: decide.NoRunnableTasks}},
		"INT":           {s: decide.Summary{Reason: decide.Interrupted, Left: 1}, sig: syscall.SIGINT, want: 130},
		"TERM":          {s: decide.Summary{Reason: decide.Interrupted, Left: 1}, sig: syscall.SIGTERM, want: 143},
		"no runner":     {s: decide.Summary{Reason: decide.Failed, Left: 1}, err: &decide.NoRunnerError{}, want: 12},
	} {
		if got := CodeOfRun(c.s, c.err, c.sig); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
