package collect

import (
	"context"
	"slices"
	"strings"

	"relay/orchestrator/secrets"
	"relay/reanchor/git"
)

// Secret is a secret that a commit adds to a file.
type Secret struct{ Commit, File, Rule string }

// String says what was found where.
func (s Secret) String() string { return s.File + " (" + s.Rule + ")" }

// Search looks for secrets in the commits of a repository.
type Search struct {
	Repo  *git.Repo
	Rules *secrets.Redactor
}

// Diff lists what the rules find in lines that the diff of two commits adds. Lines that were only moved are left out. It fails for a diff
// of over 64 MiB.
func (s Search) Diff(ctx context.Context, from, to string) ([]Secret, error) {
	return s.in(ctx, from, to, "diff", from, to)
}

// Commits lists the same for each commit of from..to.
func (s Search) Commits(ctx context.Context, from, to string) ([]Secret, error) {
	return s.in(ctx, from, to, "log", "-p", "--format=commit %H", "--no-merges", from+".."+to)
}

func (s Search) in(ctx context.Context, base, commit string, args ...string) (found []Secret, err error) {
	args = append([]string{"-c", "core.quotePath=false"}, args...)
	args = append(args, "--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/")
	out, err := s.Repo.Run(ctx, git.Call{Args: append(args, "--"), Limit: git.MaxPrinted})
	if err != nil {
		return nil, err
	}
	removed := ""
	for part := range strings.SplitSeq("\n"+string(out), "\ncommit ") {
		files := strings.Split("\n"+part, "\ndiff --git ")
		if head := strings.Fields(files[0]); len(head) > 0 && git.IsHash(head[0]) {
			commit, removed = head[0], ""
		}
		for _, file := range files[1:] {
			removed += lines(file, '-')
		}
		for _, file := range files[1:] {
			_, header, _ := strings.Cut(file, "\n+++ b/")
			name, _, _ := strings.Cut(header, "\n")
			for _, m := range s.Rules.Matches(lines(file, '+')) {
				one := Secret{commit, strings.TrimSuffix(name, "\t"), m.Rule}
				if !strings.Contains(removed, m.Text) && !slices.Contains(found, one) && !s.has(ctx, base, m.Text) {
					found = append(found, one)
				}
			}
		}
	}
	return found, nil
}

// has reports whether a commit has a text already, by the last of its longest lines: all private keys of a kind begin with the same ones.
func (s Search) has(ctx context.Context, commit, text string) bool {
	list := strings.Split(text, "\n")
	slices.Reverse(list)
	line := slices.MaxFunc(list, func(a, b string) int { return len(a) - len(b) })
	_, err := s.Repo.Run(ctx, git.Call{Args: []string{"grep", "-q", "-F", "-e", line, commit, "--"}})
	return err == nil && len(line) >= 16
}

// lines returns the lines of a diff of one file that begin with a sign, without it.
func lines(file string, sign byte) string {
	var b strings.Builder
	_, hunks, _ := strings.Cut(file, "\n@@")
	for line := range strings.Lines(hunks) {
		if line[0] == sign {
			b.WriteString(line[1:])
		}
	}
	return b.String()
}
