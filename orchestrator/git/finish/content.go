package finish

import (
	"context"
	"errors"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/git/integration"
	"relay/reanchor/git"
)

// Content is what a branch of the user's has of an epic's integration branch: as it is, or squashed, picked or rebased.
type Content struct {
	All  bool
	As   string // commit of the user's branch that squashes the other one up to Upto; "" : there is none
	Upto string
}

// Compare finds what into has of the integration branch that ends in tip. No ref moves.
func Compare(ctx context.Context, b *integration.Branch, into, tip string) (c Content, err error) {
	apart, err := b.Git(ctx, nil, "rev-list", "--left-right", "--count", into+"..."+tip, "--")
	theirs, ours, _ := strings.Cut(apart, "\t")
	if c.All = ours == "0"; err != nil || c.All || theirs == "0" {
		return c, err
	}
	own, err := lineOf(ctx, b, into, tip, into)
	if c.All = own.brought() && len(own.commits) > 1; err != nil || c.All {
		return c, err
	}
	if c, err = squashed(ctx, b, into, tip); err != nil || c.All {
		return c, err
	}
	if c.Upto != "" {
		own, err = lineOf(ctx, b, into, tip, c.Upto)
	}
	c.All = own.brought()
	return c, err
}

// Lacking returns the tip of an integration branch if into lacks some of its work, else "".
func Lacking(ctx context.Context, b *integration.Branch, into string) (tip string, err error) {
	if tip, err = b.Tip(ctx); err != nil || tip == "" {
		return "", err
	}
	if c, err := Compare(ctx, b, into, tip); err != nil || c.All {
		return "", err
	}
	return tip, nil
}

// line is commits of the integration branch that follow one another; none when they do not. The user's branch has no commit that changes
// the same as a missing one, or has its author, time and message.
type line struct{ commits, missing []integration.NamedCommit }

func (l line) brought() bool { return len(l.commits) > 0 && len(l.missing) == 0 }

// lineOf returns the commits from base to tip that into lacks. A long night has no line.
func lineOf(ctx context.Context, b *integration.Branch, into, tip, base string) (l line, err error) {
	commits, err := integration.Commits(ctx, b.Repo, []string{tip, "^" + into, "^" + base})
	theirs, failed := integration.Commits(ctx, b.Repo, []string{into, "^" + tip})
	if err = errors.Join(err, failed); errors.As(err, new(*integration.UnfitError)) {
		return l, nil
	}
	if l.commits = inARow(commits); err != nil || len(l.commits) == 0 {
		return l, err
	}
	out, err := b.Git(ctx, nil, "rev-list", "--right-only", "--cherry-pick", "--no-merges", into+"..."+tip, "--")
	if err != nil {
		return l, err
	}
	fresh := strings.Split(out, "\n")
	there := func(c integration.NamedCommit) bool {
		return !slices.Contains(fresh, c.Name) || slices.ContainsFunc(theirs, c.Copies)
	}
	if !slices.ContainsFunc(l.commits, there) {
		l.missing = l.commits
		return l, nil
	}
	before, err := b.Git(ctx, nil, "rev-parse", "--verify", l.commits[0].Parents()[0]+"^{tree}")
	for _, c := range l.commits {
		if c.Tree() != before && !there(c) {
			l.missing = append(l.missing, c)
		}
		before = c.Tree()
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
	names := []string{"log", "--no-show-signature", "--no-renames", "--name-only", "--max-count=1000", "--format=%x00%H%n%T"}
	out, err := b.Git(ctx, nil, slices.Concat(names, span, []string{"--"})...)
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
// changes no other files, and merging the two changes nothing. All may be in several commits.
func squashed(ctx context.Context, b *integration.Branch, into, tip string) (found Content, err error) {
	theirs, failed := changes(ctx, b, "--reverse", tip+".."+into)
	ours, err := changes(ctx, b, "--first-parent", "-m", into+".."+tip)
	changed := map[string]int{} // by file: how many commits of ours up to one change it
	for _, p := range ours {
		for _, file := range p.files {
			changed[file]++
		}
	}
	tries := 0
	for _, p := range ours {
		for _, c := range theirs {
			squash := len(c.files) > 0 && !slices.ContainsFunc(c.files, func(file string) bool { return changed[file] == 0 }) &&
				(p.name == tip || !slices.ContainsFunc(p.files, func(file string) bool { return !slices.Contains(c.files, file) }))
			if !squash && (p.name != tip || c.name != theirs[len(theirs)-1].name) {
				continue
			}
			if tries++; tries > maxTries {
				return found, err
			}
			if tree, _ := b.MergeTrees(ctx, c.name, p.name); tree != c.tree { // "" where they conflict
				continue
			} else if found = (Content{All: p.name == tip, Upto: p.name}); squash {
				found.As = c.name
			}
			return found, nil
		}
		for _, file := range p.files {
			changed[file]--
		}
	}
	return found, errors.Join(failed, err, ctx.Err())
}

// dropped lists the commits that the epic began from or that its branch followed, that have been on Into by its log, and that somebody
// has taken off it since. One whose change Into still has in another commit, reworded or rebased, is not among them.
func dropped(ctx context.Context, f *Step, o Options) ([]string, error) {
	list := func(without string) ([]string, error) {
		wanted := strings.NewReader(f.Old + "..." + f.Tip + "\n" + without)
		out, err := f.branch.Git(ctx, wanted, "log", "--ignore-missing", "--right-only", "--cherry-pick", "--no-merges",
			"--max-count=1000", "--format=%h %s", "--invert-grep", "--fixed-strings", "--grep=Relay-Epic: "+o.Epic.ID, "--stdin")
		return strings.Split(out, "\n"), err
	}
	all, err := list("")
	if err != nil || o.Base == "" || all[0] == "" {
		return nil, err
	}
	been, err := f.branch.Git(ctx, nil, "log", "-g", "--max-count=1000", "--format=^%H %gs", "refs/heads/"+f.Into, "--")
	if err != nil || been == "" {
		return nil, ctx.Err()
	}
	var without strings.Builder // but for what relay finish has landed of the epic, which may be wanted again
	for entry := range strings.SplitSeq(been, "\n") {
		if commit, said, _ := strings.Cut(entry, " "); !strings.HasPrefix(said, reflogName) || !strings.Contains(said, f.Name) {
			without.WriteString(commit + "\n")
		}
	}
	others, err := list(without.String())
	return slices.DeleteFunc(all, func(c string) bool { return c == "" || slices.Contains(others, c) }), err
}

// replay puts the branch's commits that base lacks onto Into one by one, without those that Into has as others. It reports false for a
// history that cannot stand in a row, and unless always is set for one of which Into has nothing: that is merged.
func (f *Step) replay(ctx context.Context, base string, always bool) (done bool, err error) {
	l, err := lineOf(ctx, f.branch, f.Old, f.Tip, base)
	l.missing = slices.DeleteFunc(slices.Clone(l.missing), func(c integration.NamedCommit) bool {
		return slices.ContainsFunc(f.Dropped, func(d string) bool { return strings.HasPrefix(c.Name, strings.Fields(d)[0]) })
	})
	whole := len(l.missing) == len(l.commits)
	if err != nil || len(l.commits) == 0 || !always && whole {
		return false, err
	}
	size := 1 // they need not follow one another
	if whole {
		size = len(l.commits)
	}
	f.How, f.New = NothingToLand, f.Old
	for run := range slices.Chunk(l.missing, size) {
		f.How = Replay
		if f.New, err = f.branch.Rebase(ctx, f.New, run); err != nil {
			return false, err
		}
	}
	return true, nil
}

// checkComplete refuses a branch from which somebody has taken what had landed, unless Into has that: relay's own ref still has it, and
// all of it would be landed without a word.
func (f *Step) checkComplete(ctx context.Context, own, branch string) error {
	if own == "" || branch == "" || own == branch {
		return nil
	}
	if ahead, err := git.Contains(ctx, f.branch.Repo, branch, own); err != nil || ahead {
		return err
	}
	if late, err := lagging(ctx, f, own, branch); err != nil || late {
		return err
	}
	if c, err := Compare(ctx, f.branch, f.Old, own); err != nil || c.All { // it was rebased, say
		f.Tip = branch
		return err
	}
	lacking, err := f.branch.Git(ctx, nil, "rev-list", "--count", branch+".."+own, "--")
	if err != nil {
		return err
	}
	back := "git branch -f " + f.Name + " " + own
	if here, err := f.branch.Repo.Branch(ctx); err == nil && here == f.Name {
		back = "git reset --keep " + own
	}
	return &attempts.RefusedError{
		Reason: f.Name + " lacks commits that have landed on it: " + lacking,
		Hint:   "git update-ref " + f.branch.Ref() + " " + f.Name + ", then relay finish, lands it as it is\n" + back + " has it all again",
	}
}

// Has reports whether a commit of the integration branch is in what is landed.
func (f *Step) Has(ctx context.Context, commit string) (bool, error) {
	return f.branch.Holds(ctx, commit)
}

// lagging reports whether the branch has only not followed, as one that was checked out does: it never was anywhere but on
// its way to where it is.
func lagging(ctx context.Context, f *Step, own, branch string) (bool, error) {
	if behind, err := git.Contains(ctx, f.branch.Repo, own, branch); err != nil || !behind {
		return false, err
	}
	been, err := f.branch.Git(ctx, nil, "log", "-g", "--max-count=1000", "--format=%H", f.branch.BranchRef(), "--")
	if err != nil || been == "" { // without a log it cannot be found out
		return false, err
	}
	further, err := f.branch.Git(ctx, strings.NewReader(been+"\n^"+branch+"\n"), "rev-list", "--ignore-missing", "--max-count=1", "--stdin")
	return further == "" && err == nil, err
}
