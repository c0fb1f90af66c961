package userconfig

import (
	"cmp"
	"os"
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

// maxPrograms bounds those of one link that are held.
const maxPrograms = 2000

// binFolders are where package managers put programs: in node_modules, and in a virtual environment of Python's. A folder of
// programs that has not its sign beside it may be what a build makes, which is every agent's to change.
var binFolders = []struct{ name, sign string }{{".bin", "."}, {"bin", "pyvenv.cfg"}}

// programsIn returns the programs behind a link of the worktrees: the file that it is, or what stands in its folders for
// programs, and where links lead to there.
func programsIn(link string) (programs []watchedFile) {
	add := func(path, pack string) {
		programs = append(programs, watchedFile{path: path, program: true, pack: pack})
	}
	if info, err := os.Stat(link); err == nil && info.Mode().IsRegular() {
		if info.Mode()&0o111 != 0 {
			add(link, "")
		}
		return programs
	}
	for _, bin := range binFolders {
		if _, err := os.Stat(filepath.Join(link, bin.sign)); err != nil {
			continue
		}
		folder := filepath.Join(link, bin.name)
		entries, _ := os.ReadDir(folder) // most have none
		for _, e := range entries[:min(len(entries), maxPrograms)] {
			path := filepath.Join(folder, e.Name())
			if e.IsDir() {
				continue
			}
			target, err := filepath.EvalSymlinks(path)
			inside := err == nil && target != path && within(link, target)
			pack := ""
			if inside {
				pack = packageOf(link, target)
			}
			add(path, pack)
			if inside {
				add(target, pack)
			}
		}
	}
	return programs
}

// packageOf returns the file that says which version of a package a program belongs to, or "".
func packageOf(link, program string) string {
	for at := filepath.Dir(program); within(link, at); at = filepath.Dir(at) {
		name := filepath.Join(at, "package.json")
		if _, err := os.Lstat(name); err == nil {
			return name
		}
	}
	return ""
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}
