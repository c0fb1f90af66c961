package cli

import (
	"os"
	"slices"
	"strings"

	"relay/cmd/relay/internal/project"
	"relay/orchestrator/secrets"
	"relay/runners/process"
)

// conceal closes this process to agents and checks, before the first of them runs: what it holds in its memory, and the user's
// keys. Of these git, which relay starts without an environment of its own, gets only what its helpers for credentials may
// want; agents get theirs by ownEnvironment.
func conceal(a *App) {
	process.Conceal()
	free := secrets.Without(a.Environ)
	for _, entry := range a.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(free, entry) && !slices.ContainsFunc(forGit, func(p string) bool { return project.Matches(p, name) }) {
			_ = os.Unsetenv(name) // the list that was made at the start keeps it
		}
	}
}

// forGit are variables with secrets that git and its helpers for credentials read, as to get objects of a partial clone.
var forGit = []string{
	"GIT_*", "GCM_*", "GH_*", "GITHUB_*", "GITLAB_*", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
}
