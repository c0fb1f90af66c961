package changes

import (
	"context"
	"fmt"
	"path"
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

// Names of scripts that check something, rather than being what is checked; files that a shell script reads in; lines
// that end a test or a program at once; and words of a task that is about changing tests, or what they hold.
var (
	checkName = lazyregexp.New(`(?i)check|verif|test|spec|lint|valid|accept|assert|smoke|e2e|(^|[/._-])ci([/._-]|$)`)
	readsIn   = lazyregexp.New(`(?m)(?:^|[;&|]|\s)(?:\.|source)[ \t]+"?([^\s";&|]+)`)
	endsEarly = lazyregexp.New(`^\+\s*(return|exit(\s+0)?|(os\._exit|sys\.exit|process\.exit|os\.Exit|exit)\s*\(\s*0?\s*\)|raise SystemExit.*)\s*;?\s*$`)
	changesIt = lazyregexp.New(`(?i)\b(chang|renam|refactor|rewrit|replac|remov|delet|drop|migrat|port|convert|restructur|reword)\w*`)
	wantsTest = lazyregexp.New(`(?i)\b(updat|chang|adjust|adapt|rewrit|replac|migrat|renam|remov|fix|correct)\w*[^.\n]{0,60}\b(tests?|specs?|fixtures?|snapshots?|goldens?|expectations?)\b`)
)

// OldTests are the changed files by which the checks of a task judge it, when nobody has asked for their change.
type OldTests struct {
	Changed []string // as the agent has them they may pass what they did not pass before
	All     []string // to be put back for another run of the checks: changed ones, by both names, and new tests
}

// findOldTests lists the tests, check scripts and their helpers that the agent has changed and that the task neither
// declares nor asks to have changed. Tests that were only added to say no less than before.
func (d *Diff) findOldTests(ctx context.Context) error {
	d.Old = OldTests{}
	if changesIt.MatchString(d.Task.Title) || wantsTest.MatchString(d.Task.Title+"\n"+d.Task.Description) {
		return nil
	}
	scripts := d.checkScripts(ctx)
	for _, n := range d.Names {
		was := text.FirstOf(n.From, n.Path)
		switch {
		case Declared(d.Task, n.Path), Declared(d.Task, was), !IsTest(was) && !slices.Contains(scripts, was):
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
// the others early, or skip them.
func (found *Found) RanFewer(task *epic.Task, check string, before, now attempts.CheckRun, f *engine.Result) {
	if now.RanTests == 0 || now.RanTests >= before.RanTests {
		return
	}
	issue := fmt.Sprintf("%s ran %d tests, and %d before the work", check, now.RanTests, before.RanTests)
	f.Note("tests", issue)
	f.Receipt.WeakerTests = append(f.Receipt.WeakerTests, issue)
	found.Weakened = append(found.Weakened, review.Finding{Severity: review.Medium, Issue: issue})
	f.Doubtful = f.Doubtful || !wantsTest.MatchString(task.Title+"\n"+task.Description)
}

// maxScripts bounds how many scripts are looked for.
const maxScripts = 40
