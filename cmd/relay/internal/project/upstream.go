package project

import (
	"context"
	"strconv"
	"strings"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// Behind says that a branch lacks commits of the one it follows that have been fetched, and what to type; "" : it lacks none.
func Behind(ctx context.Context, repo *git.Repo) (words, fix string) {
	ask := func(args ...string) string {
		out, err := repo.Run(ctx, git.Call{Args: args})
		if err != nil { // it follows none
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	count, _ := strconv.Atoi(ask("rev-list", "--count", "HEAD..@{upstream}", "--"))
	if count == 0 {
		return "", ""
	}
	upstream := plaintext.Fit(ask("rev-parse", "--abbrev-ref", "@{upstream}"), 200)
	return "this branch lacks " + plaintext.Count(count, "commit") + " of " + upstream + ": the work begins without", "git pull --ff-only, if the tasks need them"
}
