package finish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
)

// Leftover is one thing that runs have left behind which are over.
type Leftover struct {
	Kind LeftoverKind `json:"kind"`
	Name string       `json:"name"`           // of a branch, without refs/heads/, or a folder's absolute path
	Why  string       `json:"why,omitempty"`  // why it stays, in words; "" : nothing would be lost with it
	Show string       `json:"look,omitempty"` // command that shows what would be lost

	commit string // a branch's
	aside  string // folder of the plan or fork that has left it; "" : a run has
}

// LeftoverKind names a sort of things that runs leave behind.
type LeftoverKind string

// Kinds of leftovers.
const (
	LeftWorktree LeftoverKind = "worktree"
	LeftBranch   LeftoverKind = "branch"
	LeftCopy     LeftoverKind = "copy"   // of .git
	LeftFolder   LeftoverKind = "folder" // of a plan or fork, without a slot in it
	LeftLock     LeftoverKind = "lock"   // of such a folder that is not there
)

// Remains is where runs leave things behind.
type Remains struct {
	Git       *git.Repo // the user's checkout
	Dir       string    // relay's folder
	Worktrees string    // as Worktree.Dir in the options of a run
	Below     string    // further folder of worktrees; "" : none
	Backup    string    // as in the options of a run
}

// List lists what runs, plans and forks have left behind: worktrees, branches of tasks, copies of .git. Call it while no run is active;
// plans and forks may be.
func (o Remains) List(ctx context.Context) ([]Leftover, error) {
	var found []Leftover
	dirs := []string{o.Worktrees}
	if o.Below != "" && o.Below != o.Worktrees {
		dirs = append(dirs, o.Below)
	}
	for _, dir := range dirs {
		slots, err := o.worktrees(ctx, dir)
		if err != nil {
			return nil, err
		}
		asides, err := o.asides(ctx, dir)
		if err != nil {
			return nil, err
		}
		found = slices.Concat(found, slots, asides)
	}
	branches, err := o.branches(ctx)
	if err != nil {
		return nil, err
	}
	copies, err := o.copies(ctx)
	return append(append(found, branches...), copies...), err
}

// Remove removes one thing that [Remains.List] has listed, unless something would be lost with it by now.
func (o Remains) Remove(ctx context.Context, l Leftover) error {
	if l.Why != "" {
		return errors.New(l.Why)
	}
	if l.aside != "" {
		return o.removeAside(ctx, l)
	}
	switch l.Kind {
	case LeftWorktree:
		return o.removeSlot(ctx, l)
	case LeftBranch:
		epic := epicOf(l.Name)
		me := attempts.Self(epic, time.Now())
		me.Dir = o.Dir
		lock, err := attempts.Hold(git.EpicLock(o.Git, epic), me) // no run of it may begin meanwhile
		if err != nil {
			return err
		}
		defer func() { _ = lock.Release() }() // a file that stays does not lock
		now, err := o.branches(ctx)
		for _, b := range now {
			if b.Name == l.Name && b.Why != "" {
				err = errors.Join(err, errors.New(b.Why))
			}
		}
		if err != nil {
			return err
		}
		return DeleteBranch(ctx, o.Git, l.Name, l.commit)
	default: // a copy is a folder
	}
	err := os.RemoveAll(l.Name)
	_ = os.Remove(filepath.Dir(l.Name)) // when it was the last one there
	return err
}

func (o Remains) removeSlot(ctx context.Context, l Leftover) error {
	slots, name := slot.NewPool(o.Git, filepath.Dir(l.Name)), filepath.Base(l.Name)
	why, err := slots.Unsaved(ctx, name)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return err
	}
	return slots.Remove(ctx, name)
}

// worktrees lists the slots below a folder.
func (o Remains) worktrees(ctx context.Context, dir string) ([]Leftover, error) {
	slots := slot.NewPool(o.Git, dir)
	names, err := slots.Names(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]Leftover, len(names))
	for i, name := range names {
		l := Leftover{Kind: LeftWorktree, Name: filepath.Join(dir, name)}
		if l.Why, err = slots.Unsaved(ctx, name); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		l.Show = "git -C " + plaintext.ShellWord(l.Name) + " status"
		if _, err := os.Lstat(filepath.Join(l.Name, ".git")); err != nil {
			l.Show = "ls -A " + plaintext.ShellWord(l.Name) // git would look at the repository around it
		}
		found[i] = l
	}
	return found, nil
}

// branches lists the branches of tasks. One whose commits are in no other ref has work that has neither landed nor been
// kept elsewhere.
func (o Remains) branches(ctx context.Context) ([]Leftover, error) {
	branches, err := Branches(ctx, o.Git, "refs/heads/"+git.TaskBranches)
	if err != nil {
		return nil, err
	}
	var found []Leftover
	for _, b := range branches {
		l := Leftover{Kind: LeftBranch, Name: b.Name, commit: b.Commit}
		own, err := b.Unmerged(ctx, o.Git)
		if err != nil {
			return nil, err
		}
		forking, err := o.forking(l.Name)
		if err != nil {
			return nil, err
		}
		busy := cmp.Or(o.busy(epicOf(l.Name)), forking)
		switch l.Why = cmp.Or(busy, WhyInUse(b.Worktree, own)); {
		case busy != "":
			l.Show = "git log " + plaintext.ShellWord(l.Name)
		case own != "":
			l.Show = "git log -p -" + own + " " + plaintext.ShellWord(l.Name)
		case b.Worktree != "":
			l.Show = "git -C " + plaintext.ShellWord(b.Worktree) + " status"
		}
		found = append(found, l)
	}
	return found, nil
}

// epicOf returns the epic that a task's branch belongs to.
func epicOf(branch string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(branch, git.TaskBranches), "/")
	return id
}

// busy returns text that says where an epic is worked: in another checkout, for no run is active here.
func (o Remains) busy(epicID string) string {
	who, err := attempts.HeldBy(git.EpicLock(o.Git, epicID))
	switch {
	case err != nil:
		return err.Error()
	case who == nil || who.Dir == o.Dir:
		return ""
	}
	return "relay is at work on its epic in " + who.Dir
}

// copies lists copies of .git. One with a commit that the repository lacks may be all that is left of it.
func (o Remains) copies(ctx context.Context) ([]Leftover, error) {
	var found []Leftover
	var err error
	for _, path := range []string{o.Backup, filepath.Join(o.Dir, "git-copy", "own")} {
		if path == "" {
			continue
		}
		for _, name := range []string{path, path + ".file"} {
			if _, err = os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			l := Leftover{Kind: LeftCopy, Name: name}
			l.Why, err = o.lacking(ctx, name)
			if err != nil {
				return nil, err
			}
			l.Show = "git --git-dir=" + plaintext.ShellWord(name) + " log --all"
			found = append(found, l)
		}
	}
	damaged, err := filepath.Glob(filepath.Join(o.Dir, "git-damaged*"))
	for _, path := range damaged {
		found = append(found, Leftover{Kind: LeftCopy, Name: path, Why: "what was left of a .git that an agent had damaged", Show: "ls " + plaintext.ShellWord(path)})
	}
	return found, err
}

// lacking returns text that says what a copy has that the repository lacks. One without HEAD was cut short, and would
// not be put back.
func (o Remains) lacking(ctx context.Context, path string) (string, error) {
	if _, err := os.Lstat(filepath.Join(path, git.HeadFile)); err != nil {
		return "", nil //nolint:nilerr // a part of a copy, or the one line that a linked worktree has
	}
	list, err := git.Run(ctx, git.Call{Dir: o.Dir, GitDir: path, Args: []string{"for-each-ref", "--format=%(objectname) %(refname)"}})
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "git cannot read it", nil
	}
	if len(list) == 0 {
		return "", nil
	}
	rows := strings.Split(strings.TrimSuffix(string(list), "\n"), "\n")
	var names strings.Builder
	for _, row := range rows {
		name, _, _ := strings.Cut(row, " ")
		names.WriteString(name + "\n")
	}
	output, err := o.Git.Run(ctx, git.Call{
		Args: []string{"cat-file", "--batch-check=%(objectname)"}, Stdin: strings.NewReader(names.String()),
	})
	if err != nil {
		return "", err
	}
	for i, answer := range strings.Split(strings.TrimSuffix(string(output), "\n"), "\n") {
		if strings.HasSuffix(answer, " missing") && i < len(rows) {
			_, ref, _ := strings.Cut(rows[i], " ")
			return "this repository lacks the commit of its " + ref, nil
		}
	}
	return "", nil
}
