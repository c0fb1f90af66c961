package finish

import (
	"context"
	"errors"
	"slices"
	"strings"

	"relay/orchestrator/git/integration"
)

// Content is what a branch of the user's has of an epic's integration branch: as it is, or squashed, picked or rebased.
type Content struct {
	All  bool
	As   string // commit of the user's branch that squashes the other one up to Upto; "" : there is none
	Upto string
}

// Compare finds what into has of the integration branch that ends in tip. No ref moves.
func Compare(ctx context.Context, b *integration.Branch, into, tip string) (c Content, err error) {
	if c.All, err = b.Contains(ctx, into, tip); err != nil || c.All {
		return c, err
	}
	if straight, err := b.Contains(ctx, tip, into); err != nil || straight {
		return c, err
	}
	own, err := lineOf(ctx, b, into, tip, into)
	if c.All = own.brought() && len(own.commits) > 1; err != nil || c.All {
		return c, err
	}
	tree, err := b.Git(ctx, nil, "rev-parse", "--verify", into+"^{tree}")
	if err != nil {
		return c, err
	}
	if c.As, c.Upto, err = squashed(ctx, b, into, tip); err != nil {
		return c, err
	}
	if c.All = c.Upto == tip || own.brought() || holds(ctx, b, change{name: into, tree: tree}, tip); c.All || c.Upto == "" {
		return c, ctx.Err()
	}
	rest, err := lineOf(ctx, b, into, tip, c.Upto)
	c.All = rest.brought()
	return c, err
}

// line is commits of the integration branch that follow one another; none when they do not.
type line struct {
	commits []integration.NamedCommit
	missing [][]integration.NamedCommit // those without others of the user's that change the same, in runs
}

func (l line) brought() bool { return len(l.commits) > 0 && len(l.missing) == 0 }

func (l line) whole() bool { return len(l.missing) == 1 && len(l.missing[0]) == len(l.commits) }

// lineOf returns the commits from base to tip that into lacks. A long night has no line.
func lineOf(ctx context.Context, b *integration.Branch, into, tip, base string) (l line, err error) {
	commits, err := b.Commits(ctx, []string{tip, "^" + into, "^" + base})
	if _, ok := errors.AsType[*integration.UnfitError](err); ok {
		return l, nil
	}
	if l.commits = inARow(commits); err != nil || len(l.commits) == 0 {
		return l, err
	}
	out, err := b.Git(ctx, nil, "rev-list", "--right-only", "--cherry-pick", "--no-merges", into+"..."+tip, "--")
	if err != nil {
		return l, err
	}
	theirs, err := b.Commits(ctx, []string{into, "^" + tip})
	if _, ok := errors.AsType[*integration.UnfitError](err); err != nil && !ok {
		return l, err
	}
	fresh := slices.DeleteFunc(strings.Split(out, "\n"), func(name string) bool {
		at := slices.IndexFunc(l.commits, func(c integration.NamedCommit) bool { return c.Name == name })
		return at >= 0 && slices.ContainsFunc(theirs, l.commits[at].Copies)
	})
	if !slices.ContainsFunc(l.commits, func(c integration.NamedCommit) bool { return !slices.Contains(fresh, c.Name) }) {
		l.missing = [][]integration.NamedCommit{l.commits}
		return l, nil
	}
	before, err := b.Git(ctx, nil, "rev-parse", "--verify", l.commits[0].Parents()[0]+"^{tree}")
	follows := false
	for _, c := range l.commits {
		lacks := c.Tree() != before && slices.Contains(fresh, c.Name)
		switch last := len(l.missing) - 1; {
		case lacks && follows:
			l.missing[last] = append(l.missing[last], c)
		case lacks:
			l.missing = append(l.missing, []integration.NamedCommit{c})
		}
		before, follows = c.Tree(), lacks
	}
	return l, err
}

// inARow returns the commits without those that only close what stands before them, as the landing of several commits
// does; nil when they do not follow one another.
func inARow(commits []integration.NamedCommit) []integration.NamedCommit {
	var line []integration.NamedCommit
	ends := map[string]bool{} // names of what line ends in
	for _, c := range commits {
		parents := c.Parents()
		last := len(line) - 1
		switch {
		case len(parents) == 1 && (last < 0 || ends[parents[0]]):
			line, ends = append(line, c), map[string]bool{c.Name: true}
		case len(parents) == 2 && last >= 0 && ends[parents[1]] && c.Tree() == line[last].Tree():
			ends[c.Name] = true
		default:
			return nil
		}
	}
	return line
}

// change is a commit with the files that it changes.
type change struct {
	name, tree string
	files      []string
}

// changes lists the commits of a span (arguments of git log).
func changes(ctx context.Context, b *integration.Branch, span ...string) (found []change, err error) {
	args := []string{"log", "--no-show-signature", "--no-renames", "--name-only", "--max-count=1000", "--format=%x00%H%n%T"}
	out, err := b.Git(ctx, nil, append(append(args, span...), "--")...)
	for block := range strings.SplitSeq(out, "\x00") {
		if lines := strings.Split(strings.Trim(block, "\n"), "\n"); len(lines) > 1 {
			found = append(found, change{lines[0], lines[1], lines[min(3, len(lines)):]})
		}
	}
	return found, err
}

// maxTries is how many commits are merged at most to find a squash.
const maxTries = 200

// squashed finds a commit of into that has all of the integration branch up to a commit of its first-parent line, the later the better: it
// changes no other files, and merging the two changes nothing.
func squashed(ctx context.Context, b *integration.Branch, into, tip string) (as, upto string, err error) {
	theirs, err := changes(ctx, b, "--no-merges", "--reverse", tip+".."+into)
	if err != nil {
		return "", "", err
	}
	ours, err := changes(ctx, b, "--first-parent", "-m", into+".."+tip)
	if err != nil {
		return "", "", err
	}
	changed := map[string]int{} // by file: how many commits of ours up to one change it
	for _, p := range ours {
		for _, file := range p.files {
			changed[file]++
		}
	}
	tries := 0
	for _, p := range ours {
		for _, c := range theirs {
			other := slices.ContainsFunc(c.files, func(file string) bool { return changed[file] == 0 })
			lacks := p.name != tip && slices.ContainsFunc(p.files, func(file string) bool { return !slices.Contains(c.files, file) })
			if len(c.files) == 0 || other || lacks {
				continue
			}
			if tries++; tries > maxTries {
				return "", "", nil
			}
			if holds(ctx, b, c, p.name) {
				return c.name, p.name, nil
			}
		}
		for _, file := range p.files {
			changed[file]--
		}
	}
	return "", "", ctx.Err()
}

// holds reports whether merging a commit of the integration branch into one of the user's changes nothing.
func holds(ctx context.Context, b *integration.Branch, c change, commit string) bool {
	tree, err := b.MergeTrees(ctx, c.name, commit)
	return err == nil && tree == c.tree
}
