package checks

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"relay/attempts"
	"relay/internal/lazyregexp"
	"relay/internal/plaintext"
	"relay/orchestrator/evidence"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/process"
)

// Unready is CannotRun for a plan that is being written: it also says why a check cannot run as things are, unless a task of the plan says
// that it makes what is missing. The shell does not find a command, cannot run it or cannot read the check, or a script is not there.
func (r *Runner) Unready(ctx context.Context, check Check, run attempts.CheckRun, base string) string {
	if why := r.CannotRun(ctx, check, run, base); why != "" {
		return why
	}
	f := newFinder(ctx, r, check, base)
	what := evidence.FindMissing(run)
	if line := shellMistake.FindString(run.Tail); line != "" && run.ExitCode != 0 {
		return check.Name + " cannot run, the shell cannot read it: " + plaintext.Line(line)
	}
	switch what.Kind {
	case evidence.MissingFile, evidence.NotExecutable:
		name := f.inside(what.Name)
		if slices.ContainsFunc(f.dirs, func(dir string) bool { return f.declared(path.Join(dir, name)) }) {
			return ""
		}
		return check.Name + " cannot run: there is no " + name + ", and no task names it under its files"
	case evidence.MissingProgram:
		if f.declared(what.Name) {
			return ""
		}
	default: // nothing is known to be missing
	}
	if run.ExitCode == 126 || run.ExitCode == 127 {
		return check.Name + " cannot run: " + runners.DescribeExit(process.Exit{Code: run.ExitCode})
	}
	return ""
}

// shellMistake matches the messages of shells about a command that they cannot read.
var shellMistake = lazyregexp.New(`(?m)^(?:\S*/)?(?:ba|da|z|k)?sh: (?:.*[:] )?(?i:syntax error|unexpected EOF|unexpected end of file|unterminated quoted).*$`)

// Files returns the paths of a commit; none if git cannot list them.
func Files(ctx context.Context, home *reanchor.Git, commit string) []string {
	out, _ := home.Run(ctx, reanchor.Call{Args: []string{"ls-tree", "-r", "--name-only", "-z", commit}, Limit: 256 << 20})
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
}

// Doubt says that a check lacks a program or module that no task seems to bring; it is "" otherwise.
func (r *Runner) Doubt(ctx context.Context, check Check, run attempts.CheckRun, base string) string {
	what := evidence.FindMissing(run)
	if what.Name == "" || what.Kind == evidence.MissingFile || what.Kind == evidence.NotExecutable {
		return ""
	}
	known := Files(ctx, r.Home, base)
	for _, t := range r.Options.Epic.Tasks {
		known = append(known, fmt.Sprint(t.Title, " ", t.Description, t.Criteria, t.Files))
	}
	for _, part := range strings.FieldsFunc(what.Name, func(r rune) bool { return strings.ContainsRune("./@", r) }) {
		if regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(part) + `\b`).MatchString(strings.Join(known, "\n")) {
			return ""
		}
	}
	return check.Name + " lacks " + what.Name + ", and no task seems to bring it"
}
