package slot

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/reanchor/git"
)

// settings are those in force in the user's checkout that a slot would not have by itself: who commits, how files are converted, where
// remotes are. Settings that make git start programs of the repository or send it elsewhere (hooks, url rewrites, push addresses) are not
// among them. Who may log in where is said to agents by their environment.
type settings struct {
	list    [][2]string // key and value
	sparse  bool
	partial bool     // it is a partial clone
	keys    []string // folders of the user's .git in which filters keep something
}

// settingsOf reads them from the user's repository. bare is a repository in the place of slots that has no settings of its own.
func settingsOf(ctx context.Context, repo, bare *git.Repo) (s settings, err error) {
	s.list = [][2]string{{"gc.auto", "0"}, {"maintenance.auto", "false"}}
	all, err := inForce(ctx, repo)
	has, failed := inForce(ctx, bare)
	if err = errors.Join(err, failed); err != nil {
		return s, err
	}
	storage, fetches, wanted := "", false, [][2]string{}
	for _, one := range all {
		key, value := one[0], one[1]
		if copied(key) {
			wanted = append(wanted, one)
		}
		fetches = fetches || key == "remote.origin.fetch"
		s.partial = s.partial || strings.HasSuffix(key, ".promisor") && value == "true"
		s.keepFor(repo, key, value)
		switch {
		case key == "lfs.storage":
			storage = value
		case key == "core.sparsecheckout":
			s.sparse = value == "true"
		case key == "extensions.partialclone":
			s.partial = true
			s.list = append(s.list, [2]string{"core.repositoryformatversion", "1"})
		}
	}
	for _, one := range beyond(wanted, has) {
		if strings.HasPrefix(one[0], "remote.") && strings.HasSuffix(one[0], ".url") {
			one[1] = Address(repo, one[1])
		}
		s.list = append(s.list, one)
	}
	s.list = append(s.list, [2]string{"lfs.storage", lfsStorage(repo, storage)})
	if !fetches { // so that git switch NAME finds origin/NAME
		s.list = append(s.list, [2]string{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"})
	}
	return s, nil
}

// keepFor notes the folder of the user's .git that is named after the program of a filter: git-crypt, for one, has its key there.
func (s *settings) keepFor(repo *git.Repo, key, value string) {
	words := strings.Fields(value)
	if !strings.HasPrefix(key, "filter.") || len(words) == 0 {
		return
	}
	name := filepath.Base(strings.Trim(words[0], `"'`))
	if isDir(filepath.Join(repo.CommonDir(), name)) && !slices.Contains(s.keys, name) {
		s.keys = append(s.keys, name)
	}
}

// inForce lists the settings of all files that git reads in a repository, with what these include.
func inForce(ctx context.Context, repo *git.Repo) (list [][2]string, err error) {
	out, err := repo.Run(ctx, git.Call{Limit: git.MaxPrinted, Args: []string{"config", "--includes", "-z", "--list"}})
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, given := strings.Cut(entry, "\n")
		if !given {
			value = "true"
		}
		if key != "" {
			list = append(list, [2]string{key, value})
		}
	}
	return list, err
}

// beyond returns the settings of all whose values has lacks. Of several values of one key those come first that both have.
func beyond(all, has [][2]string) (more [][2]string) {
	of := func(list [][2]string, key string) []string {
		return each.Where(list, func(one [2]string) (string, bool) { return one[1], one[0] == key })
	}
	for i, one := range all {
		known, mine := of(has, one[0]), of(all, one[0])
		n := len(known)
		if n <= len(of(all[:i], one[0])) || n > len(mine) || !slices.Equal(known, mine[:n]) {
			more = append(more, one)
		}
	}
	return more
}

// sections are copied whole; keys one by one. Filters are among them: without one that the user has set up, what it keeps
// out of commits (git-crypt, for one) would be committed.
var (
	sections = map[string]bool{
		"user": true, "author": true, "committer": true, "i18n": true, "lfs": true, "filter": true, "advice": true,
		"credential": true, "http": true, "gpg": true, "diff": true, "merge": true, "transcrypt": true,
	}
	keys = map[string]bool{
		"core.autocrlf": true, "core.eol": true, "core.excludesfile": true, "core.attributesfile": true,
		"core.sparsecheckout": true, "core.sparsecheckoutcone": true, "index.sparse": true, "extensions.partialclone": true, "pull.rebase": true,
	}
	remoteKeys = map[string]bool{"url": true, "fetch": true, "promisor": true, "partialclonefilter": true, "tagopt": true}
)

// copied reports whether a setting is copied into slots. The key is as git prints it: section and name in lower case.
func copied(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	if section == "remote" {
		return remoteKeys[rest[strings.LastIndexByte(rest, '.')+1:]]
	}
	return sections[section] || keys[key]
}

// Address returns a remote's address, seen from a slot: a path is relative to the checkout.
func Address(repo *git.Repo, url string) string {
	if first, _, _ := strings.Cut(url, "/"); url == "" || first == "" || strings.Contains(first, ":") || filepath.IsAbs(url) {
		return url
	}
	return filepath.Join(repo.Root(), filepath.FromSlash(url))
}

// lfsStorage returns where large files are kept (git-lfs-config): in the user's repository, whoever has fetched them.
func lfsStorage(repo *git.Repo, configured string) string {
	configured = cmp.Or(configured, "lfs")
	if filepath.IsAbs(configured) {
		return configured
	}
	return filepath.Join(repo.CommonDir(), filepath.FromSlash(configured))
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
