package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"relay/epic/globs"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/review"
)

// testNames match files that hold tests, in the conventions of common languages; testFolders hold nothing else. Rust has
// tests in its sources as well.
var (
	testNames   = regexp.MustCompile(`(?i:(^|[._-])(tests?|spec)[._-][^/]*$|[._-](tests?|specs?)\.[^./]+$|^conftest\.py$)|[a-z0-9](Test|Tests|Spec)\.[a-z]+$`)
	testFolders = regexp.MustCompile(`(?i)(^|/)(tests?|specs?|__tests__|testdata)/`)
	goIgnores   = regexp.MustCompile(`(^|/)([_.][^/]*|testdata/.*)$|(^|/)[_.][^/]*/`)
)

func isTest(p string) bool { return testFolders.MatchString(p) || testNames.MatchString(path.Base(p)) }

// outOfSight reports whether nobody runs a test any more that has another name now.
func outOfSight(from, to string) bool {
	switch {
	case !isTest(to), strings.HasPrefix(path.Base(to), path.Base(from)+"."):
		return true
	case testNames.MatchString(path.Base(from)) && !testNames.MatchString(path.Base(to)): // what is collected goes by its name
		return true
	case strings.HasSuffix(from, "_test.go"):
		return !strings.HasSuffix(to, "_test.go") || goIgnores.MatchString(to) && !goIgnores.MatchString(from)
	}
	return false
}

// testsKept fails a claimed success that deleted tests its task does not name, and tells of tests that prove less than
// they did. Tests that are in the way are the easiest way to pass.
func (c *checkout) testsKept(ctx context.Context, a engine.Attempt, names []reanchor.Change, f *state) error {
	f.weakened, f.Doubtful, f.Receipt.WeakerTests = nil, false, nil
	var deleted []string
	var changed, sources, added []reanchor.Change
	for _, n := range names {
		was := text.FirstOf(n.From, n.Path)
		switch {
		case n.Code != "A" && namesTestOf(&a.Task, n) && c.lost(n):
		case n.Code == "A":
			if isTest(n.Path) {
				added = append(added, n)
			}
		case !isTest(was):
			if path.Ext(was) == ".rs" {
				sources = append(sources, n)
			}
		case !c.lost(n):
			changed = append(changed, n)
		case declaredOf(&a.Task, n):
			f.weak(n.Path, was, "is no test any more, as the task's files allow")
		default:
			deleted = append(deleted, was)
		}
	}
	if len(deleted) > 0 {
		f.Fail(attempts.Agent, attempts.Tampered, "the agent deleted tests that the task does not name under files: "+text.Listed(deleted))
		return nil
	}
	inside, err := c.holding(ctx, a.Base, sources, "-F", "-e", "#[test]", "-e", "::test]")
	if err != nil {
		return err
	}
	ruling, err := c.holding(ctx, f.Head, added, "-E", "-e", rulesTests.String())
	if err != nil {
		return err
	}
	for _, n := range ruling {
		f.weak(n.Path, n.Path, "is new, and can change the result of other tests")
	}
	return c.testsWeakened(ctx, a, append(changed, inside...), f)
}

// lost reports whether a test is none any more.
func (c *checkout) lost(n reanchor.Change) bool {
	switch {
	case n.Code == "D":
		return true
	case n.Code == "T": // it has become something else
		info, err := os.Lstat(filepath.Join(c.repo.Root(), filepath.FromSlash(n.Path)))
		return err != nil || !info.Mode().IsRegular()
	}
	return n.From != "" && outOfSight(n.From, n.Path)
}

// weak tells of a test that proves less, and makes it a finding of its own for the reviewers.
func (f *state) weak(p, was, issue string) {
	f.Note("tests", was+" "+issue)
	f.Receipt.WeakerTests = append(f.Receipt.WeakerTests, was+" "+issue)
	f.weakened = append(f.weakened, review.Finding{Severity: review.Medium, File: p, Issue: issue})
	f.Doubtful = f.Doubtful || !strings.HasPrefix(issue, evidence.OtherAssertion)
}

// declared reports whether a task has a path among its files.
func declared(t *epic.Task, p string) bool {
	return slices.ContainsFunc(t.Files, func(glob string) bool { return globs.Covers(glob, p) })
}

// namesTest reports whether a task is about a test: its files name it, or tests like it, and not just the folder it is in.
func namesTest(t *epic.Task, p string) bool {
	return named(t, p) || slices.ContainsFunc(t.Files, func(glob string) bool {
		return testNames.MatchString(path.Base(glob)) && globs.Covers(glob, p)
	})
}

// declaredOf is declared for a changed file, by its old name or its new one.
func declaredOf(t *epic.Task, n reanchor.Change) bool {
	return declared(t, n.Path) || declared(t, text.FirstOf(n.From, n.Path))
}

// namesTestOf is namesTest for a changed file, by its old name or its new one.
func namesTestOf(t *epic.Task, n reanchor.Change) bool {
	return namesTest(t, n.Path) || namesTest(t, text.FirstOf(n.From, n.Path))
}

// maxTestsRead bounds how many changed test files are compared.
const maxTestsRead = 200

// rulesTests matches what a new test can do to all the others, in POSIX's extended expressions: end the program as if all
// had passed, or, for pytest, leave some out or say what they come to.
var rulesTests = regexp.MustCompile(`(os\._exit|sys\.exit|process\.exit|os\.Exit)[[:space:]]*\([[:space:]]*0?[[:space:]]*\)|^[[:space:]]*def pytest_(runtest|collection|pyfunc|report|sessionfinish|ignore)|^collect_ignore`)

// holding keeps the changed files in which git grep finds something at a commit: at the base by their old names.
func (c *checkout) holding(ctx context.Context, commit string, changes []reanchor.Change, patterns ...string) ([]reanchor.Change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	changes = changes[:min(len(changes), maxTestsRead)]
	args := append(append([]string{"grep", "-l", "-z", "--full-name"}, patterns...), commit, "--")
	for _, n := range changes {
		args = append(args, ":(literal,top)"+text.FirstOf(n.From, n.Path))
	}
	out, err := c.repo.Run(ctx, reanchor.Call{Args: args})
	var none *reanchor.GitError
	if errors.As(err, &none) && none.Code == 1 {
		return nil, nil
	}
	have := strings.Split(string(out), "\x00")
	return slices.DeleteFunc(changes, func(n reanchor.Change) bool {
		return !slices.Contains(have, commit+":"+text.FirstOf(n.From, n.Path))
	}), err
}

// testsWeakened notes test files of which assertions were taken away, or that are skipped now.
func (c *checkout) testsWeakened(ctx context.Context, a engine.Attempt, changed []reanchor.Change, f *state) error {
	for _, n := range changed[:min(len(changed), maxTestsRead)] {
		var count evidence.AssertionDiff
		was := text.FirstOf(n.From, n.Path)
		if err := c.changedLines(ctx, a.Base, f.Head, []string{was, n.Path}, count.Line); err != nil {
			f.Note("tests", was+" was changed too much to be compared: "+err.Error())
		} else if issue := count.Issue(); issue != "" && (!strings.HasPrefix(issue, evidence.OtherAssertion) || !namesTestOf(&a.Task, n)) {
			f.weak(n.Path, was, issue)
		}
	}
	if rest := len(changed) - maxTestsRead; rest > 0 {
		f.Note("tests", fmt.Sprintf("%d more changed tests were not compared", rest))
	}
	return ctx.Err()
}

// changedLines calls hear with every line that was removed from a file or added to it, under both its names, with the sign
// before it, and with the line, of @@, that each part of the diff begins with.
func (c *checkout) changedLines(ctx context.Context, base, head string, paths []string, hear func(line string)) error {
	args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "--unified=0", "--find-renames", base, head, "--"}
	for _, p := range slices.Compact(paths) {
		args = append(args, ":(literal,top)"+p)
	}
	out, err := c.repo.Run(ctx, reanchor.Call{Args: args, Limit: 4 << 20})
	if err != nil {
		return err
	}
	evidence.EachChangedLine(string(out), hear)
	return nil
}
