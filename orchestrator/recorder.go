package orchestrator

import (
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
)

// recorder writes how attempts end, with their charge and gate.
type recorder struct {
	state *state
	judge *decide.Judge
}

// end records how an attempt ended, moves the schedule on and holds the end against the limits of the run.
func (c *recorder) end(j decide.Job, a engine.Attempt, record attempts.TaskRecord, f engine.Result, began time.Duration) error {
	ended, rule, err := c.record(a, record, f)
	if err != nil {
		return err
	}
	c.state.Mu.Lock()
	defer c.state.Mu.Unlock()
	c.writeDeferredFile(ended.Receipt.Review)
	return c.judge.Settle(j, decide.EndedAttempt{Attempt: a, Result: f, Ended: ended, Rule: rule, Took: c.state.Ran() - began})
}

// record writes the end of an attempt with its charge, gate and notes, and the cooldowns that follow from it, in one append.
func (c *recorder) record(a engine.Attempt, record attempts.TaskRecord, f engine.Result) (attempts.Ended, decide.Ruling, error) {
	ended := c.judge.EndedEvent(a, f)
	rule := c.judge.Decide(a, record, f, &ended)
	events := make([]attempts.Event, 0, 1+len(f.Notes))
	for i := range f.Notes {
		f.Notes[i].Text = c.state.Redact.Block(f.Notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Task: a.Task.ID, Attempt: a.Number, Note: &f.Notes[i]})
	}
	events = append(events, attempts.Event{Type: attempts.TypeAttemptEnded, Task: a.Task.ID, Attempt: a.Number, Ended: &ended})
	for _, cooldown := range rule.Cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Task: a.Task.ID, Attempt: a.Number, Cooldown: cooldown})
	}
	// Durable with the next start, before which nothing depends on it.
	return ended, rule, c.state.store.AppendLater(c.state.CarrySteps(events...)...)
}

// writeDeferredFile replaces deferredFile if an attempt has deferred findings. It tells a failure and no more: the ledger has
// all of them. The caller holds Mu, as two attempts that end at once write one file.
func (c *recorder) writeDeferredFile(reviewed *attempts.Reviewed) {
	if reviewed == nil || len(reviewed.Deferred)+len(reviewed.Noted) == 0 {
		return
	}
	var lines []byte
	c.state.store.View(func(l *attempts.Ledger) { lines = deferredLines(l) })
	if err := git.ReplaceFile(filepath.Join(c.state.o.Dir, deferredFile), 0o600, lines); err != nil {
		c.state.Notify(decide.Update{Kind: decide.Note, Text: deferredFile + " could not be written: " + err.Error()})
	}
}
