package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/trees"
	"relay/reanchor"
)

// refsName and stashName are files that are there while tasks are done in worktrees: what is the user's. A run that was
// killed could not look at what its agents have done with that last: the next one does.
const (
	refsName  = "user-refs"
	stashName = "user-stash"
)

func (l *lanes) unclean() bool { return exists(l.refs.File) || exists(l.stash.file) }

// cleanAfter puts right what agents of a killed run have done to the user's branches, tags and stash.
func (l *lanes) cleanAfter(ctx context.Context) (notes []attempts.Note, err error) {
	if !l.unclean() {
		return nil, nil
	}
	if err := l.awake(ctx); err != nil {
		return nil, err
	}
	found, err := l.refs.Resume(ctx)
	for _, m := range found {
		notes = append(notes, attempts.Note{Kind: "tamper", Text: m.Text})
	}
	gone, stashErr := l.stash.resume(ctx)
	for _, text := range gone {
		notes = append(notes, attempts.Note{Kind: "stash", Text: text})
	}
	return notes, errors.Join(err, stashErr)
}

// forget ends what is only there while a run is on.
func (l *lanes) forget(ctx context.Context) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	errs := []error{l.stash.unpin(ctx)}
	for _, name := range []string{refsName, stashName} {
		if err := os.Remove(filepath.Join(l.o.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// pins is where the user's stash stays reachable while a run is on: what an agent pops and has git clear away, repack -ad
// will do, would be nowhere when relay looks.
func (g *stashGuard) pins() string { return "refs/relay-stash/" + g.epic + "/" }

func (g *stashGuard) pin(ctx context.Context) error {
	if len(g.theirs) == 0 {
		return nil
	}
	g.pinned = true
	var all []string
	for _, e := range g.theirs {
		all = append(all, fmt.Sprintf("update %s%s %s\n", g.pins(), e.Commit, e.Commit))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	err := g.update(ctx, strings.Join(all, ""))
	if !refused(ctx, err) {
		return err
	}
	for _, one := range all { // there is an entry whose commit is gone
		if err := g.update(ctx, one); err != nil && !refused(ctx, err) {
			return err
		}
	}
	return nil
}

func (g *stashGuard) unpin(ctx context.Context) error {
	if !g.pinned {
		return nil
	}
	list, err := g.repo.Run(ctx, reanchor.Call{Args: []string{"for-each-ref", "--format=delete %(refname)", g.pins()}})
	if err != nil || len(list) == 0 {
		return err
	}
	return g.update(ctx, string(list))
}

func (g *stashGuard) update(ctx context.Context, updates string) error {
	call := trees.Writing("update-ref", "--stdin")
	call.Stdin = strings.NewReader(updates)
	_, err := g.repo.Run(ctx, call)
	return err
}

// jot writes down what is the user's, and pins it.
func (g *stashGuard) jot(ctx context.Context) error {
	if g.file == "" {
		return nil
	}
	var list [][2]string
	for _, e := range slices.Concat(g.theirs, g.went) {
		list = append(list, [2]string{e.Commit, e.Message})
	}
	return errors.Join(trees.Jot(g.file, list), g.pin(ctx))
}

// resume keeps what has gone from the user's stash when a run was killed: who did that, and what they have done since,
// nobody knows.
func (g *stashGuard) resume(ctx context.Context) (notes []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list [][2]string
	if !trees.Jotted(g.file, &list) {
		return nil, nil
	}
	now, err := trees.Stash(g.repo)
	if err != nil {
		return nil, err
	}
	g.pinned = true
	g.theirs = nil
	for _, was := range list {
		e := trees.Stashed{Commit: was[0], Message: was[1]}
		switch {
		case slices.Contains(now, e):
			g.theirs = append(g.theirs, e)
		case trees.Has(ctx, g.repo, e.Commit):
			ref := g.ref(e)
			if err := g.git(ctx, "update-ref", "--", ref, e.Commit); err != nil {
				return notes, err
			}
			notes = append(notes, fmt.Sprintf("%.80q had gone from your stash when relay had been killed; relay leaves it so, and keeps it as %s", e.Message, ref))
		}
	}
	return notes, nil
}
