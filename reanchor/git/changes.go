package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay/epic/plaintext"
)

// Caps on how many paths are held at once, and on what git prints of all.
const (
	factsChanges = 1000
	maxChanges   = 100_000
	pathBytes    = 256 << 20
)

// TooManyError means that more paths changed than are held. The ones returned beside it are the first.
type TooManyError struct{ Kept, Rest int }

// Error counts them.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d changed paths, of which relay holds %d", e.Kept+e.Rest, e.Kept)
}

// keeper holds the first changes and counts the rest.
type keeper struct {
	max, rest int
	changes   []Change
}

func (k *keeper) visit(c Change) error {
	if len(k.changes) >= k.max {
		k.rest++
		return nil
	}
	k.changes = append(k.changes, c)
	return nil
}

// all returns what was kept, with an error when that is not everything: a caller that looks for forbidden paths must
// not take a part for the whole.
func (k *keeper) all() ([]Change, error) {
	if k.rest > 0 {
		return k.changes, &TooManyError{Kept: len(k.changes), Rest: k.rest}
	}
	return k.changes, nil
}

// Facts asks git for the state of the checkout and its last recent commits. It costs one git status and, in ordinary
// repositories, nothing more; at most 1,000 changes are listed, More counts the others.
func (g *Repo) Facts(ctx context.Context, recent int) (Facts, error) {
	kept := keeper{max: factsChanges}
	unmerged, err := status(ctx, g, kept.visit, "--untracked-files=normal")
	if err != nil {
		return Facts{}, err
	}
	f := Facts{Changes: kept.changes, More: kept.rest, Unmerged: unmerged || g.merging() != ""}
	if f.Branch, err = g.Branch(ctx); err == nil {
		f.Head, err = g.Head(ctx)
	}
	if err == nil && f.Head != "" && recent > 0 {
		f.Recent, err = g.log(ctx, f.Head, recent)
	}
	return f, err
}

// Bounds of a log, in bytes: of all of it, and of each subject that is kept.
const (
	logBytes     = 1 << 20
	subjectBytes = 4 << 10
)

// log returns up to n commits, the given one first: as many as git prints within the bound.
func (g *Repo) log(ctx context.Context, hash string, n int) (found []Commit, err error) {
	out, err := g.Run(ctx, Call{Limit: logBytes, Args: []string{
		"log", "-n", strconv.Itoa(n), "--format=%H %ct %s", "--encoding=UTF-8",
		"--no-color", "--no-decorate", "--no-notes", "--no-follow", "--no-patch", "--end-of-options", hash, "--",
	}})
	if err != nil && !errors.Is(err, ErrTooMuch) {
		return nil, err
	}
	if errors.Is(err, ErrTooMuch) { // the last line may be cut, also within its hash
		out = out[:bytes.LastIndexByte(out, '\n')+1]
	}
	for line := range strings.Lines(string(out)) {
		c, err := commitIn(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

// commitIn reads a line of the log.
func commitIn(line string) (c Commit, err error) {
	hash, rest, _ := strings.Cut(line, " ")
	when, subject, _ := strings.Cut(rest, " ")
	seconds, err := strconv.ParseInt(when, 10, 64)
	if err != nil || !IsHash(hash) {
		return c, oddRecord("commit", []byte(line))
	}
	return Commit{Hash: hash, When: time.Unix(seconds, 0).UTC(), Subject: plaintext.Head(subject, subjectBytes)}, nil
}

// Changes lists every uncommitted path: staged, unstaged and untracked, file by file, ignored ones not, and inside
// submodules too. Beyond 100,000 paths the error is a [*TooManyError].
func (g *Repo) Changes(ctx context.Context) ([]Change, error) {
	kept := keeper{max: maxChanges}
	if _, err := status(ctx, g, kept.visit, "--untracked-files=all", "--ignore-submodules=none"); err != nil {
		return nil, err
	}
	return kept.all()
}

func status(ctx context.Context, g *Repo, visit func(Change) error, options ...string) (unmerged bool, err error) {
	args := append([]string{"status", "--porcelain", "-z", "--find-renames"}, options...)
	out, err := g.Run(ctx, Call{Args: args, Limit: pathBytes})
	if err != nil {
		return false, err
	}
	return eachStatus(out, visit)
}

// Names lists the paths that differ between two commits, submodules included, renames found. An empty base stands for
// nothing at all, as before the first commit. Beyond 100,000 paths the error is a [*TooManyError].
func (g *Repo) Names(ctx context.Context, base, head string) ([]Change, error) {
	kept := keeper{max: maxChanges}
	if err := g.EachName(ctx, base, head, kept.visit); err != nil {
		return nil, err
	}
	return kept.all()
}

// EachName calls visit for every path that differs between two commits. An error of visit ends it.
func (g *Repo) EachName(ctx context.Context, base, head string, visit func(Change) error) error {
	args, err := between(g, base, head, "-r", "-z", "--raw", "--find-renames")
	if err != nil {
		return err
	}
	out, err := g.Run(ctx, Call{Args: args, Limit: pathBytes})
	if err != nil {
		return err
	}
	return eachName(out, visit)
}

// Stat returns git's summary of what differs between two commits, at most 50 files and the totals.
func (g *Repo) Stat(ctx context.Context, base, head string) (string, error) {
	stat, _, err := g.StatLines(ctx, base, head, 0)
	return stat, err
}

// StatLines returns the same, and by their paths how many lines of the first files differ, at most so many files.
func (g *Repo) StatLines(ctx context.Context, base, head string, most int) (string, map[string]Lines, error) {
	args, err := between(g, base, head, "-r", "-z", "--numstat", "--stat=100,70,50", "--find-renames")
	if err != nil {
		return "", nil, err
	}
	// Without an index git reads the commits' files, and not those of the checkout in their place: an object that is damaged
	// must not be found by whoever checks the commit out.
	out, err := g.Run(ctx, Call{Args: args, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(g.gitDir, "no-index")}, Limit: pathBytes})
	if err != nil {
		return "", nil, err
	}
	lines, summary, err := linesIn(out, most)
	return summary, lines, err
}

// Patch writes the difference of two commits in a form git apply takes, binary files included. It fails beyond so many bytes.
func (g *Repo) Patch(ctx context.Context, base, head string, w io.Writer, most int) error {
	args, err := between(g, base, head, "-r", "--patch", "--binary", "--full-index", "--find-renames")
	if err != nil {
		return err
	}
	_, err = g.Run(ctx, Call{Args: args, Stdout: w, Limit: most})
	return err
}

// between builds a diff-tree command: unlike git diff it does not read the user's taste from the configuration.
func between(g *Repo, base, head string, options ...string) ([]string, error) {
	base = cmp.Or(base, g.emptyTree)
	for _, rev := range []string{base, head} {
		if rev == "" || strings.HasPrefix(rev, "-") || strings.Contains(rev, "..") ||
			strings.ContainsFunc(rev, func(r rune) bool { return r <= ' ' }) {
			return nil, fmt.Errorf("commit %q: want a hash or the name of a reference", plaintext.Head(rev, 200))
		}
	}
	args := append([]string{"diff-tree", "--no-color", "--ignore-submodules=none"}, options...)
	return append(args, "--end-of-options", base, head, "--"), nil
}

// HalfDone are the files and folders in which git remembers an operation that has not come to its end, by path and operation.
var HalfDone = [][2]string{
	{"rebase-merge", "rebase"},
	{"rebase-apply", "rebase"},
	{"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"},
	{"REVERT_HEAD", "revert"},
	{"sequencer", "cherry-pick"},
	{"BISECT_LOG", "bisect"},
}

// Operation names the operation that is half done in the checkout; "": none.
func (g *Repo) Operation() string {
	for _, h := range HalfDone {
		if Exists(filepath.Join(g.gitDir, h[0])) {
			return h[1]
		}
	}
	return ""
}

// merging names the operation that is half done, unless it is a bisection, which leaves files and branches as they are.
func (g *Repo) merging() string { return strings.TrimSuffix(g.Operation(), "bisect") }
