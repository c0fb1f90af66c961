package gitconfig

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/text"
)

// shallowFile returns the file in which git keeps which commits have no history here; "" when there is none.
func (r *Guard) shallowFile() string {
	return gitcmd.Contents(r.Repo.CommonDir(), []string{"shallow"})[0]
}

// mendShallow restores the history of commits that an agent has cut off, by hand or with git fetch --depth. What it has
// fetched without its history stays as it is: that is not there.
func (r *Guard) mendShallow(ctx context.Context) error {
	now := r.shallowFile()
	if now == r.shallow {
		return nil
	}
	var keep, given []string
	for commit := range strings.FieldsSeq(now) {
		if !slices.Contains(strings.Fields(r.shallow), commit) && r.hasParents(ctx, commit) {
			given = append(given, commit)
			continue
		}
		keep = append(keep, commit)
	}
	if path := filepath.Join(r.Repo.CommonDir(), "shallow"); len(given) > 0 {
		err := gitcmd.RemoveTree(path)
		if len(keep) > 0 {
			err = gitcmd.ReplaceFile(path, []byte(strings.Join(keep, "\n")+"\n"))
		}
		if err != nil {
			return err
		}
		r.unreported = append(r.unreported, Tampering{Text: "the history of " + text.Count(len(given), "commit") + " was cut off in .git/shallow during the attempt; relay put it back"})
	}
	r.shallow = r.shallowFile()
	return nil
}

// hasParents reports whether all parents of a commit are there.
func (r *Guard) hasParents(ctx context.Context, commit string) bool {
	text, err := r.Repo.Run(ctx, gitcmd.Writing("cat-file", "commit", commit))
	if err != nil {
		return true // what is no commit has no place in that file
	}
	header, _, _ := strings.Cut(string(text), "\n\n")
	for line := range strings.Lines(header) {
		if parent, ok := strings.CutPrefix(line, "parent "); ok && !gitcmd.Has(ctx, r.Repo, strings.TrimSpace(parent)) {
			return false
		}
	}
	return true
}
