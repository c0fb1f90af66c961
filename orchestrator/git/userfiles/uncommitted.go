package userfiles

import (
	"context"
	"strings"

	"relay/orchestrator/text"
	"relay/reanchor"
)

// mostNamed is how many files a command to type names; with more of them it is about all.
const mostNamed = 20

// CommitHint returns what to type about uncommitted changes of files, and then. git stash cannot take back line endings that
// .gitattributes says otherwise than the commit: git converts them again.
func CommitHint(ctx context.Context, repo *reanchor.Git, paths []string, then string) string {
	out, err := repo.Run(ctx, reanchor.Call{
		Env:  []string{"GIT_LITERAL_PATHSPECS=1"},
		Args: append([]string{"ls-files", "--eol", "-z", "--"}, paths[:min(len(paths), mostNamed+1)]...),
	})
	var converted []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		eol, path, _ := strings.Cut(entry, "\t")
		words := strings.Fields(eol) // i/INDEX w/FILE attr/ATTRIBUTES
		if len(words) > 2 && (words[0] == "i/crlf" || words[0] == "i/mixed") && words[2] == "attr/text" {
			converted = append(converted, text.ShellWord(path))
		}
	}
	if err != nil || len(converted) == 0 {
		return "git commit or git stash them" + then
	}
	files := strings.Join(converted, " ")
	if len(converted) > mostNamed {
		files = "."
	}
	return "git config merge.renormalize true && git add --renormalize " + files + " && git commit -m 'Normalize line endings'" + then +
		"\ngit stash leaves these changes: .gitattributes and the commit say different line endings"
}
