package worker

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/gitconfig"
	"relay/orchestrator/git/gittrace"
	"relay/orchestrator/text"
)

// tamperGuard finds out what an attempt has done to what is not its own, and puts it back.
type tamperGuard struct{ *checkout }

func guardIn(c *checkout) tamperGuard { return tamperGuard{c} }

// guard puts back what an attempt did to relay's own files and to .git, and fails the attempt for it. It is asked
// whenever code that an agent had a hand in has run: after the agent itself, after the checks, after the review.
func (c tamperGuard) guard(ctx context.Context, f *state) error {
	var did []gittrace.Command
	if c.tree != nil { // several attempts share c otherwise, and no trace is kept
		did = c.gitCommands()
		c.did = did
	}
	touched, err := c.restoreOwn()
	if err != nil {
		return err
	}
	if err := c.comparePlan(f); err != nil {
		return err
	}
	c.settings.compare(f)
	if c.tree != nil {
		if err := gitcmd.Unblock(c.repo); err != nil {
			return err
		}
	}
	why := ""
	for _, name := range touched {
		f.Note("tamper", name+" was changed during the attempt; relay put it back")
		why = "relay's own files were changed during the attempt: " + touched[0]
	}
	repaired, err := c.mendGit(ctx, f)
	if err != nil {
		return err
	}
	why = text.FirstOf(repaired, why)
	if why != "" {
		c.failIfAlone(f, why)
	}
	c.mendTools(f)
	if err := c.mendRules(ctx, f); err != nil {
		return err
	}
	if c.o.Isolation == engine.IsolationNone { // now that there is a repository again
		if err := c.mendStash(ctx, f); err != nil {
			return err
		}
	}
	c.reportPushes(did, f)
	if c.lock == nil {
		return nil
	}
	return c.lock.Keep(ctx)
}

// mendGit puts .git back where agents work in the user's own checkout, and says in words what was wrong with it.
func (c tamperGuard) mendGit(ctx context.Context, f *state) (string, error) {
	if c.o.Isolation == engine.IsolationWorktree || c.tree == nil && !c.backup.Gone() {
		return "", nil
	}
	repaired, err := c.backup.Mend(context.WithoutCancel(ctx), c.home)
	if err == nil && repaired != "" {
		f.Note("tamper", repaired)
	}
	return repaired, err
}

// mendRules puts back what was done to the configuration and the info files of the repository: what is collected and
// checked next goes by them. With isolation shared tasks may do so.
func (c tamperGuard) mendRules(ctx context.Context, f *state) error {
	if c.o.Isolation == engine.IsolationShared {
		return nil
	}
	found, err := c.rules.Mend(context.WithoutCancel(ctx))
	for _, m := range found {
		c.recordTampering(f, m)
	}
	return err
}

// recordTampering records what was found, and blames the attempt when that is serious.
func (c tamperGuard) recordTampering(f *state, m gitconfig.Tampering) {
	f.Note("tamper", m.Text)
	if m.Serious {
		c.failIfAlone(f, m.Text)
	}
}

// failIfAlone fails and gates an attempt for what was done during it. Side by side nobody can say whose doing it was: the
// note stands, and nobody is gated.
func (c tamperGuard) failIfAlone(f *state, why string) {
	alone := c.tree != nil || c.o.Jobs == 1 && c.backup.Alone()
	if c.alone != nil {
		alone = c.alone()
	}
	if alone && f.Outcome != attempts.Stopped {
		f.Gate = attempts.TamperedWith
		f.Fail(attempts.Tamper, attempts.Tampered, why)
	}
}

// restoreOwn restores the ledger's files, and then, for the folder itself may have to be put back first, .gitignore and
// a plan that is gone. A plan that was edited may be the user's doing: it is left as it is, and the run goes on with the
// one it began with, of which it keeps a copy that is nobody's to edit.
func (g *workspace) restoreOwn() ([]string, error) {
	touched, err := g.ledger.Restore()
	if err != nil {
		return nil, err
	}
	for _, own := range []struct {
		name    string
		content []byte
		intact  func(path string) bool
		mode    fs.FileMode
	}{
		{PlanFile, g.o.Plan, Readable, 0o600},
		{g.keptPlan(), g.o.Plan, g.keptIntact, 0o600},
		{".gitignore", g.ignore, func(path string) bool { return gitcmd.SameAs(g.ignore, path) }, 0o644},
	} {
		path := filepath.Join(g.o.Dir, own.name)
		if own.content == nil || own.intact(path) {
			continue
		}
		// In its place can be a link, a folder, or a pipe on which a reader would wait for ever.
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.RemoveAll(path), os.WriteFile(path, own.content, own.mode)); err != nil {
			return nil, err
		}
		touched = append(touched, filepath.ToSlash(own.name))
	}
	return touched, nil
}

// keptPlan is where a run keeps the plan it began with, below relay's folder.
func (g *workspace) keptPlan() string { return filepath.Join(attempts.RunsDir, g.o.Run, PlanFile) }

// keptIntact reports whether a run's own copy of the plan is as it was. It is read again only when it was touched: a plan
// grows with the tasks, and each of them asks. The next run holds what it reads there against the seal.
func (g *workspace) keptIntact(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if seen := g.keptSeen.Load(); seen != nil && os.SameFile(seen.info, info) &&
		seen.info.ModTime().Equal(info.ModTime()) && seen.info.Size() == info.Size() {
		return true
	}
	if !gitcmd.SameAs(g.o.Plan, path) {
		return false
	}
	g.keptSeen.Store(&planState{info: info})
	return true
}

const (
	// PlanFile is the plan, in a folder of relay.
	PlanFile = "epic.yml"
	planCap  = 16 << 20 // as much as any plan may have
)

// comparePlan tells once of an epic.yml that is not the plan this run began with any more.
func (g *workspace) comparePlan(f *state) error {
	if g.o.Plan == nil {
		return nil
	}
	path := filepath.Join(g.o.Dir, PlanFile)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	seen := g.planSeen.Load()
	if seen != nil && seen.info.ModTime().Equal(info.ModTime()) && seen.info.Size() == info.Size() {
		return nil
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	previous := g.o.Plan
	if seen != nil {
		previous = seen.content
	}
	g.planSeen.Store(&planState{info, now})
	if !bytes.Equal(now, previous) {
		f.Note("plan", "epic.yml was changed; this run keeps the plan it began with, runs/"+g.o.Run+"/epic.yml, until relay reload")
	}
	return nil
}

// keepIgnore remembers relay's own .gitignore, without which its folder would be committed with an agent's work.
func (g *workspace) keepIgnore() (err error) {
	path := filepath.Join(g.o.Dir, ".gitignore")
	g.ignore, err = os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	g.ignore = []byte("*\n")
	return errors.Join(os.MkdirAll(g.o.Dir, 0o755), os.WriteFile(path, g.ignore, 0o644))
}

// mendStash puts the user's stash right after an attempt, and notes what was found.
func (c tamperGuard) mendStash(ctx context.Context, f *state) error {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	notes, err := c.stash.Mend(ctx, slices.ContainsFunc(c.did, gittrace.Command.TakesStash))
	for _, text := range notes {
		f.Note("stash", text)
	}
	return err
}

// gitCommands returns what the agent has had git do since it was last asked.
func (c tamperGuard) gitCommands() []gittrace.Command {
	if c.traces == "" {
		return nil
	}
	return gittrace.Take(c.traces)
}
