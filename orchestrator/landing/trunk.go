// Package landing puts work onto branches, in the object database: tasks onto an epic's integration branch, one step at a
// time, and that branch onto a branch of the user's when the epic is over. No checkout is touched on the way.
package landing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"relay/orchestrator/text"
	"relay/orchestrator/trees"
	"relay/reanchor"
)

// errMoved means that somebody else moved the integration branch: ask for the tip again.
var errMoved = errors.New("the integration branch was moved")

// Trunk is an epic's integration branch: what has landed. More is added to it in the object database, so no checkout is
// needed, and whatever is checked out anywhere stays as it is.
//
// Where it stands is kept in a ref of its own (refs/relay-tip/EPIC). The branch people look at (relay/EPIC) follows
// whenever it is checked out nowhere.
type Trunk struct {
	repo *reanchor.Git // of the user's repository
	epic string
	mode Mode // "" : Merge

	mu    sync.Mutex
	asked bool
	who   []string // settings that let relay commit where nobody has told git a name
}

// NewTrunk is the integration branch of an epic; mode says how work is put onto it.
func NewTrunk(repo *reanchor.Git, epicID string, mode Mode) *Trunk {
	return &Trunk{repo: repo, epic: epicID, mode: mode}
}

// Ref is the full name of what relay goes by; branch is what a user sees.
func (t *Trunk) Ref() string { return "refs/relay-tip/" + t.epic }

func (t *Trunk) branch() string { return "refs/heads/relay/" + t.epic }

func (t *Trunk) git(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	call := trees.Writing(args...)
	call.Stdin = stdin
	out, err := t.repo.Run(ctx, call)
	return strings.TrimSuffix(string(out), "\n"), err
}

// begin creates the integration branch at head when there is none, and returns its tip. It takes in what a user has
// committed on the branch, lets the branch follow when it is behind, and makes it again when it is gone.
func (t *Trunk) begin(ctx context.Context, head string) (tip string, err error) {
	if tip, err = t.tip(ctx); err != nil {
		return "", err
	}
	if tip == "" {
		tip = head
	}
	if err = t.settle(ctx, tip); err == nil {
		return tip, nil
	}
	if taken, refErr := t.repo.Ref(ctx, "refs/heads/relay"); refErr == nil && taken != "" {
		return "", &text.RefusedError{Reason: "there is a branch named relay, so git cannot make one named relay/" + t.epic, Hint: "git branch -m relay another-name, then relay work"}
	}
	below, listErr := t.git(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname:short)", t.branch()+"/")
	if listErr == nil && below != "" {
		return "", &text.RefusedError{Reason: "there is a branch named " + below + ", so git cannot make one named relay/" + t.epic, Hint: "git branch -m " + below + " another-name, then relay work"}
	}
	return "", err
}

// stands returns where relay's own ref and the branch are; "" for one that is not there.
func (t *Trunk) stands(ctx context.Context) (tip, branch string, err error) {
	if tip, err = t.repo.Ref(ctx, t.Ref()); err == nil {
		branch, err = t.repo.Ref(ctx, t.branch())
	}
	return tip, branch, err
}

// tip returns the commit the trunk ends in, "" when it has not begun: what a user has committed on the branch is part
// of it, and a branch that is behind, or gone, is not. Nothing is written. A [*text.RefusedError] says that the two have
// diverged.
func (t *Trunk) tip(ctx context.Context) (string, error) {
	tip, branch, err := t.stands(ctx)
	switch {
	case err != nil || branch == "" || tip == branch:
		return tip, err
	case tip == "":
		return branch, nil
	}
	for _, ends := range [][2]string{{branch, tip}, {tip, branch}} {
		if held, err := t.Contains(ctx, ends[0], ends[1]); err != nil || held {
			return ends[0], err
		}
	}
	return "", &text.RefusedError{
		Reason: "the branch relay/" + t.epic + " has commits of its own and lacks some that landed",
		Hint:   "git branch -m relay/" + t.epic + " mine-" + t.epic + ", then relay work: the branch is made again with all that landed",
	}
}

// settle brings relay's own ref to the tip, and the branch unless it is checked out somewhere.
func (t *Trunk) settle(ctx context.Context, tip string) error {
	own, branch, err := t.stands(ctx)
	var moves []move
	if own != tip {
		moves = append(moves, move{t.Ref(), own, tip})
	}
	if branch != tip && err == nil && !t.held(ctx) {
		moves = append(moves, move{t.branch(), branch, tip})
	}
	if err != nil || len(moves) == 0 {
		return err
	}
	return t.move(ctx, moves...)
}

// advance moves the trunk from one commit to another that has it in its history; from "" begins it. The error is
// errMoved when it is not at from any more, or when the branch has a commit that to lacks.
func (t *Trunk) advance(ctx context.Context, from, to string) error {
	_, branch, err := t.stands(ctx)
	if err != nil {
		return err
	}
	moves := []move{{t.Ref(), from, to}}
	if branch != from && branch != "" {
		held, err := t.Contains(ctx, to, branch)
		if err != nil || !held {
			return errors.Join(err, errMoved)
		}
	}
	if branch != to && !t.held(ctx) {
		moves = append(moves, move{t.branch(), branch, to})
	}
	return t.move(ctx, moves...)
}

// move is a ref that goes from one commit ("" : it is not there) to another.
type move struct{ ref, from, to string }

// move moves refs, all or none; errMoved when one of them is not where it should be.
func (t *Trunk) move(ctx context.Context, moves ...move) error {
	var script strings.Builder
	for _, m := range moves {
		from := m.from
		if from == "" {
			from = strings.Repeat("0", len(m.to))
		}
		fmt.Fprintf(&script, "update %s %s %s\n", m.ref, m.to, from)
	}
	var err error
	for range 2 {
		if _, err = t.git(ctx, strings.NewReader(script.String()), "update-ref", "--no-deref", "-m", "relay: landed", "--stdin"); err == nil || ctx.Err() != nil {
			return err
		}
		for _, m := range moves {
			if now, refErr := t.repo.Ref(ctx, m.ref); refErr == nil && now != m.from {
				return errMoved
			}
		}
		refs := make([]string, len(moves))
		for i := range moves {
			refs[i] = moves[i].ref
		}
		if unlocking := trees.Unlatch(t.repo, refs...); unlocking != nil {
			return errors.Join(err, unlocking)
		}
	}
	return err
}

// held reports whether a worktree, the user's checkout among them, has the branch checked out or will come back to it.
// When git cannot say, because an agent has made a mess of its worktree, it counts as held: the branch can wait.
func (t *Trunk) held(ctx context.Context) bool {
	call := trees.Writing("worktree", "list", "--porcelain", "-z")
	call.Wall = heldWall
	list, err := t.repo.Run(ctx, call)
	return err != nil || strings.Contains("\x00"+string(list), "\x00branch "+t.branch()+"\x00") || t.resting(t.branch())
}

// heldWall is how long git may look for who has the branch: an agent can put a pipe where it reads.
const heldWall = 20 * time.Second

// resting reports whether a rebase or a bisection that has not come to its end began on a branch, given by its full name.
func (t *Trunk) resting(branch string) bool {
	shared := t.repo.CommonDir()
	dirs := []string{shared}
	entries, _ := os.ReadDir(filepath.Join(shared, "worktrees")) // none: nobody has made one
	for _, e := range entries {
		dirs = append(dirs, filepath.Join(shared, "worktrees", e.Name()))
	}
	for _, dir := range dirs {
		for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > mostRefName {
				continue
			}
			text, err := os.ReadFile(path)
			if began := strings.TrimSpace(string(text)); err == nil && (began == branch || "refs/heads/"+began == branch) {
				return true
			}
		}
	}
	return false
}

// mostRefName is more than any ref name has.
const mostRefName = 4 << 10

// Pin keeps a commit that nothing leads to yet from the user's git gc, until another one is pinned or [Trunk.Unpin] is called.
func (t *Trunk) Pin(ctx context.Context, commit string) error {
	_, err := t.git(ctx, nil, "update-ref", "--no-deref", "--", t.pin(), commit)
	return err
}

// Unpin ends that.
func (t *Trunk) Unpin(ctx context.Context) error {
	if at, err := t.repo.Ref(ctx, t.pin()); err != nil || at == "" {
		return err
	}
	_, err := t.git(ctx, nil, "update-ref", "--no-deref", "-d", t.pin())
	return err
}

func (t *Trunk) pin() string { return "refs/relay-pin/" + t.epic }

// Holds reports whether commit is in the tip's history.
func (t *Trunk) Holds(ctx context.Context, commit string) (bool, error) {
	tip, err := t.tip(ctx)
	if err != nil || tip == "" {
		return false, err
	}
	held, err := t.Contains(ctx, tip, commit)
	if err == nil {
		return held, nil
	}
	if _, missing := t.git(ctx, nil, "cat-file", "-e", commit+"^{commit}"); missing != nil && ctx.Err() == nil {
		return false, nil // it is not in the repository at all
	}
	return false, err
}

// Exceeds reports whether something has landed that is not in the history of head. Nothing is written.
func (t *Trunk) Exceeds(ctx context.Context, head string) (bool, error) {
	tip, err := t.tip(ctx)
	if err != nil || tip == "" {
		return false, err
	}
	held, err := t.Contains(ctx, head, tip)
	return !held, err
}

// Contains reports whether commit is part of head's history.
func (t *Trunk) Contains(ctx context.Context, head, commit string) (bool, error) {
	_, err := t.git(ctx, nil, "merge-base", "--is-ancestor", commit, head)
	var said *reanchor.GitError
	if errors.As(err, &said) && said.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// identity are settings with which git can commit.
func (t *Trunk) identity(ctx context.Context) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asked {
		_, err := t.git(ctx, nil, "var", "GIT_COMMITTER_IDENT")
		if t.asked = ctx.Err() == nil; err != nil {
			t.who = trees.Nameless()
		}
	}
	return t.who
}
