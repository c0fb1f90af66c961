package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/trees"
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
func (l *lanes) forget() error {
	var errs []error
	for _, name := range []string{refsName, stashName} {
		if err := os.Remove(filepath.Join(l.o.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (g *stashGuard) jot() error {
	if g.file == "" {
		return nil
	}
	var list [][2]string
	for _, e := range slices.Concat(g.theirs, g.went) {
		list = append(list, [2]string{e.commit, e.message})
	}
	return trees.Jot(g.file, list)
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
	now, err := g.read()
	if err != nil {
		return nil, err
	}
	g.theirs = nil
	for _, was := range list {
		e := stashed{commit: was[0], message: was[1]}
		switch {
		case slices.Contains(now, e):
			g.theirs = append(g.theirs, e)
		case trees.Has(ctx, g.repo, e.commit):
			ref := g.ref(e)
			if err := g.git(ctx, "update-ref", "--", ref, e.commit); err != nil {
				return notes, err
			}
			notes = append(notes, fmt.Sprintf("%.80q had gone from your stash when relay had been killed; relay leaves it so, and keeps it as %s", e.message, ref))
		}
	}
	return notes, nil
}
