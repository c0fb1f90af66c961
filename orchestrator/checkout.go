package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"relay/attempts"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/process"
)

// checkout is the engine that works in the user's own checkout, with child processes of this machine.
type checkout struct {
	o      *Options
	facts  *reanchor.Cached
	repo   *reanchor.Git
	tree   *worktree // nil with IsolationShared: changes then belong to no task
	vault  *vault
	ledger interface{ Restore() ([]string, error) }
	ignore []byte // relay's own .gitignore

	planSeen atomic.Pointer[planState]
	heard    chan<- Heard
	now      func() time.Time
}

// Prepare names the commit the attempt begins from.
func (c *checkout) Prepare(ctx context.Context, _ Assignment) (string, error) {
	if c.tree == nil {
		f, err := c.facts.Facts(ctx)
		return f.Head, err
	}
	return c.repo.Head(ctx)
}

// Attempt runs the agent, looks at what it did, and either leaves its commits on the branch or sets them aside.
func (c *checkout) Attempt(ctx context.Context, a Assignment) (Finding, error) {
	p := placeOf(c.o.Dir, a)
	if c.tree != nil && !a.Ended {
		if f, ok, err := c.sober(ctx, a, p); err != nil || !ok {
			return f, err
		}
	}
	report, err := c.agent(ctx, a, p)
	if err != nil {
		return Finding{}, err
	}
	f := judge(report)
	if err := c.guard(ctx, &f); err != nil {
		return f, err
	}
	if c.tree == nil {
		err := errors.Join(c.prove(ctx, a, p, &f), c.guard(ctx, &f))
		return f, err
	}
	// The run may be stopping; what the agent left must be kept all the same.
	settling, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), settleLimit, errors.New("git took too long"))
	defer cancel()
	names, err := c.collect(settling, a, &f)
	if err != nil {
		if names, err = c.recollect(settling, a, &f, err); err != nil {
			return f, err
		}
	}
	for _, step := range []func() error{
		func() error { c.weigh(a, names, &f); return nil },
		func() error { return c.prove(ctx, a, p, &f) },
		func() error { return c.review(ctx, a, p, &f) },
		func() error { return c.guard(ctx, &f) },
	} {
		if f.Outcome != attempts.Success {
			break
		}
		if err := step(); err != nil {
			return f, err
		}
	}
	if f.Outcome == attempts.Success {
		err = c.tree.restore(settling, f.Head)
	} else {
		err = c.setAside(settling, a, p, &f)
	}
	return f, errors.Join(err, c.vault.save())
}

// settleLimit bounds relay's own git work after an attempt.
const settleLimit = 10 * time.Minute

// agent writes the brief and runs the agent, or reads what an agent left that ended under a killed run.
func (c *checkout) agent(ctx context.Context, a Assignment, p place) (runners.Report, error) {
	sup := c.o.Supervisor
	if a.Ended {
		exit, err := process.ReadExit(p.end)
		if err != nil || exit.Stopped || exit.Lost {
			return runners.Report{Outcome: runners.Stopped, Detail: "relay was killed while the agent worked"}, nil
		}
		sup = process.Ended(exit)
	} else if err := c.brief(ctx, a, p); err != nil {
		return runners.Report{}, err
	}
	runner, err := c.o.NewRunner(a.Runner, sup)
	if err != nil {
		return runners.Report{Outcome: runners.CannotStart, Detail: err.Error()}, nil
	}
	return runner.Run(ctx, runners.Request{
		Mark: a.Mark(), Dir: c.o.Root, Prompt: p.brief, Result: p.result, Transcript: p.transcript, Stderr: p.stderr, End: p.end,
		Schema: runners.ResultSchema(), Model: a.Model, Env: c.env(a, p.result), Ended: a.Ended,
		Limits: runners.Limits{
			Wall: a.Wall, Silence: c.o.Limits.Silence, Linger: c.o.Limits.Linger, StopGrace: c.o.Limits.StopGrace, TranscriptCap: c.o.Limits.OutputCap,
		},
		Observe: func(e runners.Event) { c.tell(Heard{Task: a.Task.ID, Kind: UpdateActivity, Event: e}) },
	})
}

// tell never waits: an activity nobody has time to hear is dropped.
func (c *checkout) tell(h Heard) {
	select {
	case c.heard <- h:
	default:
	}
}

func (c *checkout) brief(ctx context.Context, a Assignment, p place) error {
	facts, err := c.facts.Facts(ctx)
	if err != nil {
		return err
	}
	in := a.Known
	in.Facts, in.Base = facts, a.Base
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(p.brief, reanchor.Brief(in), 0o600)
}

// env is the agents' environment plus relay's own variables.
func (c *checkout) env(a Assignment, result string) []string {
	env := append(make([]string, 0, len(c.o.Env)+4), c.o.Env...)
	env = append(env, "RELAY_EPIC="+c.o.Epic.ID, "RELAY_TASK="+a.Task.ID, "RELAY_DIR="+c.o.Dir)
	if result != "" {
		env = append(env, "RELAY_RESULT="+result)
	}
	return env
}

// collect commits what the agent left uncommitted and fills in what git says was changed.
func (c *checkout) collect(ctx context.Context, a Assignment, f *Finding) ([]reanchor.Change, error) {
	if err := c.tree.unlock(); err != nil {
		return nil, err
	}
	err := c.finished(ctx, f)
	if err != nil {
		return nil, err
	}
	if f.agentHead, err = c.tree.head(ctx); err != nil {
		return nil, err
	}
	head, err := c.tree.commitLeftovers(ctx, commitMessage(c.o.Epic.ID, a))
	if err != nil {
		return nil, err
	}
	f.Head = head
	if head == a.Base {
		return nil, nil
	}
	c.strayed(ctx, a, f)
	names, err := c.repo.Names(ctx, a.Base, head)
	var many *reanchor.TooManyError
	if errors.As(err, &many) || errors.Is(err, reanchor.ErrTooMuch) {
		// What cannot be listed cannot be held against the protected paths.
		f.fail(attempts.Agent, attempts.CodeError, "the change is too large to be looked at: "+err.Error())
	} else if err != nil {
		return nil, err
	}
	stat, err := c.repo.Stat(ctx, a.Base, head)
	f.Receipt.DiffStat = strings.TrimSpace(stat)
	c.noteMine(names, f)
	for i := range names {
		f.Receipt.FilesChanged = append(f.Receipt.FilesChanged, names[i].Path)
	}
	return names, err
}

// finished fails an attempt that left a merge or the like half done: to commit that would land its conflict marks.
func (c *checkout) finished(ctx context.Context, f *Finding) error {
	if f.Outcome != attempts.Success {
		return nil
	}
	if half := c.tree.halfway(); half != "" {
		f.fail(attempts.Agent, attempts.CodeError, "the agent left a "+half+" half done; its work is kept, but not landed")
		return nil
	}
	path, err := c.tree.unmerged(ctx)
	if path != "" {
		f.fail(attempts.Agent, attempts.CodeError, "the agent left "+path+" in conflict; its work is kept, but not landed")
	}
	return err
}

// strayed fails an attempt that left the branch or rewrote what was there before it.
func (c *checkout) strayed(ctx context.Context, a Assignment, f *Finding) {
	if f.Outcome != attempts.Success {
		return
	}
	switch {
	case !c.tree.onBranch(ctx):
		f.fail(attempts.Agent, attempts.CodeError, "the agent left the branch "+strings.TrimPrefix(c.tree.branch, "refs/heads/")+"; its work is kept, but not landed")
	case !c.tree.contains(ctx, a.Base, f.Head):
		f.fail(attempts.Agent, attempts.CodeError, "the agent rewrote commits that were there before it; its work is kept, but not landed")
	}
}

// setAside keeps the work of an attempt that did not succeed as a ref and a patch, and puts the checkout back.
func (c *checkout) setAside(ctx context.Context, a Assignment, p place, f *Finding) error {
	if f.Head != "" && f.Head != a.Base {
		ref := fmt.Sprintf("refs/relay/%s/%s/%d", c.o.Epic.ID, a.Task.ID, a.Attempt)
		if err := c.tree.keep(ctx, ref, f.Head); err == nil {
			f.Receipt.Salvage = ref
		} else { // an agent can stand in the way of a name; the patch has the work too
			f.note("salvage", "the work of this attempt is kept in changes.patch only: "+err.Error())
		}
		if err := c.writePatch(ctx, a.Base, f.Head, p.patch); err != nil {
			return err
		}
	}
	to, err := c.backTo(ctx, a, p, f.agentHead)
	if err != nil {
		return err
	}
	if err := c.tree.restore(ctx, to); err != nil {
		return err
	}
	return c.tree.returnMine(ctx, f.Head)
}

func (c *checkout) writePatch(ctx context.Context, base, head, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { // an agent can remove its attempt's folder
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(c.repo.Patch(ctx, base, head, file), file.Close())
}

// commitMessage says which attempt a commit made by relay belongs to.
func commitMessage(epicID string, a Assignment) string {
	return fmt.Sprintf("%s: %s\n\nRelay-Epic: %s\nRelay-Task: %s\nRelay-Attempt: %d\n", a.Task.ID, attempts.Clean(a.Task.Title, 200), epicID, a.Task.ID, a.Attempt)
}

// place names the files of one attempt.
type place struct {
	folder, brief, result, transcript, stderr, end, patch, checks, review string
}

func placeOf(dir string, a Assignment) place {
	folder := filepath.Join(dir, "runs", a.Run, a.Task.ID, fmt.Sprint(a.Attempt))
	in := func(name string) string { return filepath.Join(folder, name) }
	return place{folder, in("brief.md"), in("result.json"), in("transcript.jsonl"), in("stderr.log"), in("end.json"), in("changes.patch"), in("checks"), in("review")}
}

func mark(run, task string, attempt int) string { return fmt.Sprintf("%s/%s/%d", run, task, attempt) }
