package changes

import (
	"context"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/secrets"
	"relay/reanchor"
)

// Secret is a secret that a commit adds to a file.
type Secret struct{ Commit, File, Rule string }

// String says what was found where.
func (s Secret) String() string { return s.File + " (" + s.Rule + ")" }

// FindSecrets lists what the rules find in lines that commits add: each of from..to, or with whole their diff alone. Lines that were only
// moved are left out. It fails for a diff of over 64 MiB.
func FindSecrets(ctx context.Context, repo *reanchor.Git, r *secrets.Redactor, from, to string, whole bool) (found []Secret, err error) {
	args := []string{"log", "-p", "--format=commit %H", "--no-merges", from + ".." + to}
	if whole {
		args = []string{"diff", from, to}
	}
	args = append(args, "--no-color", "--no-ext-diff", "--no-textconv", "--text", "--unified=0", "--no-renames", "--")
	out, err := repo.Run(ctx, reanchor.Call{Args: args, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return nil, err
	}
	commit, removed := to, ""
	for part := range strings.SplitSeq("\n"+string(out), "\ncommit ") {
		files := strings.Split("\n"+part, "\ndiff --git ")
		if head := strings.Fields(files[0]); len(head) > 0 && gitcmd.IsObject(head[0]) {
			commit, removed = head[0], ""
		}
		for _, file := range files[1:] {
			removed += lines(file, '-')
		}
		for _, file := range files[1:] {
			_, header, _ := strings.Cut(file, "\n+++ b/")
			name, _, _ := strings.Cut(header, "\n")
			for _, m := range r.Matches(lines(file, '+')) {
				if s := (Secret{commit, strings.TrimSuffix(name, "\t"), m.Rule}); !strings.Contains(removed, m.Text) && !slices.Contains(found, s) {
					found = append(found, s)
				}
			}
		}
	}
	return found, nil
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
