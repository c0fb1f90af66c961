package guard

import (
	"path/filepath"
	"slices"
	"strings"
)

// userFiles returns the files of the user's own that git reads in every repository, relay's git as well. An agent has the
// same home. relay reverts and reports changes of them, and gates no task for them: a user or the set-up of a program may have
// made them.
func (r *ConfigGuard) userFiles() []configFile {
	if r.home == nil {
		r.home = userFilesOf(r.Env)
	}
	return slices.Clone(r.home)
}

// userFilesOf returns those files with an environment: where their links lead now.
func userFilesOf(environment []string) []configFile {
	files := []configFile{}
	env := map[string]string{}
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	home, folder := env["HOME"], env["XDG_CONFIG_HOME"]
	if folder == "" && home != "" {
		folder = filepath.Join(home, ".config")
	}
	add := func(config bool, in, name string) {
		path := filepath.Join(in, filepath.FromSlash(name))
		if !filepath.IsAbs(path) || in == "" {
			return
		}
		if real, err := filepath.EvalSymlinks(path); err == nil { // many keep theirs in a repository
			path = real
		}
		files = append(files, configFile{path: path, name: path, config: config, global: true})
	}
	if own, set := env["GIT_CONFIG_GLOBAL"]; set {
		add(true, filepath.Dir(own), filepath.Base(own))
	} else {
		add(true, home, ".gitconfig")
		add(true, folder, "git/config")
	}
	add(false, folder, "git/attributes")
	add(false, folder, "git/ignore")
	return files
}
