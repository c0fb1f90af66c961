package userconfig

import (
	"cmp"
	"path/filepath"
	"strings"
)

// tool is one file by which a tool goes wherever its user works.
type tool struct {
	name     string // of the tool
	path     string
	variable string // names another file to the tool instead; "": there is none
	held     bool   // it is put back; git's own files gitconfig.Guard holds
}

// toolsOf returns the files of an environment. A variable that has no file, such as GOENV=off, leaves its tool out.
func toolsOf(environ []string) (tools []tool) {
	env := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	home := env["HOME"]
	config := cmp.Or(env["XDG_CONFIG_HOME"], below(home, ".config"))
	add := func(name, variable, path string) {
		if filepath.IsAbs(path) && path != "/dev/null" {
			if real, err := filepath.EvalSymlinks(path); err == nil { // many keep theirs in a repository
				path = real
			}
			tools = append(tools, tool{name, path, variable, name != "git"})
		}
	}
	npm := "npm_config_userconfig"
	if upper := strings.ToUpper(npm); env[upper] != "" {
		npm = upper
	}
	add("go", "GOENV", cmp.Or(env["GOENV"], below(config, "go/env")))
	add("npm", npm, cmp.Or(env[npm], below(home, ".npmrc")))
	add("pip", "PIP_CONFIG_FILE", cmp.Or(env["PIP_CONFIG_FILE"], below(config, "pip/pip.conf")))
	add("pip", "", below(home, ".pip/pip.conf"))
	cargo := cmp.Or(env["CARGO_HOME"], below(home, ".cargo"))
	add("cargo", "", below(cargo, "config.toml"))
	add("cargo", "", below(cargo, "config"))
	add("yarn", "", below(home, ".yarnrc.yml"))
	add("yarn", "", below(home, ".yarnrc"))
	add("pnpm", "", below(config, "pnpm/rc"))
	// Without the variable a test that makes a home of its own would no longer find its own .gitconfig.
	add("git", "GIT_CONFIG_GLOBAL", env["GIT_CONFIG_GLOBAL"])
	return tools
}

// below returns a path in a folder, or "" when there is no folder.
func below(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}
