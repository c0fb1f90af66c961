package session

import (
	"context"
	"net/url"
	"strings"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// maxRemote bounds the address of a remote.
const maxRemote = 2000

// remoteOf returns the address of the remote of one branch.
func remoteOf(ctx context.Context, repo *git.Repo, branch string) string {
	out, err := repo.Run(ctx, git.Call{Args: []string{
		"for-each-ref", "--format=%(upstream:remotename) %(refname)", "refs/heads/" + branch, "refs/remotes/*/" + branch,
	}})
	if err != nil {
		return ""
	}
	for row := range strings.Lines(string(out)) {
		name, ref, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		if pushed, ok := strings.CutPrefix(ref, "refs/remotes/"); ok {
			name = strings.TrimSuffix(pushed, "/"+branch)
		}
		if name == "" || name == "." {
			continue
		}
		address, err := repo.Run(ctx, git.Call{Args: []string{"config", "--get", "remote." + name + ".url"}})
		if shown := withoutCredentials(strings.TrimSpace(string(address))); err == nil && shown != "" {
			return shown
		}
	}
	return ""
}

// withoutCredentials returns the address of a remote without what gives access to it; "" for one that cannot be read.
func withoutCredentials(address string) string {
	address = plaintext.Capped(address, maxRemote)
	if !strings.Contains(address, "://") {
		user, rest, found := strings.Cut(address, "@")
		if found && strings.Contains(user, ":") && !strings.ContainsAny(user, `/\`) {
			return rest
		}
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "ssh", "git+ssh", "ssh+git":
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
	default:
		u.User = nil
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}
