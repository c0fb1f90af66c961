package slot

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// settings are what of the user's local configuration a slot has: who commits, how files are converted, where remotes
// are. What makes git start programs of the repository, or sends it elsewhere (hooks, url rewrites, addresses to push to,
// includes), is not among them. Who may log in where is said to agents by their environment.
type settings struct {
	list   [][2]string // key and value
	sparse bool

	partial bool // it is a partial clone
}

// settings reads them.
func (p *Pool) settings(ctx context.Context) (s settings, err error) {
	s.list = [][2]string{{"gc.auto", "0"}, {"maintenance.auto", "false"}}
	all, err := p.local(ctx)
	if err != nil {
		return s, err
	}
	storage, fetches := "", false
	for _, one := range all {
		key, value := one[0], one[1]
		switch {
		case key == "lfs.storage":
			storage = value
		case key == "core.sparsecheckout" && value == "true":
			s.sparse = true
			s.list = append(s.list, one)
		case key == "extensions.partialclone":
			s.partial = true
			s.list = append(s.list, one, [2]string{"core.repositoryformatversion", "1"})
		case strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".url"):
			s.list = append(s.list, [2]string{key, p.address(value)})
		case copied(key):
			fetches = fetches || key == "remote.origin.fetch"
			s.list = append(s.list, one)
			s.partial = s.partial || strings.HasSuffix(key, ".promisor") && value == "true"
		}
	}
	s.list = append(s.list, [2]string{"lfs.storage", p.storage(storage)})
	if !fetches { // so that git switch NAME finds origin/NAME
		s.list = append(s.list, [2]string{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"})
	}
	return s, nil
}

// local lists the settings of the repository and of the user's checkout.
func (p *Pool) local(ctx context.Context) ([][2]string, error) {
	all, err := p.localSettings(ctx, "--local")
	for _, one := range all {
		if strings.EqualFold(one[0], "extensions.worktreeconfig") && one[1] != "false" {
			own, err := p.localSettings(ctx, "--worktree")
			return append(all, own...), err
		}
	}
	return all, err
}

// localSettings lists a configuration file of the repository, without what it includes.
func (p *Pool) localSettings(ctx context.Context, which string) (list [][2]string, err error) {
	out, err := p.Repo.Run(ctx, reanchor.Call{Limit: gitcmd.MaxPrinted, Args: []string{"config", which, "--no-includes", "-z", "--list"}})
	var gitErr *reanchor.GitError
	if err != nil && (!errors.As(err, &gitErr) || gitErr.Code != 1) {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, given := strings.Cut(entry, "\n")
		if !given {
			value = "true"
		}
		if key != "" {
			list = append(list, [2]string{key, value})
		}
	}
	return list, nil
}

// sections are copied whole; keys one by one. Filters are among them: without one that the user has set up, what it keeps
// out of commits (git-crypt, for one) would be committed.
var (
	sections = map[string]bool{
		"user": true, "author": true, "committer": true, "i18n": true, "lfs": true, "filter": true, "advice": true,
		"credential": true, "http": true,
	}
	keys = map[string]bool{
		"core.autocrlf": true, "core.eol": true, "core.excludesfile": true, "core.attributesfile": true,
		"core.sparsecheckoutcone": true, "index.sparse": true, "merge.conflictstyle": true, "merge.renormalize": true, "pull.rebase": true,
	}
	remoteKeys = map[string]bool{"fetch": true, "promisor": true, "partialclonefilter": true, "tagopt": true}
)

// copied reports whether a setting is copied into slots. The key is as git prints it: section and name in lower case.
func copied(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	if section == "remote" {
		return remoteKeys[rest[strings.LastIndexByte(rest, '.')+1:]]
	}
	return sections[section] || keys[key]
}

// address returns a remote's address, seen from a slot: a path is relative to the checkout.
func (p *Pool) address(url string) string {
	if strings.HasPrefix(url, "./") || strings.HasPrefix(url, "../") || url == ".." {
		return filepath.Join(p.Repo.Root(), filepath.FromSlash(url))
	}
	return url
}

// storage returns where large files are kept (git-lfs-config): in the user's repository, whoever has fetched them.
func (p *Pool) storage(configured string) string {
	if configured == "" {
		configured = "lfs"
	}
	if filepath.IsAbs(configured) {
		return configured
	}
	return filepath.Join(p.Repo.CommonDir(), filepath.FromSlash(configured))
}

// text returns the settings in the form of a configuration file.
func (s settings) text() string {
	var b strings.Builder
	for _, one := range s.list {
		section, rest, _ := strings.Cut(one[0], ".")
		name := rest
		if at := strings.LastIndexByte(rest, '.'); at >= 0 {
			section += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(rest[:at]) + `"`
			name = rest[at+1:]
		}
		b.WriteString("[" + section + "]\n\t" + name + " = " + quoted(one[1]) + "\n")
	}
	return b.String()
}
