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
	"relay/epic/globs"
	"relay/internal/lazyregexp"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/review"
)

// testNames match files that hold tests, in the conventions of common languages; testFolders hold nothing else. Rust has
// tests in its sources as well.
var (
	testNames   = lazyregexp.New(`(?i:(^|[._-])(tests?|spec)[._-][^/]*$|[._-](tests?|specs?)\.[^./]+$|^conftest\.py$)|[a-z0-9](Test|Tests|Spec)\.[a-z]+$`)
	testFolders = lazyregexp.New(`(?i)(^|/)(tests?|specs?|__tests__|testdata)/`)
	goIgnores   = lazyregexp.New(`(^|/)([_.][^/]*|testdata/.*)$|(^|/)[_.][^/]*/`)
)

// IsTest reports whether a file holds tests, by its name or folder.
func IsTest(p string) bool { return testFolders.MatchString(p) || testNames.MatchString(path.Base(p)) }

// outOfSight reports whether nobody runs a test any more that has another name now.
func outOfSight(from, to string) bool {
	switch {
	case !IsTest(to), strings.HasPrefix(path.Base(to), path.Base(from)+"."):
		return true
	case testNames.MatchString(path.Base(from)) && !testNames.MatchString(path.Base(to)): // what is collected goes by its name
		return true
	case strings.HasSuffix(from, "_test.go"):
		return !strings.HasSuffix(to, "_test.go") || goIgnores.MatchString(to) && !goIgnores.MatchString(from)
	}
	return false
}

// testsKept finds tests that were deleted and that the task does not name, and tests that prove less than
// they did. Tests that are in the way are the easiest way to pass.
func (d *Diff) testsKept(ctx context.Context) error {
	d.Weakened, d.Weaker, d.Deleted, d.Result.Receipt.WeakerTests = nil, nil, nil, nil
	var changed, sources, added []reanchor.Change
	for _, n := range d.Names {
		was := text.FirstOf(n.From, n.Path)
		switch {
		case n.Code != "A" && d.either(n, namesTest) && d.lost(n):
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
			d.weak(n.Path, was, "is no test any more, as the task's files allow")
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
	return d.testsWeakened(ctx, append(changed, inside...))
}

// lost reports whether a test is none any more.
func (d *Diff) lost(n reanchor.Change) bool {
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
	return slices.ContainsFunc(t.Files, func(glob string) bool { return globs.Covers(glob, p) })
}

// namesTest reports whether a task is about a test: its files name it, or tests like it, and not just the folder it is in.
func namesTest(t *epic.Task, p string) bool {
	return named(t, p) || slices.ContainsFunc(t.Files, func(glob string) bool {
		return testNames.MatchString(path.Base(glob)) && globs.Covers(glob, p)
	})
}

// maxTestsRead bounds how many changed test files are compared.
const maxTestsRead = 200

// rulesTests matches what a new test can do to all the others, in POSIX's extended expressions: end the program as if all
// had passed, or, for pytest, leave some out or say what they come to.
var rulesTests = lazyregexp.New(`(os\._exit|sys\.exit|process\.exit|os\.Exit)[[:space:]]*\([[:space:]]*0?[[:space:]]*\)|^[[:space:]]*def pytest_(runtest|collection|pyfunc|report|sessionfinish|ignore)|^collect_ignore`)

// holding keeps the changed files in which git grep finds something at a commit: at the base by their old names.
func (d *Diff) holding(ctx context.Context, commit string, changes []reanchor.Change, patterns ...string) ([]reanchor.Change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	changes = changes[:min(len(changes), maxTestsRead)]
	args := append(append([]string{"grep", "-l", "-z", "--full-name"}, patterns...), commit, "--")
	for _, n := range changes {
		args = append(args, ":(literal,top)"+text.FirstOf(n.From, n.Path))
	}
	out, err := d.Repo.Run(ctx, reanchor.Call{Args: args})
	if none, ok := errors.AsType[*reanchor.GitError](err); ok && none.Code == 1 {
		return nil, nil
	}
	have := strings.Split(string(out), "\x00")
	return slices.DeleteFunc(changes, func(n reanchor.Change) bool {
		return !slices.Contains(have, commit+":"+text.FirstOf(n.From, n.Path))
	}), err
}

// testsWeakened notes test files of which assertions were taken away, or that are skipped now.
func (d *Diff) testsWeakened(ctx context.Context, changed []reanchor.Change) error {
	for _, n := range changed[:min(len(changed), maxTestsRead)] {
		var count evidence.AssertionDiff
		was := text.FirstOf(n.From, n.Path)
		if err := d.changedLines(ctx, []string{was, n.Path}, count.Line); err != nil {
			d.Result.Note("tests", was+" was changed too much to be compared: "+err.Error())
		} else if issue := count.Issue(); strings.HasPrefix(issue, evidence.OtherAssertion) {
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
	for _, p := range slices.Compact(paths) {
		args = append(args, ":(literal,top)"+p)
	}
	out, err := d.Repo.Run(ctx, reanchor.Call{Args: args, Limit: 4 << 20})
	if err != nil {
		return err
	}
	evidence.EachChangedLine(string(out), visit)
	return nil
}

// Names of scripts that check something, rather than being what is checked; files that a shell script reads in; and lines
// that end a test or a program at once.
var (
	checkName = lazyregexp.New(`(?i)check|verif|test|spec|lint|valid|accept|assert|smoke|e2e|(^|[/._-])ci([/._-]|$)`)
	readsIn   = lazyregexp.New(`(?m)(?:^|[;&|]|\s)(?:\.|source)[ \t]+"?([^\s";&|]+)`)
	endsEarly = lazyregexp.New(`^\+\s*(return|exit(\s+0)?|(os\._exit|sys\.exit|process\.exit|os\.Exit|exit)\s*\(\s*0?\s*\)|raise SystemExit.*)\s*;?\s*$`)
)

// OldTests are the changed files by which the checks of a task judge it, when nobody has asked for their change.
type OldTests struct {
	Changed []string // as the agent has them they may pass what they did not pass before
	All     []string // to be put back for another run of the checks: changed ones, by both names, and new tests
}

// findOldTests lists the tests, check scripts and their helpers that the agent has changed and that the task
// does not declare. Tests that were only added to say no less than before.
func (d *Diff) findOldTests(ctx context.Context) error {
	d.Old = OldTests{}
	scripts := d.checkScripts(ctx)
	for _, n := range d.Names {
		was := text.FirstOf(n.From, n.Path)
		switch {
		case d.either(n, Declared), !IsTest(was) && !slices.Contains(scripts, was):
		case n.Code == "A":
			if IsTest(n.Path) {
				d.Old.All = append(d.Old.All, n.Path)
			}
		default:
			more, err := d.onlyMore(ctx, n)
			if err != nil {
				return err
			}
			if !more {
				d.Old.Changed = append(d.Old.Changed, was)
				d.Old.All = append(d.Old.All, slices.Compact([]string{was, n.Path})...)
			}
		}
	}
	for _, w := range d.Weakened { // new, and with a say in what others come to
		if slices.Contains(d.Old.All, w.File) && !slices.Contains(d.Old.Changed, w.File) {
			d.Old.Changed = append(d.Old.Changed, w.File)
		}
	}
	return nil
}

// onlyMore reports whether a test has only got more lines, none of which ends or skips anything.
func (d *Diff) onlyMore(ctx context.Context, n reanchor.Change) (bool, error) {
	if n.Code != "M" || !IsTest(n.Path) {
		return false, nil
	}
	var count evidence.AssertionDiff
	more := true
	err := d.changedLines(ctx, []string{n.Path}, func(line string) {
		count.Line(line)
		more = more && line[0] != '-' && !endsEarly.MatchString(line)
	})
	return more && err == nil && count.Issue() == "", ctx.Err()
}

// checkScripts lists the scripts that the checks run, by names of such, and what these read in, as the base has them.
func (d *Diff) checkScripts(ctx context.Context) []string {
	var found []string
	add := func(p string) {
		if p = globs.CleanPath(p); p != "" && !slices.Contains(found, p) && len(found) < maxScripts {
			found = append(found, p)
		}
	}
	for _, check := range slices.Concat(d.Task.Checks, d.Plan.Checks) {
		command := evidence.ParseCommand(check.Run)
		for _, s := range command.Scripts {
			if checkName.MatchString(s) && strings.ContainsAny(s, "./") {
				add(s)
				for _, dir := range command.Words {
					if strings.HasSuffix(dir, "/") || !strings.Contains(path.Base(dir), ".") && !strings.HasPrefix(dir, "-") {
						add(path.Join(dir, s))
					}
				}
			}
		}
	}
	for i := 0; i < len(found); i++ {
		for _, p := range d.helpers(ctx, found[i]) {
			add(p)
		}
	}
	return found
}

// helpers returns the files that a check script reads in, as far as they belong to the check.
func (d *Diff) helpers(ctx context.Context, script string) (found []string) {
	text, err := d.Repo.Run(ctx, reanchor.Call{Args: []string{"cat-file", "blob", d.Base + ":" + script}, Limit: 64 << 10})
	if err != nil {
		return nil // there is no such file
	}
	for _, m := range readsIn.FindAllStringSubmatch(string(text), -1) {
		for _, p := range []string{globs.CleanPath(m[1]), path.Join(path.Dir(script), path.Base(m[1]))} {
			if helps(script, p) {
				found = append(found, p)
			}
		}
	}
	return found
}

// helps reports whether a file that a check script reads in is a part of the check: it stands among tests, or beside the script.
// Any other may be what is checked.
func helps(script, p string) bool {
	return IsTest(p) || checkName.MatchString(p) || path.Dir(p) != "." && path.Dir(p) == path.Dir(script)
}

// RanFewer tells of a check that passes and ran fewer tests than before the work, as far as it says how many: one of them may end
// the others early, or skip them. It returns that in words, else nothing.
func (found *Found) RanFewer(check string, before, now attempts.CheckRun, f *engine.Result) []string {
	if now.RanTests == 0 || now.RanTests >= before.RanTests {
		return nil
	}
	issue := fmt.Sprintf("%s ran %d tests, and %d before the work", check, now.RanTests, before.RanTests)
	f.Note("tests", issue)
	f.Receipt.WeakerTests = append(f.Receipt.WeakerTests, issue)
	found.Weakened = append(found.Weakened, review.Finding{Severity: review.Info, Issue: issue})
	return []string{issue}
}

// maxScripts bounds how many scripts are looked for.
const maxScripts = 40
