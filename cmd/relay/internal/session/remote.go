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

// remoteOf returns the address of the remote that a branch has: the one it is configured to follow, else the first one that it was pushed
// to. Credentials are not in it. For "" it is the branch that is checked out. It returns "" for what there is none of, or git does not say.
func remoteOf(ctx context.Context, repo *git.Repo, branch string) (name, address string) {
	if branch == "" {
		branch, _ = repo.Branch(ctx)
	}
	if branch == "" {
		return "", ""
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{
		"for-each-ref", "--format=%(upstream:remotename) %(refname)", "refs/heads/" + branch, "refs/remotes/*/" + branch,
	}})
	if err != nil {
		return branch, ""
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
			return branch, shown
		}
	}
	return branch, ""
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
