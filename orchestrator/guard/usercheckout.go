package guard

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// UserCheckout has a copy of what was not committed in the user's checkout when the run began, and the user's branches and tags of then.
type UserCheckout struct {
	home     *git.Repo
	snapshot *worktree.Snapshot
	refs     map[string]string
	keep     bool // relay has reported a change that the copy undoes
}

// copyWall bounds how long the beginning of a run waits for a copy of the checkout.
const copyWall = 2 * time.Minute

// CopyCheckout copies what is not committed in the user's checkout, and has ref lead to the copy. index is a file for its index. Without a
// copy it returns nil. warning says what was not copied, and why.
func CopyCheckout(ctx context.Context, home *git.Repo, ref, index string) (c *UserCheckout, warning string) {
	ctx, cancel := context.WithTimeout(ctx, copyWall)
	defer cancel()
	s, err := worktree.TakeSnapshot(ctx, home, ref, index)
	if err != nil {
		return nil, "relay has no copy of what was not committed in your checkout: " + err.Error()
	}
	if len(s.Large) > 0 {
		warning = "relay has no copy of " + plaintext.Listed(s.Large) + ", for the size; what else was not committed in your checkout it has"
	}
	refs, _ := usersRefs(ctx, home) // what cannot be read is not compared
	return &UserCheckout{home: home, snapshot: s, refs: refs}, warning
}

// Lost lists what a run's end finds otherwise than its beginning, with the commands that bring it back. The user may have done all of it.
func (c *UserCheckout) Lost(ctx context.Context) ([]attempts.Note, error) {
	refs, unread := usersRefs(ctx, c.home)
	head, noHead := c.home.Head(ctx)
	paths, err := c.snapshot.Changed(ctx)
	if err := errors.Join(unread, noHead, err); err != nil {
		return nil, err
	}
	var notes []attempts.Note
	note := func(text string, undo ...string) {
		text += "; if that was not you, there: " + strings.Join(append([]string{"git"}, each.Of(undo, plaintext.ShellWord)...), " ")
		notes = append(notes, attempts.Note{Kind: "checkout", Text: text})
	}
	for _, name := range slices.Sorted(maps.Keys(c.refs)) {
		c.compareRef(ctx, name, refs[name], note)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		return head != c.snapshot.Head && !slices.Contains(c.snapshot.Uncommitted, p) || // another commit has other files
			worktree.OnlyRecords(ctx, c.home, c.snapshot.Commit, p)
	})
	if c.keep = len(paths) > 0; c.keep {
		named := paths
		if len(paths) > mostNamed {
			named = []string{":/"}
		}
		note("since the run began these files changed in your checkout: "+plaintext.Listed(paths),
			append([]string{"restore", "--source=" + c.snapshot.Source(), "--worktree", "--"}, named...)...)
	}
	return notes, nil
}

// mostNamed is how many files a command names that brings them back.
const mostNamed = 20

// compareRef notes a branch or a tag that is gone, or that lacks commits which it had.
func (c *UserCheckout) compareRef(ctx context.Context, name, to string, note func(text string, undo ...string)) {
	from, short := c.refs[name], strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/")
	undo := []string{"update-ref", name, from}
	if from == to {
		return
	}
	if to == "" {
		note(short+" in your repository is gone", undo...)
		return
	}
	if forward, err := git.Contains(ctx, c.home, to, from); err != nil || forward {
		return // it moved forward, or to something other than a commit
	}
	if branch, _ := c.home.Branch(ctx); name == "refs/heads/"+branch {
		undo = []string{"reset", "--keep", from}
	}
	note(short+" in your repository went from "+from[:12]+" to "+to[:12], undo...)
}

// usersRefs returns the commits of branches and tags by full name, without relay's own branches.
func usersRefs(ctx context.Context, repo *git.Repo) (map[string]string, error) {
	out, err := repo.Run(ctx, git.Call{Limit: git.MaxPrinted, Args: []string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/heads", "refs/tags"}})
	all := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		ref := strings.Fields(line) // three for one that stands for another
		if len(ref) == 2 && !strings.HasPrefix(ref[1], "refs/heads/relay/") && !strings.HasPrefix(ref[1], "refs/heads/"+git.TaskBranches) {
			all[ref[1]] = ref[0]
		}
	}
	return all, err
}

// Close removes the copy, unless relay has reported a change that it undoes.
func (c *UserCheckout) Close(ctx context.Context) error { return c.snapshot.Forget(ctx, c.keep) }
