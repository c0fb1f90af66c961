package changes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/review"
)

// testNames match files that hold tests, in the conventions of common languages; testFolders hold nothing else. Rust has
// tests in its sources as well.
var (
	testNames   = pattern.New(`(?i:(^|[._-])(tests?|spec)[._-][^/]*$|[._-](tests?|specs?)\.[^./]+$|^conftest\.py$)|[a-z0-9](Test|Tests|Spec)\.[a-z]+$`)
	testFolders = pattern.New(`(?i)(^|/)(tests?|specs?|__tests__|testdata|fixtures?|__fixtures__|goldens?|__snapshots__|__mocks__|expected)/|\.(snap|golden)$`)
	goIgnores   = pattern.New(`(^|/)([_.][^/]*|testdata/.*)$|(^|/)[_.][^/]*/`)
)

// IsTest reports whether a file holds tests, by its name or folder.
func IsTest(p string) bool { return testFolders.MatchString(p) || testNames.MatchString(path.Base(p)) }

// outOfSight reports whether test programs no longer run a test that has another name now.
func outOfSight(from, to string) bool {
	switch {
	case !IsTest(to), strings.HasPrefix(path.Base(to), path.Base(from)+"."):
		return true
	case testNames.MatchString(path.Base(from)) && !testNames.MatchString(path.Base(to)): // test programs collect by name
		return true
	case strings.HasSuffix(from, "_test.go"):
		return !strings.HasSuffix(to, "_test.go") || goIgnores.MatchString(to) && !goIgnores.MatchString(from)
	}
	return false
}

// testsKept finds tests that were deleted and that the task does not name, and tests that prove less than
// they did. Tests that are in the way are the easiest way to pass.
func (d *Diff) testsKept(ctx context.Context) error {
	d.Weakened, d.Weaker, d.Deleted, d.Fewer, d.Result.Receipt.WeakerTests = nil, nil, nil, false, nil
	var changed, sources, added []git.Change
	for _, n := range d.Names {
		was := plaintext.FirstOf(n.From, n.Path)
		switch {
		case n.Code != "A" && d.either(n, namesTest) && d.lost(n):
			d.Fewer = true
		case n.Code == "A":
			if IsTest(n.Path) {
				added = append(added, n)
			}
		case !IsTest(was):
			if path.Ext(was) == ".rs" {
				sources = append(sources, n)
			}
		case !d.lost(n):
			changed = append(changed, n)
		case d.either(n, Declared):
			d.weak(n.Path, was, "is not a test any more, as the task's files allow")
		default:
			d.Deleted = append(d.Deleted, was)
			d.note(was, was, "was deleted")
		}
	}
	inside, err := d.holding(ctx, d.Base, sources, "-F", "-e", "#[test]", "-e", "::test]")
	if err != nil {
		return err
	}
	ruling, err := d.holding(ctx, d.Head, added, "-E", "-e", rulesTests.String())
	if err != nil {
		return err
	}
	for _, n := range ruling {
		d.weak(n.Path, n.Path, "is new, and can change the result of other tests")
	}
	return errors.Join(d.evading(ctx), d.testsWeakened(ctx, append(changed, inside...)))
}

// Lines of code outside tests, in POSIX's extended expressions, that ask whether tests run, or end them as if all had passed. A
// program may end.
var (
	evades = pattern.New(`testing\.Testing\(\)|flag\.Lookup\("test\.|os\.Args\[0\].*\.test"|PYTEST_CURRENT_TEST|["'](pytest|unittest)["'] (not )?in sys\.modules|sys\.modules\.get\(["'](pytest|unittest)|NODE_TEST_CONTEXT|JEST_WORKER_ID|process\.env\.VITEST|typeof (describe|it|test|jest|mocha) |os\._exit|^(sys\.exit|process\.exit)\(0?\)|^raise SystemExit|process\.(exit|reallyExit)[[:space:]]*=|(os|syscall)\.Exit\(0\)|(assert|expect|unittest|pytest)['"]?\)?\.[A-Za-z_.]+[[:space:]]*=[^=]|^//go:build .*(test|fake|mock)`)
	ends   = pattern.New(`^\+((.*(os|syscall)\.Exit|(sys|process)\.exit)\(0?\)|raise SystemExit)`)
)

// code names files of programming languages.
var code = pattern.New(`\.(go|py|[mc]?js|[jt]sx?|rs|java|kt|rb|c|cc|cpp|cs|php|swift)$`)

// IsCode reports whether a change leaves a file of code that is not a test.
func IsCode(n git.Change) bool {
	return n.Code != "D" && !IsTest(n.Path) && code.MatchString(n.Path)
}

// evading finds code outside tests that can keep them from failing.
func (d *Diff) evading(ctx context.Context) error {
	code := slices.DeleteFunc(slices.Clone(d.Names), func(n git.Change) bool { return !IsCode(n) })
	found, err := d.holding(ctx, d.Head, code, "-E", "-e", evades.String())
	if err != nil {
		return err
	}
	programs, err := d.holding(ctx, d.Head, slices.Clone(found), "-E", "-e", "^package main", "-e", "^#!")
	for _, n := range found {
		evading := ""
		failed := d.changedLines(ctx, []string{n.Path}, func(line string) {
			if line[0] == '+' && evades.MatchString(line[1:]) && !(slices.Contains(programs, n) && ends.MatchString(line)) {
				evading = strings.TrimSpace(line[1:])
			}
		})
		if err = errors.Join(err, failed); evading != "" {
			d.weak(n.Path, n.Path, "asks whether tests run, or can end them: "+plaintext.Capped(evading, 100))
		}
	}
	return err
}

// lost reports whether a test is none any more.
func (d *Diff) lost(n git.Change) bool {
	switch {
	case n.Code == "D":
		return true
	case n.Code == "T": // it has become something else
		info, err := os.Lstat(filepath.Join(d.Repo.Root(), filepath.FromSlash(n.Path)))
		return err != nil || !info.Mode().IsRegular()
	}
	return n.From != "" && outOfSight(n.From, n.Path)
}

// weak tells of a test that proves less than before.
func (d *Diff) weak(p, was, issue string) {
	d.note(p, was, issue)
	d.Weaker = append(d.Weaker, was+" "+issue)
}

// note tells of a change of a test, and has reviewers look at it: it does not count unless one of them refuses it.
func (d *Diff) note(p, was, issue string) {
	d.Result.Note("tests", was+" "+issue)
	d.Result.Receipt.WeakerTests = append(d.Result.Receipt.WeakerTests, was+" "+issue)
	d.Weakened = append(d.Weakened, review.Finding{Severity: review.Info, File: p, Issue: issue})
}

// Declared reports whether a task has a path among its files.
func Declared(t *epic.Task, p string) bool {
	return slices.ContainsFunc(t.Files, func(glob string) bool { return pattern.Covers(glob, p) })
}

// namesTest reports whether a task is about a test: its files name it, or tests like it, and not just the folder it is in.
func namesTest(t *epic.Task, p string) bool {
	return slices.ContainsFunc(t.Files, func(glob string) bool {
		return pattern.CleanPath(glob) == p || testNames.MatchString(path.Base(glob)) && pattern.Covers(glob, p)
	})
}

// maxTestsRead bounds how many changed test files are compared.
const maxTestsRead = 200

// rulesTests matches what a new test can do to all the others, in POSIX's extended expressions: end the program as if all
// had passed, or, for pytest, leave some out or say what they come to.
var rulesTests = pattern.New(`(os\._exit|sys\.exit|process\.exit|os\.Exit)[[:space:]]*\([[:space:]]*0?[[:space:]]*\)|^[[:space:]]*def pytest_(runtest|collection|pyfunc|report|sessionfinish|ignore)|^collect_ignore`)

// holding keeps the changed files in which git grep finds something at a commit: at the base by their old names.
func (d *Diff) holding(ctx context.Context, commit string, changes []git.Change, patterns ...string) ([]git.Change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	changes = changes[:min(len(changes), maxTestsRead)]
	args := append(append([]string{"grep", "-l", "-z", "--full-name"}, patterns...), commit, "--")
	name := func(n git.Change) string {
		if commit == d.Head {
			return n.Path
		}
		return plaintext.FirstOf(n.From, n.Path)
	}
	args = append(args, each.Of(changes, func(n git.Change) string { return ":(literal,top)" + name(n) })...)
	out, err := d.Repo.Run(ctx, git.Call{Args: args})
	if none, ok := errors.AsType[*git.Error](err); ok && none.Code == 1 {
		return nil, nil
	}
	have := strings.Split(string(out), "\x00")
	return slices.DeleteFunc(changes, func(n git.Change) bool {
		return !slices.Contains(have, commit+":"+name(n))
	}), err
}

// testsWeakened notes test files of which assertions were taken away, or that are skipped now.
func (d *Diff) testsWeakened(ctx context.Context, changed []git.Change) error {
	for _, n := range changed[:min(len(changed), maxTestsRead)] {
		var count AssertionDiff
		was := plaintext.FirstOf(n.From, n.Path)
		if err := d.changedLines(ctx, []string{was, n.Path}, count.Line); err != nil {
			d.Result.Note("tests", was+" was changed too much to be compared: "+err.Error())
		} else if issue := count.Issue(); strings.HasPrefix(issue, OtherAssertion) {
			if !d.either(n, namesTest) {
				d.note(n.Path, was, issue)
			}
		} else if issue != "" {
			d.weak(n.Path, was, issue)
		}
	}
	if rest := len(changed) - maxTestsRead; rest > 0 {
		d.Result.Note("tests", fmt.Sprintf("%d more changed tests were not compared", rest))
	}
	return ctx.Err()
}

// changedLines calls visit with every line that was removed from a file or added to it, under both its names, with the sign
// before it, and with the line, of @@, that each part of the diff begins with.
func (d *Diff) changedLines(ctx context.Context, paths []string, visit func(line string)) error {
	args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "--unified=0", "--find-renames", d.Base, d.Head, "--"}
	args = append(args, each.Of(slices.Compact(paths), func(p string) string { return ":(literal,top)" + p })...)
	out, err := d.Repo.Run(ctx, git.Call{Args: args, Limit: 4 << 20})
	if err != nil {
		return err
	}
	EachChangedLine(string(out), visit)
	return nil
}

// RanFewer tells of a check that passes and ran fewer tests than before the work, as far as it says how many: one of them may end
// the others early, or skip them. It returns that in words, else nothing.
func (found *Found) RanFewer(check string, before, now attempts.CheckRun, f *engine.Result) []string {
	if found.Fewer {
		return nil
	}
	silent := now.RanTests == 0 && before.RanTests > before.FailedTests // it counts those that pass, too
	if !silent && now.RanTests == 0 || now.RanTests >= before.RanTests {
		return nil
	}
	issue := fmt.Sprintf("%s ran %d tests, and %d before the work", check, now.RanTests, before.RanTests)
	f.Note("tests", issue)
	f.Receipt.WeakerTests = append(f.Receipt.WeakerTests, issue)
	found.Weakened = append(found.Weakened, review.Finding{Severity: review.Info, Issue: issue})
	return []string{issue}
}
