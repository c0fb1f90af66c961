package provision

import (
	"cmp"
	"path/filepath"
	"strings"
)

// watchedFile is one file that a tool reads wherever its user works.
type watchedFile struct {
	tool string // name
	path string
	was  state
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

// below returns a path in a folder, or "" without a folder.
func below(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}
