package worker

import (
	"context"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/gittrace"
	"relay/orchestrator/usercheckout"
)

// watchCheckout begins to watch the user's own checkout. Without a copy of it the run goes on, and says so when it ends.
func (s *slotEngine) watchCheckout(ctx context.Context) {
	watch, warning := usercheckout.Begin(ctx, usercheckout.Options{
		Home: s.home, Ref: "refs/relay-checkout/" + s.o.Epic.ID + "/" + s.o.Run, Index: filepath.Join(s.o.Dir, "user-index"),
		Now: s.now, Contains: s.integration.Contains,
	})
	if s.userCheckout = watch; warning != "" {
		s.stay = append(s.stay, warning)
	}
}

// beginCheckout begins to watch the user's checkout for one attempt: what has changed before is not its agent's, and while no
// agent was at work the user's.
func (w *slotAttempt) beginCheckout(ctx context.Context) error {
	if w.userCheckout == nil {
		return nil
	}
	var err error
	if w.alone() {
		_, err = w.userCheckout.Check(ctx, false)
	}
	w.c.changesSeen = len(w.userCheckout.Changes())
	return gitcmd.Unasked(err)
}

// reportCheckout reports what has changed in the user's checkout. A change alone is held against nobody: the user may be at work there.
// What gates the task is git's own record of what the attempt's agent had it do there.
func (w *slotAttempt) reportCheckout(ctx context.Context, did []gittrace.Command, f *state) error {
	watch := w.userCheckout
	if watch == nil {
		return nil
	}
	own, cleaned := w.didInCheckout(did)
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	before, err := watch.Check(ctx, w.c.turned)
	w.c.turned = false
	if err != nil {
		return gitcmd.Unasked(err) // whoever looks next may be told more
	}
	changes := watch.Changes()
	since := changes[min(w.c.changesSeen, len(changes)):]
	switch {
	case len(own) > 0 && len(since) > 0:
		guardIn(w.c).failForAgent(f, "the agent worked in your own checkout: "+strings.Join(own[:min(len(own), 3)], "; "))
		watch.KeepCopy()
		for _, change := range since {
			f.Note("checkout", change.Text+"; to bring it back, there: "+change.Undo)
		}
	case cleaned != "":
		guardIn(w.c).failForAgent(f, "the agent worked in your own checkout: "+cleaned)
		f.Note("checkout", "what git ignores in your checkout may be gone, and relay has no copy of it")
	default:
		for _, change := range changes[before:] {
			if !change.Quiet {
				watch.KeepCopy()
				f.Note("checkout", change.Text+"; if that was not you, there: "+change.Undo)
			}
		}
	}
	w.c.changesSeen = len(changes)
	return nil
}

// didInCheckout returns the commands of an agent that change the user's checkout, and the last git clean among them.
func (w *slotAttempt) didInCheckout(did []gittrace.Command) (own []string, cleaned string) {
	for _, cmd := range did {
		if cmd.Worktree == w.home.Root() && cmd.ChangesCheckout() {
			own = append(own, cmd.String())
			if cmd.Name == "clean" {
				cleaned = cmd.String()
			}
		}
	}
	return own, cleaned
}
