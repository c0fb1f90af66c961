package project

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/orchestrator/decide"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/records"
	"relay/orchestrator/sessionkeeper"
	"relay/reanchor/git"
	"relay/runners"
)

// View reads what the ledger knows, and what is wrong with it. An epic that was written by hand and never run has none yet.
func (p *Project) View(pl *Plan) (*attempts.View, error) {
	v, err := attempts.See(p.Memory(pl))
	if errors.Is(err, attempts.ErrNoLedger) {
		return &attempts.View{Ledger: &attempts.Ledger{}}, nil
	}
	return v, err
}

// Open opens the epic's ledger for a change by a person. An epic that was written by hand and never run gets its ledger
// here.
func (p *Project) Open(pl *Plan) (*attempts.Store, error) {
	if err := p.EnsureIgnored(); err != nil {
		return nil, err
	}
	return attempts.Open(p.Memory(pl))
}

// Memory returns the options with which an epic's ledger is opened for a change by a person.
func (p *Project) Memory(pl *Plan) attempts.Options {
	fresh := LedgerSettings(p.Config)
	return attempts.Options{
		Dir: p.Dir, Epic: pl.Epic, Graph: pl.Graph, Fresh: &fresh, Now: p.Session.Now, Head: p.HeadFile(),
		Fault: FaultPoints(runners.Variable(p.Session.Environ, FaultVariable)),
		Warn:  p.Session.Warn,
	}
}

// HeadFile returns the file with the last link of the ledger's logs: outside of the checkout, where other programs do not write. It is ""
// without a folder for state.
func (p *Project) HeadFile() string { return StatePath(p.Session.Environ, "heads", p.Dir) }

// EnsureIgnored keeps the folder of an epic that was written by hand out of git, before anything is written into it.
func (p *Project) EnsureIgnored() error {
	if git.Exists(p.File(attempts.LedgerFile)) || git.Exists(p.File(attempts.RunsDir)) || git.Exists(p.File(".gitignore")) {
		return nil
	}
	return ReplaceFile(p.File(".gitignore"), []byte("*\n"))
}

// LedgerSettings returns the limits of a configuration as the ledger records them.
func LedgerSettings(c *configs.Config) attempts.Settings {
	return attempts.Settings{
		MaxAttemptsPerTask: c.Relay.MaxAttemptsPerTask,
		TimeoutMinutes:     c.Relay.Timeout.Minutes(),
		Review:             attempts.ReviewSettings{Enabled: c.Relay.Review.Enabled, Provider: c.Relay.Review.Provider},
	}
}

// Read reads plan and ledger side by side for those who only look: of an epic of ten thousand tasks each takes its time. While a run is
// on, its own plan counts; when that and epic.yml differ, the warning says so.
func (p *Project) Read(ctx context.Context) (now *Plan, view *attempts.View, warning string, err error) {
	var reading error
	done := make(chan struct{})
	go func() {
		defer close(done)
		view, reading = attempts.See(attempts.Options{Dir: p.Dir, Relay: RelayVersion(), Head: p.HeadFile()})
	}()
	pl, err := p.plan(p.see)
	<-done
	if errors.Is(reading, attempts.ErrNoLedger) {
		view, reading = &attempts.View{Ledger: &attempts.Ledger{}}, nil
	}
	switch {
	case err != nil && reading != nil:
		return nil, nil, "", err
	case reading != nil:
		return nil, nil, "", reading
	}
	if now, warning, err = planInForce(p, view, pl, err); err != nil {
		return nil, nil, "", err
	}
	now.Source = nil // it is long, and those who only look do not need it
	if have := view.Ledger.EpicID; have != "" && have != now.Epic.ID {
		return nil, nil, "", &attempts.EpicError{Path: p.Rel(p.File(attempts.LedgerFile)), Have: have, Want: now.Epic.ID}
	}
	return now, view, warning, lookAtFinish(ctx, p, view)
}

// lookAtFinish forgets a landing that was undone, as with git reset --keep, and sees that the branch has all of a completed epic: merged,
// squashed, picked or rebased by hand.
func lookAtFinish(ctx context.Context, p *Project, view *attempts.View) error {
	l := view.Ledger
	at, branch := &l.Integration, integration.NewBranch(p.Git, l.EpicID, integration.Merge)
	if at.Finished != "" && l.Landed != "" { // a branch that is gone has been merged elsewhere, perhaps
		if there, err := git.Contains(ctx, p.Git, "refs/heads/"+at.Finished, l.Landed); err == nil && !there {
			at.Finished = ""
		}
	}
	if at.Finished == "" && at.From != "" && !view.Running && decide.EndReason(l.Status.LastExitReason).Completes() {
		if lacks, err := finish.Lacking(ctx, branch, "refs/heads/"+at.From); err == nil && lacks == "" {
			at.Finished = at.From
		}
	}
	return context.Cause(ctx)
}

// Adopt begins the ledger of a new epic with what its integration branch tells, if that is known, and returns the completed tasks.
func Adopt(p *Project, known *attempts.Accepted) ([]string, error) {
	if known == nil {
		return nil, nil
	}
	pl, err := p.Plan()
	if err != nil {
		return nil, err
	}
	store, err := p.Open(pl)
	if err != nil {
		return nil, err
	}
	known.Base.Settings, known.Base.StartedAt = LedgerSettings(p.Config), p.Session.Now()
	err = store.Append(attempts.Event{Type: attempts.TypeAccepted, Accepted: known})
	return slices.Sorted(maps.Keys(known.Tasks)), errors.Join(err, p.Close(store, pl))
}

// How long relay reload looks for a run that has the epic's lock and is not under way yet.
const (
	beginPause = 20 * time.Millisecond
	beginWait  = 2 * time.Second
)

// ActiveRun finds the run that is on. One that is just beginning, or between two plans, is waited for.
func ActiveRun(ctx context.Context, p *Project) (*attempts.View, error) {
	late := time.After(beginWait)
	for {
		view, err := attempts.Read(p.Dir, nil, nil)
		switch {
		case errors.Is(err, attempts.ErrNoLedger):
			return nil, ErrNoRun()
		case err != nil:
			return nil, err
		case IsActive(view):
			return view, nil
		case !view.Running && view.Ledger.Status.LastExitReason != Reloading:
			return nil, ErrNoRun()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-late:
			if view.Running {
				return nil, &attempts.HeldError{Holder: *view.Holder}
			}
			return nil, ErrNoRun()
		case <-time.After(beginPause):
		}
	}
}

// IsActive reports whether the lock's holder is the newest run: not a command, nor a run that is just beginning.
func IsActive(v *attempts.View) bool {
	return v.Running && v.Holder.PID == v.Ledger.Status.PID && v.Ledger.Status.State == "running"
}

// ErrNoRun returns the error of commands that need a run when none is active.
func ErrNoRun() error {
	return &terminal.Hinted{Err: errors.New("no run is active"), Hint: "relay work starts one"}
}

// Reloading is the reason of a run that goes on as another one.
const Reloading = string(decide.Reload)

// Records returns what is written for other programs, as the configuration has it.
func (p *Project) Records() records.Settings {
	c := &p.Config.Relay.Records
	return records.Settings{
		LedgerSync: c.LedgerSync, Artifacts: c.Artifacts, Discussions: c.Discussions,
		Checkpoints: records.Checkpoints(c.Checkpoints), Listed: p.EpicFlag() != "",
	}
}

// RecordOptions returns what the records of an epic are made from.
func RecordOptions(p *Project, pl *Plan) records.KeeperOptions {
	return records.KeeperOptions{
		Top: p.Root, Dir: p.Dir, EpicID: pl.Epic.ID, Epic: pl.Epic, Plan: pl.Source, Settings: p.Records(),
		Warn: p.Session.Warn, Fault: FaultPoints(runners.Variable(p.Session.Environ, FaultVariable)),
	}
}

// SessionOptions returns whose agents ledger is kept, and where.
func SessionOptions(p *Project, pl *Plan) sessionkeeper.Options {
	c := &p.Config.Relay
	return sessionkeeper.Options{
		Enabled: c.Records.Sessions, Top: p.Root, Dir: p.Dir, EpicID: pl.Epic.ID,
		Kind: func(name string) string { return c.Agents[name].Type },
	}
}

// Close brings the records for other programs up to date with a ledger that a person's command has changed, and closes it.
func (p *Project) Close(store *attempts.Store, pl *Plan) error {
	if _, err := records.CatchUp(RecordOptions(p, pl)); err != nil {
		p.Session.Warn("the records for other programs are not up to date: " + err.Error())
	}
	return store.Close()
}

// How long a run that follows another waits for whoever was quicker to take the epic's lock: a command, most likely.
const (
	ReloadPause = 20 * time.Millisecond
	ReloadWait  = 10 * time.Second
)
