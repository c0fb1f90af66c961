package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"relay/attempts"
	"relay/configs"
	"relay/epic"
	"relay/orchestrator"
	"relay/reanchor"
)

// Every error a user can meet has its exit code and something to type.
func TestDiagnose(t *testing.T) {
	t.Parallel()
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
		"usage":         {&usageError{"no such flag", "relay --help"}, 2, "no such flag", "relay --help"},
		"epic":          {epic.Problems{{File: "epic.yml", Line: 3, Column: 5, Message: "wrong", Hint: "right"}}, 10, "epic.yml:3:5: wrong", "right"},
		"many":          {many, 10, "and 10 more", ""},
		"configuration": {configs.Problems{{File: ".agents.yml", Line: 1, Column: 2, Message: "wrong", Hint: "right"}}, 10, ".agents.yml:1:2: wrong", "right"},
		"held":          {&attempts.HeldError{Holder: attempts.Holder{PID: 42, Host: "den"}}, 11, "process 42 on den", "relay status --watch"},
		"held elsewhere": {&attempts.HeldError{Holder: attempts.Holder{PID: 42, Host: "den"}, Foreign: true}, 11, "another machine",
			"remove the file lock"},
		"in use": {&orchestrator.InUseError{Held: &attempts.HeldError{Path: "/r/.git/x.lock", Holder: attempts.Holder{PID: 42, Host: "den", Epic: "e", Dir: ".agents-os/relay"}}}, 11,
			"already at work in this checkout: process 42 on den since 0001-01-01T00:00:00Z, on epic e in .agents-os/relay", "kill 42"},
		"in use elsewhere": {&orchestrator.InUseError{Held: &attempts.HeldError{Path: "/r/.git/x.lock", Foreign: true, Holder: attempts.Holder{PID: 42, Host: "den"}}}, 11,
			"this checkout is held by process 42 on den since 0001-01-01T00:00:00Z, another machine", "rm /r/.git/x.lock"},
		"repository": {fmt.Errorf("wait: %w", &attempts.HeldError{Path: "/r/.git/x.lock", Holder: attempts.Holder{PID: 42, Host: "den"}}), 11,
			"worktrees of this repository for too long: process 42 on den", "kill 42"},
		"repository elsewhere": {&attempts.HeldError{Path: "/r/.git/x.lock", Foreign: true, Holder: attempts.Holder{PID: 42, Host: "den"}}, 11,
			"this repository is held by process 42 on den", "rm /r/.git/x.lock"},
		"edited":        {&attempts.EditedError{Path: "attempt-ledger.yml", Diff: "-a\n+b"}, 1, "+b", "relay ledger accept"},
		"damaged":       {&attempts.DamageError{Faults: []attempts.Fault{{File: "events.jsonl", Line: 3, Message: "a gap"}}}, 1, "events.jsonl:3: a gap", "relay ledger repair"},
		"other epic":    {&attempts.EpicError{Path: "attempt-ledger.yml", Have: "a", Want: "b"}, 10, "belongs to epic a", "relay init"},
		"no ledger":     {fmt.Errorf("read: %w", attempts.ErrNoLedger), 1, "no attempt ledger", "relay init"},
		"no runner":     {fmt.Errorf("%w: all gone", orchestrator.ErrNoRunner), 12, "all gone", "relay check"},
		"refused":       {&orchestrator.RefusedError{Reason: "dirty", Hint: "git stash"}, 1, "dirty", "git stash"},
		"no repository": {reanchor.ErrNoRepository, 1, "no git repository", "git init"},
		"bare":          {reanchor.ErrBare, 1, "bare", "clone"},
		"full disk":     {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 1, "write x", "make room"},
		"read-only":     {&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, 1, "open x", "relay check"},
		"no processes":  {fmt.Errorf("T1: start sh: %w", syscall.EAGAIN), 1, "start sh", "ulimit -u"},
		"no files":      {&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, 1, "open x", "ulimit -n"},
		"interrupted":   {context.Canceled, 130, "interrupted", ""},
		"hostile":       {errors.New("bad \x1b[2J name"), 1, `bad \u001b[2J name`, ""},
	} {
		d := diagnose(c.err)
		if d.code != c.code {
			t.Errorf("%s: exit code %d, want %d", name, d.code, c.code)
		}
		if got := strings.Join(d.messages, "\n"); !strings.Contains(got, c.message) {
			t.Errorf("%s: message %q lacks %q", name, got, c.message)
		}
		if !strings.Contains(d.hint, c.hint) || (c.hint == "") != (d.hint == "") {
			t.Errorf("%s: hint %q, want %q", name, d.hint, c.hint)
		}
	}
}

func TestExitCodeOfANight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    orchestrator.Summary
		err  error
		sig  syscall.Signal
		want int
	}{
		"all completed": {s: orchestrator.Summary{Reason: orchestrator.EpicComplete}},
		"tasks left":    {s: orchestrator.Summary{Reason: orchestrator.NoRunnableTasks, Left: 2}, want: 3},
		"named tasks":   {s: orchestrator.Summary{Reason: orchestrator.NoRunnableTasks}},
		"INT":           {s: orchestrator.Summary{Reason: orchestrator.Interrupted, Left: 1}, sig: syscall.SIGINT, want: 130},
		"TERM":          {s: orchestrator.Summary{Reason: orchestrator.Interrupted, Left: 1}, sig: syscall.SIGTERM, want: 143},
		"no runner":     {s: orchestrator.Summary{Reason: orchestrator.Failed, Left: 1}, err: orchestrator.ErrNoRunner, want: 12},
	} {
		if got := exitCode(c.s, c.err, c.sig); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
