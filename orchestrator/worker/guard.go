package worker

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/backup"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/gitconfig"
	"relay/orchestrator/git/gittrace"
	"relay/orchestrator/git/userfiles"
	"relay/orchestrator/text"
	"relay/orchestrator/userconfig"
)

// guard watches what agents share with the user and with relay, and puts back what an attempt changed of it.
type guard struct {
	run    *workspace
	backup *backup.Backup // of .git, where agents work in the user's own checkout
	stash  *userfiles.StashGuard
	rules  *gitconfig.Guard  // the configuration and the info files of the repository
	tools  *userconfig.Watch // files that the user's tools read
	lock   lock              // nil: none
	noPush noPush            // its zero value: agents may push

	ignore   []byte // relay's own .gitignore
	planSeen atomic.Pointer[planState]
	keptSeen atomic.Pointer[planState]
	settings settingsFiles
}

// sightings is what looks after the code of an attempt have found.
type sightings struct {
	notes []attempts.Note
	why   string // what is serious and known to be the attempt's doing, in words; "": nothing
}

func (s *sightings) note(kind, text string) {
	if n := (attempts.Note{Kind: kind, Text: text}); !slices.Contains(s.notes, n) {
		s.notes = append(s.notes, n)
	}
}

// byAgent records what the attempt's own agent is known to have done.
func (s *sightings) byAgent(why string) {
	s.note("tamper", why)
	s.why = text.FirstOf(s.why, why)
}

// ifAlone records what was done during the attempt. Side by side relay cannot know whose doing it was: the note stands alone.
func (s *sightings) ifAlone(c *checkout, why string) {
	if c.isAlone() {
		s.why = why
	}
}

func (s *sightings) tampering(c *checkout, m gitconfig.Tampering) {
	s.note("tamper", m.Text)
	if m.Serious {
		s.ifAlone(c, m.Text)
	}
}

// newGuard returns the guard of a run.
func newGuard(g *workspace) *guard {
	o := g.o
	w := &guard{run: g, stash: &userfiles.StashGuard{Repo: g.home, Epic: o.Epic.ID}, rules: &gitconfig.Guard{Repo: g.home, Env: o.Env}}
	w.settings.begin(o.Files)
	w.backup = &backup.Backup{
		GitDir: filepath.Join(g.home.Root(), ".git"), Store: text.FirstOf(o.BackupDir, filepath.Join(o.Dir, "git-copy", "own")),
		Aside: filepath.Join(o.Dir, "git-damaged"),
	}
	shared := g.home.CommonDir()
	files := []string{filepath.Join(shared, "objects", "info", "alternates")}
	for _, name := range hooks {
		files = append(files, filepath.Join(shared, "hooks", name))
	}
	w.tools = &userconfig.Watch{
		Env: append(append([]string{}, o.Env...), o.CommandEnv...), Files: files, Folder: filepath.Join(o.Dir, "runs", o.Run, "user"),
	}
	return w
}

// hooks are those that a person's own git runs in the morning. relay's runs none.
var hooks = []string{
	"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge", "post-rewrite", "pre-rebase", "pre-push",
}

// enter begins a time in which an agent's code runs; leave ends it.
func (w *guard) enter() {
	w.rules.Enter()
	w.tools.Enter()
}

func (w *guard) leave() {
	w.tools.Leave()
	w.rules.Leave()
}

// look puts back what an attempt did to relay's own files, to .git and to what the user's tools read. It is called whenever code that an
// agent had a hand in has run: after the agent itself, after the checks, after the review.
func (w *guard) look(ctx context.Context, c *checkout, s *sightings) error {
	var did []gittrace.Command
	if c.tree != nil { // several attempts share c otherwise, and no trace is kept
		did = c.gitCommands()
		c.did = did
	}
	touched, err := w.restoreOwn()
	if err != nil {
		return err
	}
	if err := w.comparePlan(s); err != nil {
		return err
	}
	w.settings.compare(s)
	if c.tree != nil {
		if err := gitcmd.Unblock(c.repo); err != nil {
			return err
		}
	}
	why := ""
	for _, name := range touched {
		s.note("tamper", name+" was changed during the attempt; relay put it back")
		why = "relay's own files were changed during the attempt: " + touched[0]
	}
	repaired, err := w.mendGit(ctx, c, s)
	if err != nil {
		return err
	}
	if why = text.FirstOf(repaired, why); why != "" {
		s.ifAlone(c, why)
	}
	for _, change := range w.tools.Mend() {
		s.tampering(c, gitconfig.Tampering{Text: change.Text, Serious: change.Serious})
	}
	if err := w.mendRepository(ctx, c, s); err != nil {
		return err
	}
	w.reportPushes(c, did, s)
	if w.lock == nil {
		return nil
	}
	return w.lock.Keep(ctx)
}

// mendGit puts .git back where agents work in the user's own checkout, and says in words what was wrong with it.
func (w *guard) mendGit(ctx context.Context, c *checkout, s *sightings) (string, error) {
	if w.run.o.Isolation == engine.IsolationWorktree || c.tree == nil && !w.backup.Gone() {
		return "", nil
	}
	repaired, err := w.backup.Mend(context.WithoutCancel(ctx), w.run.home)
	if err == nil && repaired != "" {
		s.note("tamper", repaired)
	}
	return repaired, err
}

// mendRepository puts back what was done to the configuration, the info files and the stash of the repository: what is collected and
// checked next depends on them. With isolation shared tasks may do so.
func (w *guard) mendRepository(ctx context.Context, c *checkout, s *sightings) error {
	if w.run.o.Isolation == engine.IsolationShared {
		return nil
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	found, err := w.rules.Mend(ctx)
	for _, m := range found {
		s.tampering(c, m)
	}
	if err != nil || w.run.o.Isolation != engine.IsolationNone {
		return err
	}
	notes, err := w.stash.Mend(ctx, slices.ContainsFunc(c.did, gittrace.Command.TakesStash))
	for _, text := range notes {
		s.note("stash", text)
	}
	return err
}

// restoreOwn restores the ledger's files, and then, for the folder itself may have to be put back first, .gitignore and
// a plan that is gone. A plan that was edited may be the user's doing: it is left as it is, and the run uses the one it began with, of
// which it keeps a copy that must not be edited.
func (w *guard) restoreOwn() ([]string, error) {
	touched, err := w.run.ledger.Restore()
	if err != nil {
		return nil, err
	}
	for _, own := range []struct {
		name    string
		content []byte
		intact  func(path string) bool
		mode    fs.FileMode
	}{
		{PlanFile, w.run.o.Plan, Readable, 0o600},
		{w.keptPlan(), w.run.o.Plan, w.keptIntact, 0o600},
		{".gitignore", w.ignore, func(path string) bool { return gitcmd.SameAs(w.ignore, path) }, 0o644},
	} {
		path := filepath.Join(w.run.o.Dir, own.name)
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
func (w *guard) keptPlan() string { return filepath.Join(attempts.RunsDir, w.run.o.Run, PlanFile) }

// keptIntact reports whether a run's own copy of the plan is unchanged. It is read again only when it was touched: a plan
// grows with the tasks, and each of them asks. The next run compares what it reads there with the seal.
func (w *guard) keptIntact(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if seen := w.keptSeen.Load(); seen != nil && os.SameFile(seen.info, info) && seen.unchanged(info) {
		return true
	}
	if !gitcmd.SameAs(w.run.o.Plan, path) {
		return false
	}
	w.keptSeen.Store(&planState{info: info})
	return true
}

const (
	// PlanFile is the plan, in a folder of relay.
	PlanFile = "epic.yml"
	planCap  = 16 << 20 // as much as any plan may have
)

// planState is epic.yml at the last look.
type planState struct {
	info    fs.FileInfo
	content []byte
}

func (p *planState) unchanged(info fs.FileInfo) bool {
	return p.info.ModTime().Equal(info.ModTime()) && p.info.Size() == info.Size()
}

// comparePlan reports once that epic.yml is not the plan this run began with.
func (w *guard) comparePlan(s *sightings) error {
	if w.run.o.Plan == nil {
		return nil
	}
	path := filepath.Join(w.run.o.Dir, PlanFile)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	seen := w.planSeen.Load()
	if seen != nil && seen.unchanged(info) {
		return nil
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	previous := w.run.o.Plan
	if seen != nil {
		previous = seen.content
	}
	w.planSeen.Store(&planState{info, now})
	if !bytes.Equal(now, previous) {
		s.note("plan", "epic.yml was changed; this run keeps the plan it began with, runs/"+w.run.o.Run+"/epic.yml, until relay reload")
	}
	return nil
}

// keepIgnore remembers relay's own .gitignore, without which its folder would be committed with an agent's work.
func (w *guard) keepIgnore() (err error) {
	path := filepath.Join(w.run.o.Dir, ".gitignore")
	w.ignore, err = os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.ignore = []byte("*\n")
	return errors.Join(os.MkdirAll(w.run.o.Dir, 0o755), os.WriteFile(path, w.ignore, 0o644))
}
