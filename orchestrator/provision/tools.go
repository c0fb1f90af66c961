package provision

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// watchedFile is one file that a tool reads wherever its user works, or git in the user's repository.
type watchedFile struct {
	tool   string // name
	path   string
	config bool // of git: see onlyNotes
	ofRepo bool
	was    state
}

// filesOf returns the files of an environment. A variable that names no file, such as GOENV=off, leaves its tool out.
func filesOf(environ []string) (files []watchedFile) {
	env := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	home := env["HOME"]
	config := cmp.Or(env["XDG_CONFIG_HOME"], below(home, ".config"))
	cargo := cmp.Or(env["CARGO_HOME"], below(home, ".cargo"))
	for _, f := range []watchedFile{
		{tool: "go", path: cmp.Or(env["GOENV"], below(config, "go/env"))},
		{tool: "npm", path: cmp.Or(env["NPM_CONFIG_USERCONFIG"], env["npm_config_userconfig"], below(home, ".npmrc"))},
		{tool: "pip", path: cmp.Or(env["PIP_CONFIG_FILE"], below(config, "pip/pip.conf"))},
		{tool: "pip", path: below(home, ".pip/pip.conf")},
		{tool: "cargo", path: below(cargo, "config.toml")},
		{tool: "cargo", path: below(cargo, "config")},
		{tool: "yarn", path: below(home, ".yarnrc.yml")},
		{tool: "yarn", path: below(home, ".yarnrc")},
		{tool: "pnpm", path: below(config, "pnpm/rc")},
		{tool: "git", path: cmp.Or(env["GIT_CONFIG_GLOBAL"], below(home, ".gitconfig")), config: true},
		{tool: "git", path: below(config, "git/config"), config: true},
		{tool: "git", path: below(config, "git/attributes")},
		{tool: "git", path: below(config, "git/ignore")},
	} {
		if !filepath.IsAbs(f.path) || f.path == "/dev/null" {
			continue
		}
		if real, err := filepath.EvalSymlinks(f.path); err == nil { // many keep theirs in a repository
			f.path = real
		}
		files = append(files, f)
	}
	return files
}

// hooks are those that a person's own git runs. relay's runs none.
var hooks = []string{
	"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge", "post-rewrite", "pre-rebase", "pre-push",
}

// filesOfRepo returns the files by which git reads and writes a repository and finds its objects. With shared its configuration is the
// agents' too.
func filesOfRepo(repo *git.Repo, shared bool) (files []watchedFile) {
	common, own := repo.CommonDir(), repo.GitDir()
	add := func(folder, name string, config bool) {
		files = append(files, watchedFile{tool: "git", path: filepath.Join(folder, name), config: config, ofRepo: true})
	}
	add(common, "objects/info/alternates", false)
	for _, name := range hooks {
		add(common, "hooks/"+name, false)
	}
	if shared {
		return files
	}
	for _, folder := range slices.Compact([]string{common, own}) {
		add(folder, "config.worktree", true)
		add(folder, "info/sparse-checkout", false)
	}
	add(common, "config", true)
	add(common, "info/attributes", false)
	add(common, "info/exclude", false)
	return files
}

// below returns a path in a folder, or "" without a folder.
func below(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}
