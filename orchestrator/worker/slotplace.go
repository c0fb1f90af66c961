package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/provision"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/reanchor"
	"relay/reanchor/git"
)

// slotPlace is the [place] of one attempt in a slot.
type slotPlace struct {
	e     *slotEngine
	name  string            // of the slot
	inner map[string]string // what submodules had before the agent that is nowhere else

	strays slot.Strays // work that the agent left elsewhere in the slot
}

// use has the attempt work in a repository.
func (p *slotPlace) use(t *attempt, name string, repo *git.Repo) {
	s := p.e
	p.name = name
	c := &checkout{
		run: s.run, repo: repo, tree: &worktree.Tree{Repo: repo, Branch: "refs/heads/" + s.branch(t.a)},
		facts: git.NewCached(repo, reanchor.RecentCommits, 0, s.run.now), ceiling: filepath.Dir(repo.Root()),
	}
	if name != "" {
		base := t.a.Base
		c.tree.Home = s.run.home
		c.tree.Bring = func(ctx context.Context, commit, ref string) error {
			return s.pool.Fetch(ctx, repo, commit, base, ref)
		}
	}
	t.worksIn(c)
}

// open gives the attempt a slot at its base and on its branch, and sets it up. An attempt of a killed run gets its own slot again, as it
// was left.
func (p *slotPlace) open(ctx context.Context, t *attempt) error {
	t.ev.Ready = &verdict.Ready{}
	if t.a.Ended {
		if err := p.openAgain(ctx, t); err != nil {
			return err
		}
		return loadList(ctx, t)
	}
	if err := p.e.freeBranch(ctx, t); err != nil || t.ev.Ready.InUse != "" {
		return err
	}
	wanted := ""
	if t.a.Session != "" {
		before := engine.Attempt{Run: t.a.Previous.Run, Task: t.a.Task, Number: t.a.Previous.ID}
		wanted, _ = relayfiles.Of(p.e.run.o.Dir, before).Slot()
	}
	name, err := p.e.slots.TakeEmpty(ctx, slot.ForWork, wanted)
	if err != nil {
		return err
	}
	if err := t.files.Note(p.e.run.o.Dir, relayfiles.SlotFile, name); err != nil {
		return err
	}
	repo, err := p.e.pool.Acquire(ctx, name, t.a.Base, p.e.branch(t.a))
	if err != nil { // the slot is gone
		p.e.slots.Release(name)
		return errors.Join(err, os.Remove(filepath.Join(t.files.Folder, relayfiles.SlotFile)))
	}
	p.use(t, name, repo)
	var tr bench.Trouble
	at := checks.Location{Attempt: t.a, Logs: t.files.Checks, Dir: repo.Root(), Commit: t.a.Base}
	err = p.e.benches.Provision(ctx, at, p.e.benches.Slot(name, t.a.Base, p.e.branch(t.a)), false, &tr)
	t.ev.Ready.Mishap = tr.Mishap
	t.f.Receipt.Checks = append(t.f.Receipt.Checks, tr.Runs...)
	if err != nil || tr.Any() {
		return err
	}
	return p.recordProvisioned(ctx, t)
}

// loadList reads which files the set-up had made before the agent of an earlier run began.
func loadList(ctx context.Context, t *attempt) error {
	list := filepath.Join(t.files.Folder, relayfiles.UntrackedName)
	user := &t.c.tree.User
	user.Clear()
	if git.Exists(list) { // an agent that has removed it must not have made all there is the set-up's
		if err := user.Load(ctx, t.c.tree.Runner(), list); err != nil {
			return err
		}
	}
	user.HideNothing()
	return nil
}

// recordProvisioned tells what the set-up has made from what the agent will make, and writes it down: for a run that has to
// bring this attempt to its end, all that is not in that list is work.
func (p *slotPlace) recordProvisioned(ctx context.Context, t *attempt) error {
	user, w := &t.c.tree.User, p.e.run.o.Worktree
	user.Clear()
	t.c.config = provision.SteeringDigest(t.c.repo.Root())
	if len(w.Setup) > 0 {
		var err error
		if p.inner, err = worktree.UniqueNested(ctx, t.c.tree.Repo); err != nil {
			return err
		}
	}
	if len(w.Setup)+len(w.Copy)+len(w.Share) > 0 {
		if err := user.Record(ctx, t.c.tree.Runner()); err != nil {
			return err
		}
	}
	list := filepath.Join(t.files.Folder, relayfiles.UntrackedName)
	if err := p.e.run.makeRoom(list); err != nil {
		return err
	}
	return user.Save(list)
}

// leave asks the run whether an agent may be asked now.
func (p *slotPlace) leave(ctx context.Context, a engine.Attempt) (why string) {
	return p.e.mayAsk(ctx, a)
}

// look puts the integration branch back.
func (p *slotPlace) look(ctx context.Context, t *attempt) error {
	return p.e.lookAtHead(ctx, &t.seen)
}

// reopen makes sure that git reads the slot, and no other repository, before relay works in it. When an agent has
// destroyed it, what had been committed is all there is.
func (p *slotPlace) reopen(ctx context.Context, t *attempt) (gone bool, err error) {
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	before, id := t.c, t.a.Task.ID
	repo, remade, err := p.e.pool.Open(ctx, p.name, t.a.Base, p.e.branch(t.a))
	switch {
	case errors.Is(err, slot.ErrGone):
		t.f.Note("worktree", "the worktree of "+id+" was gone after the attempt; what had been committed is kept")
		p.use(t, p.name, p.e.run.home)
		return true, nil
	case err != nil:
		return false, err
	}
	p.use(t, p.name, repo)
	t.c.tree.User.Inherit(&before.tree.User)
	t.c.config = before.config
	if remade {
		t.f.Note("worktree", "the repository that "+id+" worked in was damaged or removed: its files are committed again")
	}
	return false, nil
}

// theirs returns false: only agents work in slots.
func (p *slotPlace) theirs(context.Context, *attempt) (bool, error) { return false, nil }

// commit commits what the agent has left, and sees which files it has committed that relay had brought and that the user has in no
// commit: they would land, and be pushed with the rest.
func (p *slotPlace) commit(ctx context.Context, t *attempt) ([]git.Change, error) {
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	t.f.Written = append(t.f.Written, t.f.OnBase.Changed()...)
	if t.gone {
		head, err := p.e.run.home.Ref(ctx, t.c.tree.Branch)
		t.f.Head = head
		return nil, err
	}
	p.strays.Tree, p.strays.Base = t.c.tree, t.a.Base
	names, err := collect.CommitStrays(ctx, &t.work, &p.strays, t.other)
	t.other = false
	for _, n := range names {
		if n.Code != "M" && n.Code != "D" && p.e.benches.Files.Has(n.Path) {
			t.ev.Work.Brought = append(t.ev.Work.Brought, n.Path)
		}
	}
	if err != nil {
		return names, err
	}
	ignored := worktree.IgnoredFiles{Named: checks.Named(&t.a.Task), Brought: p.e.benches.Files.Has, To: filepath.Join(t.files.Folder,
		"ignored")}
	var note string
	if t.ev.Work.Ignored, note, err = ignored.Keep(ctx, t.c.tree.Runner(), &t.c.tree.User, p.e.run.makeRoom); note != "" {
		t.f.Note("left", note+plaintext.Relative(p.e.run.o.Root, ignored.To))
	}
	return names, err
}

// mark puts the attempt's trailers onto its commits, and the task's branch onto them.
func (p *slotPlace) mark(ctx context.Context, t *attempt) error {
	if t.f.Head == t.a.Base {
		return nil
	}
	err := p.e.stamp(ctx, t)
	if unfit, ok := errors.AsType[*integration.UnfitError](err); ok {
		t.ev.Mark.Unfit = unfit.Error()
		return nil
	}
	if git.Refused(ctx, err) && !git.DiskFault(err) && git.Whole(ctx, p.e.run.home, t.a.Base) {
		t.ev.Mark.Refused = err.Error()
		return nil
	}
	return err
}

// keep keeps the work that does not land, leaves the slot on no branch and with nothing half done, as all of it is in commits then, and
// frees it for another task.
func (p *slotPlace) keep(ctx context.Context, t *attempt, lands bool) error {
	if t.c == nil { // it never had a slot
		return nil
	}
	if !lands {
		if err := t.work.Keep(ctx); err != nil {
			return err
		}
	}
	if !t.gone {
		if err := wrapUp(ctx, t, lands); err != nil {
			return err
		}
	}
	if err := p.release(ctx, t); err != nil { // from now on it is another task's
		return err
	}
	if lands {
		return nil // its branch stays until it has landed
	}
	return p.e.branches.Drop(ctx, p.e.branch(t.a), plaintext.FirstOf(t.f.Head, t.a.Base))
}

func wrapUp(ctx context.Context, t *attempt, lands bool) error {
	if err := keepUnreachable(ctx, t, lands); err != nil {
		return err
	}
	if !lands {
		if err := git.Forget(t.c.tree.Repo); err != nil {
			return err
		}
	}
	if err := t.c.tree.Discard(t.f.Left); err != nil {
		return err
	}
	// From here on HEAD says nothing of the agent: a run after a kill looks at the branch.
	if err := os.Remove(filepath.Join(t.files.Folder, relayfiles.SlotFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	t.c.tree.Detach(ctx, plaintext.FirstOf(t.f.Head, t.a.Base))
	return slot.DropRefs(t.c.tree.Repo)
}

// keepUnreachable keeps commits that the agent made and left where nothing leads to them.
func keepUnreachable(ctx context.Context, t *attempt, lands bool) error {
	folder := t.work.Ref() + "-left/"
	kept, err := slot.KeepUnreachable(ctx, t.c.tree, folder, slot.UnreachableOptions{
		Branch: t.c.tree.Branch, Rewritten: !lands, Kept: t.f.AgentHead,
	})
	t.f.Receipt.Kept = append(t.f.Receipt.Kept, kept...)
	if n := len(kept); n > 0 {
		t.f.Note("salvage", plaintext.Count(n, "commit")+" that the agent left on no branch "+plaintext.Verb(n, "is", "are")+" kept below "+folder)
	}
	return err
}

// release frees the slot, unless something in it is in no commit: then it stays for a person.
func (p *slotPlace) release(ctx context.Context, t *attempt) error {
	if !t.gone {
		tree := t.c.tree
		inner, err := worktree.UniqueNested(ctx, tree.Repo)
		if err != nil {
			return err
		}
		for path, what := range inner {
			if what != p.inner[path] {
				tree.Leave(path + "/")
			}
		}
		if kept := tree.Outside(); len(kept) > 0 {
			t.f.Note("left", plaintext.Listed(kept)+" is in no commit of this repository: it stays in "+plaintext.Relative(p.e.run.o.Root, t.c.repo.Root())+", which no other task gets")
			return nil
		}
		if err := keepAltered(ctx, t); err != nil {
			return err
		}
		tree.User.Remove(tree.Repo) // what the set-up made is made again for the next one; what stays is reported when the run ends
	}
	_ = os.Remove(filepath.Join(t.files.Folder, relayfiles.SlotFile)) // an agent may have: see openAgain
	p.e.slots.Release(p.name)
	return nil
}

// keepAltered keeps what the attempt has changed of files that the set-up had made or relay had brought: they are in no commit.
func keepAltered(ctx context.Context, t *attempt) error {
	listed, err := os.Lstat(filepath.Join(t.files.Folder, relayfiles.UntrackedName))
	if err != nil {
		return nil //nolint:nilerr // what was there is not known
	}
	to := filepath.Join(t.files.Folder, "altered")
	note, err := t.c.tree.User.KeepAltered(ctx, t.c.tree.Runner(), listed.ModTime(), to, t.run.makeRoom)
	if note != "" {
		t.f.Note("left", note+plaintext.Relative(t.run.o.Root, to))
	}
	return err
}
