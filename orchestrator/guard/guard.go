// Package guard watches and restores what agents share with the user and with relay: the repository's configuration, refs and hooks, and
// relay's files.
//
// guard.go watches what agents share with the user and with relay: relay's own files, .git, the stash, files that the user's tools read,
// and the remotes. It puts back what an attempt changed of it, and says what it saw; what that means is for package verdict.
//
// backup.go keeps a copy of a checkout's .git while agents work in the user's own checkout (isolation none), and puts .git back from it.
// Slots need none.
//
// usercheckout.go copies what is not committed in the user's own checkout while agents work elsewhere, and compares it at the end of the
// run. The user may work there too, so it blames no agent.
package guard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/provision"
	"relay/reanchor/git"
)

// Guard watches what agents share with the user and with relay, and puts back what an attempt changed of it.
type Guard struct {
	Options *engine.LocalOptions
	Home    *git.Repo // the user's own checkout
	Ledger  Ledger
	Lock    engine.Lock // nil: none
	Backup  *Backup     // of .git, where agents work in the user's own checkout
	Stash   *worktree.StashGuard
	Tools   *provision.ConfigWatch // files that the user's tools read
	noPush  []string               // settings of agents' git; nil: they may push

	ignore  []byte // relay's own .gitignore
	watched watchedFiles
}

// Site is the checkout that an attempt works in, or where checks and reviewers have run.
type Site struct {
	Repo   *git.Repo
	Shared bool // with other attempts, so that changes belong to none
}

// Ledger restores the parts of the ledger that agents must not change.
type Ledger interface {
	Restore() (touched []string, err error)
}

// Sightings holds the findings after code of an attempt has run.
type Sightings struct {
	Notes []attempts.Note
	Why   string // what is serious and known to be the attempt's doing, in words; "": nothing
}

// Note adds a note, once.
func (s *Sightings) Note(kind, text string) {
	s.Notes = each.Added(s.Notes, attempts.Note{Kind: kind, Text: text})
}

// ByAgent records what the attempt's own agent is known to have done.
func (s *Sightings) ByAgent(why string) {
	s.Note("tamper", why)
	s.Why = plaintext.FirstOf(s.Why, why)
}

// New returns the guard of a run. Unless agents may push, it looks at the remotes of the repository.
func New(ctx context.Context, o *engine.LocalOptions, home *git.Repo) (*Guard, error) {
	w := &Guard{
		Options: o, Home: home, Stash: &worktree.StashGuard{Repo: home, Epic: o.Epic.ID},
	}
	for _, path := range o.Files {
		changed := plaintext.Capped(path, 200) + " was changed; this run uses the old version, and the next one the new: if that was not you, look at it"
		w.watched.add("settings", path, contentOf(path), changed)
	}
	if o.Plan != nil {
		changed := "epic.yml was changed; this run keeps the plan it began with, runs/" + o.Run + "/epic.yml, until relay reload"
		w.watched.add("plan", filepath.Join(o.Dir, PlanFile), o.Plan, changed)
	}
	w.Backup = &Backup{
		GitDir: filepath.Join(home.Root(), ".git"), Store: plaintext.FirstOf(o.BackupDir, filepath.Join(o.Dir, "git-copy", "own")),
		Aside: filepath.Join(o.Dir, "git-damaged"),
	}
	w.Tools = &provision.ConfigWatch{
		Env: append(append([]string{}, o.Env...), o.CommandEnv...), Repo: home, Shared: o.Isolation == engine.IsolationShared,
		Folder: filepath.Join(o.Dir, "runs", o.Run, "user"),
	}
	if o.Push {
		return w, nil
	}
	var err error
	w.noPush, err = refusePush(ctx, home)
	return w, err
}

// Look puts back what an attempt did to relay's own files, to .git and to what the user's tools read. It is called whenever code that an
// agent had a hand in has run: after the agent itself, after the checks, after the review.
func (w *Guard) Look(ctx context.Context, at Site, s *Sightings) error {
	touched, err := w.restoreOwn()
	if err != nil {
		return err
	}
	w.watched.compare(s)
	if !at.Shared {
		if err := git.Unblock(at.Repo); err != nil {
			return err
		}
	}
	why := ""
	for _, name := range touched {
		s.Note("tamper", name+" was changed during the attempt; relay put it back")
		why = "relay's own files were changed during the attempt: " + touched[0]
	}
	repaired, err := w.mendGit(ctx, at, s)
	if err != nil {
		return err
	}
	w.mendTools(s)
	if w.Options.Isolation == engine.IsolationNone { // one attempt works at a time: what changes meanwhile is its doing
		s.Why = plaintext.FirstOf(repaired, why, s.Why)
		if err := w.mendStash(ctx, s); err != nil {
			return err
		}
	}
	w.reportPushes(at, s)
	if w.Lock == nil {
		return nil
	}
	return w.Lock.Keep(ctx)
}

// mendGit puts .git back where agents work in the user's own checkout, and says in words what was wrong with it.
func (w *Guard) mendGit(ctx context.Context, at Site, s *Sightings) (string, error) {
	gone := w.Backup.Gone()
	if w.Options.Isolation == engine.IsolationWorktree || at.Shared && !gone {
		return "", nil
	}
	if !gone { // without its configuration git can read nothing
		w.mendTools(s)
	}
	repaired, err := w.Backup.Mend(context.WithoutCancel(ctx), w.Home)
	if err == nil && repaired != "" {
		s.Note("tamper", repaired)
	}
	return repaired, err
}

// mendTools puts back what the user's tools and git read: what is collected and checked next depends on it.
func (w *Guard) mendTools(s *Sightings) {
	for _, change := range w.Tools.Mend() {
		s.Note("tamper", change)
	}
}

func (w *Guard) mendStash(ctx context.Context, s *Sightings) error {
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	notes, err := w.Stash.Mend(ctx)
	for _, text := range notes {
		s.Note("stash", text)
	}
	return err
}

// restoreOwn restores the ledger's files, and then, for the folder itself may have to be put back first, .gitignore and
// a plan that is gone. A plan that was edited may be the user's doing: it is left as it is, and the run uses the one it began with, of
// which it keeps a copy that must not be edited.
func (w *Guard) restoreOwn() ([]string, error) {
	touched, err := w.Ledger.Restore()
	if err != nil {
		return nil, err
	}
	for _, own := range []struct {
		name    string
		content []byte
		intact  func(path string) bool
		mode    fs.FileMode
	}{
		{PlanFile, w.Options.Plan, Readable, 0o600},
		{w.keptPlan(), w.Options.Plan, func(path string) bool { return git.SameAs(w.Options.Plan, path) }, 0o600},
		{".gitignore", w.ignore, func(path string) bool { return git.SameAs(w.ignore, path) }, 0o644},
	} {
		path := filepath.Join(w.Options.Dir, own.name)
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
func (w *Guard) keptPlan() string { return filepath.Join(attempts.RunsDir, w.Options.Run, PlanFile) }

const (
	// PlanFile is the plan, in a folder of relay.
	PlanFile = "epic.yml"
	planCap  = 16 << 20 // as much as any plan may have
)

// KeepIgnore remembers relay's own .gitignore, without which its folder would be committed with an agent's work.
func (w *Guard) KeepIgnore() (err error) {
	path := filepath.Join(w.Options.Dir, ".gitignore")
	w.ignore, err = os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.ignore = []byte("*\n")
	return errors.Join(os.MkdirAll(w.Options.Dir, 0o755), os.WriteFile(path, w.ignore, 0o644))
}
