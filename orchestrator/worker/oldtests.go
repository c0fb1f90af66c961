package worker

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/review"
	"relay/runners"
	"relay/runners/process"
)

// Names of scripts that check something, rather than being what is checked; files that a shell script reads in; lines
// that end a test or a program at once; and words of a task that is about changing tests, or what they hold.
var (
	checkName = regexp.MustCompile(`(?i)check|verif|test|spec|lint|valid|accept|assert|smoke|e2e|(^|[/._-])ci([/._-]|$)`)
	readsIn   = regexp.MustCompile(`(?m)(?:^|[;&|]|\s)(?:\.|source)[ \t]+"?([^\s";&|]+)`)
	endsEarly = regexp.MustCompile(`^\+\s*(return|exit(\s+0)?|(os\._exit|sys\.exit|process\.exit|os\.Exit|exit)\s*\(\s*0?\s*\)|raise SystemExit.*)\s*;?\s*$`)
	changesIt = regexp.MustCompile(`(?i)\b(chang|renam|refactor|rewrit|replac|remov|delet|drop|migrat|port|convert|restructur|reword)\w*`)
	wantsTest = regexp.MustCompile(`(?i)\b(updat|chang|adjust|adapt|rewrit|replac|migrat|renam|remov|fix|correct)\w*[^.\n]{0,60}\b(tests?|specs?|fixtures?|snapshots?|goldens?|expectations?)\b`)
)

// oldTests are the changed files by which the checks of a task judge it, when nobody has asked for their change.
type oldTests struct {
	changed []string // as the agent has them they may pass what they did not pass before
	all     []string // to be put back for another run of the checks: changed ones, by both names, and new tests
}

// findOldTests lists the tests, check scripts and their helpers that the agent has changed and that the task neither
// declares nor asks to have changed. Tests that were only added to say no less than before.
func (c *checkout) findOldTests(ctx context.Context, a engine.Attempt, names []reanchor.Change, f *state) error {
	f.old = oldTests{}
	if changesIt.MatchString(a.Task.Title) || wantsTest.MatchString(a.Task.Title+"\n"+a.Task.Description) {
		return nil
	}
	scripts := c.checkScripts(ctx, a)
	for _, n := range names {
		was := text.FirstOf(n.From, n.Path)
		switch {
		case declared(&a.Task, n.Path), declared(&a.Task, was), !isTest(was) && !slices.Contains(scripts, was):
		case n.Code == "A":
			if isTest(n.Path) {
				f.old.all = append(f.old.all, n.Path)
			}
		default:
			more, err := c.onlyMore(ctx, a, n, f)
			if err != nil {
				return err
			}
			if !more {
				f.old.changed = append(f.old.changed, was)
				f.old.all = append(f.old.all, slices.Compact([]string{was, n.Path})...)
			}
		}
	}
	for _, w := range f.weakened { // new, and with a say in what others come to
		if slices.Contains(f.old.all, w.File) && !slices.Contains(f.old.changed, w.File) {
			f.old.changed = append(f.old.changed, w.File)
		}
	}
	return nil
}

// onlyMore reports whether a test has only got more lines, none of which ends or skips anything.
func (c *checkout) onlyMore(ctx context.Context, a engine.Attempt, n reanchor.Change, f *state) (bool, error) {
	if n.Code != "M" || !isTest(n.Path) {
		return false, nil
	}
	var count evidence.AssertionDiff
	more := true
	err := c.changedLines(ctx, a.Base, f.Head, []string{n.Path}, func(line string) {
		count.Line(line)
		more = more && line[0] != '-' && !endsEarly.MatchString(line)
	})
	return more && err == nil && count.Issue() == "", ctx.Err()
}

// checkScripts lists the scripts that the checks run, by names of such, and what these read in, as the base has them.
func (c *checkout) checkScripts(ctx context.Context, a engine.Attempt) []string {
	var found []string
	add := func(p string) {
		if p = globs.CleanPath(p); p != "" && !slices.Contains(found, p) && len(found) < maxScripts {
			found = append(found, p)
		}
	}
	for _, check := range slices.Concat(a.Task.Checks, c.o.Epic.Checks) {
		d := evidence.ParseCommand(check.Run)
		for _, s := range d.Scripts {
			if checkName.MatchString(s) && strings.ContainsAny(s, "./") {
				add(s)
				for _, dir := range d.Words {
					if strings.HasSuffix(dir, "/") || !strings.Contains(path.Base(dir), ".") && !strings.HasPrefix(dir, "-") {
						add(path.Join(dir, s))
					}
				}
			}
		}
	}
	for i := 0; i < len(found); i++ {
		for _, p := range c.helpers(ctx, a.Base, found[i]) {
			add(p)
		}
	}
	return found
}

// helpers are the files that a check script reads in, as far as they belong to the check.
func (c *checkout) helpers(ctx context.Context, commit, script string) (found []string) {
	text, err := c.repo.Run(ctx, reanchor.Call{Args: []string{"cat-file", "blob", commit + ":" + script}, Limit: 64 << 10})
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
	return isTest(p) || checkName.MatchString(p) || path.Dir(p) != "." && path.Dir(p) == path.Dir(script)
}

// ranFewer tells of a check that passes and ran fewer tests than before the work, as far as it says how many: one of them may end
// the others early, or skip them.
func (f *state) ranFewer(task epic.Task, check checks.Check, base, after checks.Result) {
	now, before := after.Run.RanTests, base.Run.RanTests
	if now == 0 || now >= before {
		return
	}
	issue := fmt.Sprintf("ran %d tests, and %d before the work", now, before)
	f.Note("tests", check.Name+" "+issue)
	f.Receipt.WeakerTests = append(f.Receipt.WeakerTests, check.Name+" "+issue)
	f.weakened = append(f.weakened, review.Finding{Severity: review.Medium, Issue: check.Name + " " + issue})
	f.Doubtful = f.Doubtful || !wantsTest.MatchString(task.Title+"\n"+task.Description)
}

// maxScripts bounds how many scripts are looked for.
const maxScripts = 40

// provesWithOld runs the checks that pass once more, with the tests, check scripts and helpers that nobody asked to change as
// they were. A work that fails then, twice, passes only by its own version of them: that fails the attempt.
func (w *slotAttempt) provesWithOld(ctx context.Context, f *state) error {
	if f.Outcome != attempts.Success || len(f.old.changed) == 0 {
		return nil
	}
	list := checks.On(checks.OnOld, checks.List(w.a.Task.Checks, w.o.Epic.Checks))
	q := checks.Question{Attempt: w.a, Logs: w.p.checks, Commit: f.Head, Checks: list, Anew: true, Lay: f.old.all, LayFrom: w.a.Base}
	var red *checks.Result
	var at checks.Check
	for range 2 {
		red = nil
		err := w.ask(ctx, q, f, func(check checks.Check, s checks.Result) (bool, error) {
			if !s.Red() || check.OfEpic && w.before[check.Key()].Red() {
				return true, nil
			}
			red, at = &s, check
			return false, nil
		})
		if err != nil || red == nil || f.Outcome != attempts.Success {
			return err
		}
	}
	f.failWithOld(at, red.Run)
	return nil
}

// provesWithOld is the same in the user's own checkout.
func (c *checkout) provesWithOld(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) (err error) {
	if f.Outcome != attempts.Success || len(f.old.changed) == 0 || c.tree == nil {
		return nil
	}
	tree := &worktree.Tree{Repo: c.repo}
	if err := tree.Lay(ctx, a.Base, f.old.all); err != nil {
		return err
	}
	defer func() {
		settled, cancel := settling(ctx)
		defer cancel()
		if back := tree.Lay(settled, f.Head, f.old.all); err == nil {
			err = back
		}
	}()
	for _, check := range checks.On(checks.OnOld, checks.List(a.Task.Checks, c.o.Epic.Checks)) {
		var s checks.Result
		failed := true
		for try := 0; failed && try < 2; try++ {
			if s, err = c.checks.Run(ctx, c.site(a, p), check); err != nil || ctx.Err() != nil {
				return err
			}
			failed = s.Red()
		}
		if failed {
			f.failWithOld(check, s.Run)
			return nil
		}
	}
	return nil
}

func (f *state) failWithOld(check checks.Check, run attempts.CheckRun) {
	run.Name = check.Name + ", with the tests as they were"
	f.Receipt.Checks = append(f.Receipt.Checks, run)
	f.Fail(attempts.Check, attempts.TestFailure, check.Name+" passes only with what the agent changed of "+text.Listed(f.old.changed)+
		", which the task does not name under files; with that as it was: "+runners.DescribeExit(process.Exit{Code: run.ExitCode}))
}
