package worker

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/review"
)

// checksKept tells of changed files that decide what the checks say, other than by being what they test: a script they run,
// or one of those their programs go by. One that is new decides nothing that was there, unless it takes the place of
// another; one that the task names is the task.
func (c *checkout) checksKept(ctx context.Context, a engine.Attempt, names []reanchor.Change, f *state) error {
	checks := slices.Concat(a.Task.Checks, c.o.Epic.Checks)
	commands := make([]evidence.Command, len(checks))
	for i := range checks {
		commands[i] = evidence.ParseCommand(checks[i].Run)
	}
	f.decisive = nil
	for _, n := range names {
		p := text.FirstOf(n.From, n.Path)
		if namesChange(&a.Task, n) || f.steers(n) {
			continue
		}
		byName := !isTest(p) // else it decides as the script of a check only: what tests say is looked at as such
		at := slices.IndexFunc(commands, func(d evidence.Command) bool {
			if n.Code == "A" {
				return byName && d.Reads(path.Base(p)) && c.displaces(&d, p, names)
			}
			return d.Runs(p) || byName && (d.Reads(path.Base(p)) || d.Reads(path.Base(n.Path)))
		})
		if at < 0 {
			continue
		}
		if versions, err := c.onlyVersions(ctx, a.Base, f.Head, n); err != nil || versions {
			if err != nil {
				return err
			}
			continue
		}
		issue := fmt.Sprintf("decides what %s says, and was changed; the task does not name it under files", checks[at].Name)
		f.Note("checks", p+" "+issue)
		f.decisive = append(f.decisive, review.Finding{Severity: review.Medium, File: n.Path, Issue: issue})
	}
	return nil
}

// decides reports whether a file decides what the checks of a task and of the epic say: a test, a script that one of them
// runs, or a file that its programs go by.
func (g *workspace) decides(t *epic.Task, p string) bool {
	return isTest(p) || slices.ContainsFunc(slices.Concat(t.Checks, g.o.Epic.Checks), func(check epic.Check) bool {
		c := evidence.ParseCommand(check.Run)
		return c.Runs(p) || c.Reads(path.Base(p)) || slices.Contains(c.Words, p)
	})
}

// named reports whether a task names a path itself among its files.
func named(t *epic.Task, p string) bool {
	return slices.ContainsFunc(t.Files, func(file string) bool { return globs.CleanPath(file) == p })
}

// namesChange reports whether a task names a changed file, by its old name or its new one.
func namesChange(t *epic.Task, n reanchor.Change) bool {
	return named(t, n.Path) || n.From != "" && named(t, n.From)
}

// displaces reports whether a new file stands beside an older one that the same programs go by.
func (c *checkout) displaces(d *evidence.Command, p string, names []reanchor.Change) bool {
	beside, err := os.ReadDir(filepath.Join(c.repo.Root(), filepath.FromSlash(path.Dir(p))))
	return err == nil && slices.ContainsFunc(beside, func(e fs.DirEntry) bool {
		other := path.Join(path.Dir(p), e.Name())
		return d.Reads(e.Name()) && !slices.ContainsFunc(names, func(n reanchor.Change) bool { return n.Path == other && n.Code == "A" })
	})
}

// Lines of a diff that name versions of what a project depends on, and nothing else, in the files that have them.
var (
	manifest    = regexp.MustCompile(`^(package\.json|Cargo\.toml|pyproject\.toml)$`)
	versionLine = regexp.MustCompile(`^[+-]\s*("[\w@/.-]+"\s*:\s*"[~^<>=v ]*\d[\w.*+-]*"|[\w-]+\s*=\s*("[~^<>=]*\d[\w.*+-]*"|\{\s*version\s*=\s*"[^"]*".*\})|"[\w.-]+(\[[\w,-]+\])?\s*([~^<>=!]=?\s*\d[\w.*+-]*,?\s*)*")?,?\s*$`)
)

// onlyVersions reports whether nothing but versions was changed in a file, as a task does that needs one thing more.
func (c *checkout) onlyVersions(ctx context.Context, base, head string, n reanchor.Change) (bool, error) {
	if n.Code != "M" || !manifest.MatchString(path.Base(n.Path)) {
		return false, nil
	}
	only := true
	err := c.changedLines(ctx, base, head, []string{n.Path}, func(line string) { only = only && (line[0] == '@' || versionLine.MatchString(line)) })
	return only && err == nil, ctx.Err()
}

// noteLinks tells of new links that lead out of the checkout: what is found there is in no other clone, and checks pass by it.
func (c *checkout) noteLinks(names []reanchor.Change, f *state) {
	for _, n := range names {
		if n.Code == "D" {
			continue
		}
		target, err := os.Readlink(filepath.Join(c.repo.Root(), filepath.FromSlash(n.Path)))
		if err != nil { // it is no link
			continue
		}
		to := filepath.ToSlash(target)
		if filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(n.Path), to))) {
			f.Note("link", n.Path+" is a link to "+attempts.Clean(to, 200)+", outside the repository: no other clone has what is there")
		}
	}
}
