package orchestrator

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor"
	"relay/review"
)

// testNames match files that hold tests, in the conventions of common languages; testFolders hold nothing else.
var (
	testNames   = regexp.MustCompile(`(?i:(^|[._-])(tests?|spec)[._-][^/]*$|[._-](tests?|specs?)\.[^./]+$|^conftest\.py$)|[a-z0-9](Test|Tests|Spec)\.[a-z]+$`)
	testFolders = regexp.MustCompile(`(?i)(^|/)(tests?|specs?|__tests__|testdata)/`)
)

func isTest(p string) bool { return testFolders.MatchString(p) || testNames.MatchString(path.Base(p)) }

// assertion and skip match lines of a test that prove something, and lines that keep it from proving anything.
var (
	assertion = regexp.MustCompile(`(?i)\bassert|\bexpect\s*\(|\brequire\.|\bshould\b|\.to(Be|Equal|Have|Throw|Match)|\bt\.(Error|Fatal|Fail)|\braises\s*\(|\bcheck\s*\(`)
	skip      = regexp.MustCompile(`(?i)\bskip(If|Now|Test|f)?\s*[(:]|@(unittest\.)?skip|@pytest\.mark\.(skip|xfail)|@Ignore\b|@Disabled\b|\b(it|test|describe)\.(skip|only)\b|\bx(it|describe)\s*\(|#\[ignore`)
)

// testsKept fails a claimed success that deleted tests its task does not name, and tells of tests that prove less than
// they did. Tests that are in the way are the easiest way to pass.
func (c *checkout) testsKept(ctx context.Context, a Assignment, names []reanchor.Change, f *Finding) error {
	var deleted, changed []string
	for _, n := range names {
		if declared(&a.Task, n.Path) || n.From != "" && declared(&a.Task, n.From) {
			continue
		}
		switch {
		case n.Code == "D" && isTest(n.Path):
			deleted = append(deleted, n.Path)
		case strings.HasPrefix(n.Code, "R") && isTest(n.From) && !isTest(n.Path):
			deleted = append(deleted, n.From)
		case n.Code == "M" && isTest(n.Path):
			changed = append(changed, n.Path)
		}
	}
	if len(deleted) > 0 {
		f.fail(attempts.Agent, attempts.Tampered, "the agent deleted tests that the task does not name under files: "+listed(deleted))
		return nil
	}
	return c.testsWeakened(ctx, a.Base, changed, f)
}

// declared reports whether a task names a path among its files.
func declared(t *epic.Task, p string) bool {
	return slices.ContainsFunc(t.Files, func(glob string) bool { return covers(glob, p) })
}

// testsWeakened notes test files of which assertions were taken away, or that are skipped now.
func (c *checkout) testsWeakened(ctx context.Context, base string, paths []string, f *Finding) error {
	for _, p := range paths[:min(len(paths), maxTestsRead)] {
		out, err := c.repo.Run(ctx, reanchor.Call{Args: []string{"diff", "--no-color", "--no-ext-diff", "--unified=0", base, f.Head, "--", ":(literal)" + p}, Limit: 4 << 20})
		if err != nil {
			f.note("tests", p+" was changed too much to be compared: "+err.Error())
			continue
		}
		if less := weaker(string(out)); less != "" {
			f.note("tests", p+" proves less than before: "+less)
			f.weakened = append(f.weakened, review.Finding{Severity: review.Medium, File: p, Issue: "proves less than before: " + less})
		}
	}
	return ctx.Err()
}

// maxTestsRead bounds how many changed test files are compared.
const maxTestsRead = 200

// weaker says what a diff took away from a test, or "".
func weaker(diff string) string {
	var asserts, skips int
	var loose slack
	inHunk := false
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk:
		case strings.HasPrefix(line, "+"):
			asserts += hits(assertion, line)
			skips += hits(skip, line)
			loose.added(line)
		case strings.HasPrefix(line, "-"):
			asserts -= hits(assertion, line)
			skips -= hits(skip, line)
			loose.removed(line)
		}
	}
	var said []string
	if asserts < 0 {
		said = append(said, fmt.Sprintf("%d fewer assertions", -asserts))
	}
	if skips > 0 {
		said = append(said, fmt.Sprintf("%d more skipped", skips))
	}
	if loose.wider > 0 {
		said = append(said, fmt.Sprintf("tolerance widened %d times", loose.wider))
	}
	return strings.Join(said, ", ")
}

func hits(r *regexp.Regexp, line string) int {
	if r.MatchString(line) {
		return 1
	}
	return 0
}
