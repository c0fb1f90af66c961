package checks

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/process"
)

// CannotRun returns text that says why a check could not run at all on a commit, and what a person can do about it, when no
// commit of an agent can bring what it lacks: a program that is not installed, files that git ignores, modules of a
// manifest. It is "" when the check ran, or when the task, or another one, may be there to make what is missing: then the
// failure is ordinary.
func (r *Runner) CannotRun(ctx context.Context, check Check, run attempts.CheckRun, base string) string {
	f := newFinder(ctx, r, check, base)
	what := f.missing(check, run)
	why := ""
	switch what.Kind {
	case changes.MissingProgram:
		why = whyProgram(f, what.Name, check.Run)
	case changes.MissingFile, changes.NotExecutable:
		why = whyFile(f, what)
	case changes.MissingModule, changes.MissingTool:
		why, _ = whyModule(f, what, "")
	}
	if why == "" {
		return ""
	}
	return check.Name + " cannot run: " + why
}

// Uninstalled returns text that says which dependency of a commit a check lacks, and what a person can set, and a command that installs it
// in the checkout in root; "": relay does not know one. Both are "" where set-up commands may do that.
func (r *Runner) Uninstalled(ctx context.Context, check Check, run attempts.CheckRun, commit, root string) (why, install string) {
	what := changes.FindMissing(run)
	if what.Kind != changes.MissingModule && what.Kind != changes.MissingProgram || len(r.Options.Worktree.Setup) > 0 {
		return "", ""
	}
	if why, install = whyModule(newFinder(ctx, r, check, commit), what, root); install == "" && strings.Contains(what.Name, ".") {
		return "", "" // a part of a python module that is installed
	}
	return why, install
}

// HoldBack returns why a task waits before its agent begins: a check of it cannot run at all, whatever the agent does, or one of the epic
// cannot and the task has none of its own, so that nothing would prove its work. To a task with checks of its own, one of the epic that
// cannot run is noted once. Every task waits for a check of the epic that passes its limit and has not passed on any base of this run.
func (r *Runner) HoldBack(ctx context.Context, a engine.Attempt, check Check, s Result) (why, note string) {
	_, passed := r.passed.Load(check.Name)
	switch {
	case s.Passed():
		r.passed.Store(check.Name, true)
	case s.Refused != "":
		why = s.Refused
	case s.Red():
		why = r.CannotRun(ctx, check, s.Run, a.Base)
	case s.TimedOut && check.OfEpic && !passed:
		return check.Name + " " + r.TooMuch(check, s) + " before the work: raise its timeout or relay.check_timeout_minutes", ""
	}
	if why == "" || !check.OfEpic {
		return why, ""
	}
	if len(a.Task.Checks) == 0 {
		return strings.Replace(why, " cannot run: ", " (the epic's) cannot run: ", 1), ""
	}
	if _, reported := r.reportedBroken.LoadOrStore(check.Name, true); !reported {
		note = "a check of the epic, " + why + "; until then it proves nothing"
	}
	return "", note
}

// Unready is CannotRun for a plan that is being written: it also says why a check cannot run as things are, unless a task of the plan says
// that it makes what is missing. The shell does not find a command, cannot run it or cannot read the check, or a script is not there.
func (r *Runner) Unready(ctx context.Context, check Check, run attempts.CheckRun, base string) string {
	if why := r.CannotRun(ctx, check, run, base); why != "" {
		return why
	}
	f := newFinder(ctx, r, check, base)
	what := f.missing(check, run)
	if line := shellMistake.FindString(run.Tail); line != "" && run.ExitCode != 0 {
		return check.Name + " cannot run, the shell cannot read it: " + plaintext.Line(line)
	}
	if what.Kind == changes.MissingFile || what.Kind == changes.NotExecutable {
		name := f.inside(what.Name)
		if slices.ContainsFunc(f.dirs, func(dir string) bool { return f.declared(path.Join(dir, name)) }) {
			return ""
		}
		return check.Name + " cannot run: there is no " + name + ", and no task names it under its files"
	}
	planned := what.Kind == changes.MissingProgram && f.declared(what.Name)
	if !planned && (run.ExitCode == 126 || run.ExitCode == 127) {
		return check.Name + " cannot run: " + runners.DescribeExit(process.Exit{Code: run.ExitCode})
	}
	return ""
}

// shellMistake matches the messages of shells about a command that they cannot read.
var shellMistake = pattern.New(`(?m)^(?:\S*/)?(?:ba|da|z|k)?sh: (?:.*[:] )?(?i:syntax error|unexpected EOF|unexpected end of file|unterminated quoted).*$`)

// Files returns the paths of a commit; none if git cannot list them.
func Files(ctx context.Context, home *git.Repo, commit string) []string {
	out, _ := home.Run(ctx, git.Call{Args: []string{"ls-tree", "-r", "--name-only", "-z", commit}, Limit: 256 << 20})
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
}

// Doubt returns why a check may fail whatever its tasks do: it names a path that is probably misspelt, or lacks a program or module that no
// task seems to bring. It is "" if there is no such reason.
func (r *Runner) Doubt(ctx context.Context, check Check, run attempts.CheckRun, base string) string {
	files, plan := Files(ctx, r.Home, base), ""
	for _, t := range r.Options.Epic.Tasks {
		files = append(files, t.Files...)
		plan += fmt.Sprintln(t.Title, t.Description, t.Criteria, t.Files)
	}
	if why := absent(newFinder(ctx, r, check, base), check.Run, plan, files); why != "" {
		return why
	}
	what, known := changes.FindMissing(run), plan+strings.Join(files, "\n")
	parts := strings.FieldsFunc(what.Name, func(r rune) bool { return strings.ContainsRune("./@", r) })
	if what.Name == "" || what.Kind == changes.MissingFile || what.Kind == changes.NotExecutable ||
		slices.ContainsFunc(parts, func(part string) bool { return mentions(known, part) }) {
		return ""
	}
	return check.Name + " lacks " + what.Name + ", and no task seems to bring it"
}

// absent names a path in a command that task checkouts will lack: git ignores it, or it neither exists nor is planned and is probably to
// be one of files. It is "" if there is none.
func absent(f finder, command, plan string, files []string) string {
	for _, word := range wordsOf(strings.ReplaceAll(command, "/...", "")) {
		in := path.Clean(word)
		if f.lacks(in) && !isDependency(in) {
			return in + " is ignored by git, so task checkouts lack it: " + advice(f.topIgnored(in))
		}
		if !strings.ContainsAny(word, "./") || f.users(in) || f.committed(in) || f.declared(in) || mentions(plan, path.Base(in)) {
			continue
		}
		for _, near := range files {
			for ; near != "." && near != "/"; near = path.Dir(near) { // the file and the folders that it is in
				if slip(in, near) {
					return in + " does not exist; did you mean " + near + "?"
				}
			}
		}
	}
	return ""
}

// mentions reports whether a text has a word.
func mentions(text, word string) bool {
	return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// oneLetter matches two paths that differ in a letter inside of a word or in a folder, as BEFORE<GOT>WANTED|AFTER.
var oneLetter = pattern.New(`(?i)([a-z]{3}<[a-z]?>[a-z]?\|[a-z]|[a-z]{2}<[a-z]?>[a-z]?\|[a-z]{2}|[a-z]{4}<[a-z]?>[a-z]?\|.*/)`)

// slip reports whether a path is another one with a slip of the keyboard: two letters in the wrong order, or one letter too many, too few
// or wrong, in a folder or inside a word. parse.go and parser.go are two files as a rule.
func slip(got, want string) bool {
	same := 0
	for same < min(len(got), len(want)) && got[same] == want[same] {
		same++
	}
	a, b := got[same:], want[same:]
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || oneLetter.MatchString(got[:same]+"<"+a+">"+b+"|"+got[same+len(a):])
}
