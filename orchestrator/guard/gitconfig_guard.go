package guard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// ConfigGuard keeps as it is what tells git how to read and write files and where to send them: the configuration of the
// repository and its info files, which all worktrees share. An agent's git config in a worktree is one in the user's
// repository.
//
// git does not record who changed them. A change while no agent is at work is the user's. A change while one is at work counts as an
// agent's: relay puts it back if it steers git, and leaves and reports others. See classify.
type ConfigGuard struct {
	Repo *git.Repo // the user's checkout
	Env  []string  // of agents, by which git finds the user's own files

	mu         sync.Mutex
	atWork     int          // who runs an agent's code
	home       []configFile // of the user's own, as they are named
	files      []configFile
	unreported []Tampering // what was put right, and not reported yet
}

// Tampering is something that an agent has changed for everybody.
type Tampering struct {
	Text    string // in words
	Serious bool   // it could have had an attempt judged by something else than its commits
}

// configFile is a file as it should be.
type configFile struct {
	path, name string // name is for people
	config     bool
	global     bool // the user's, for all repositories
	content    []byte
	there      bool
	odd        bool // it is not a regular file, and was not one before: it is left alone
}

// Enter begins a time in which an agent's code runs. When there was none before, what is there now is the user's.
func (r *ConfigGuard) Enter() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.atWork++; r.atWork == 1 {
		r.files = r.read()
	}
}

// Leave ends it. Whoever leaves has asked Mend before.
func (r *ConfigGuard) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.atWork--
}

// read reads the files as they are.
func (r *ConfigGuard) read() []configFile {
	shared, own := r.Repo.CommonDir(), r.Repo.GitDir()
	var files []configFile
	if r.home == nil {
		r.home = userFilesOf(r.Env)
	}
	all := slices.Clone(r.home)
	for _, at := range [][2]string{
		{shared, "config"},
		{shared, "config.worktree"},
		{own, "config.worktree"},
		{shared, "info/attributes"},
		{shared, excludes},
		{shared, "info/sparse-checkout"},
		{own, "info/sparse-checkout"},
	} {
		path := filepath.Join(at[0], filepath.FromSlash(at[1]))
		all = append(all, configFile{path: path, name: ".git/" + at[1], config: filepath.Dir(path) == at[0]})
	}
	for _, f := range all {
		if slices.ContainsFunc(files, func(other configFile) bool { return other.path == f.path }) {
			continue
		}
		info, err := os.Lstat(f.path)
		f.there = err == nil
		if f.odd = f.there && !info.Mode().IsRegular(); f.there && !f.odd {
			f.content, err = os.ReadFile(f.path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.odd = true
		}
		files = append(files, f)
	}
	return files
}

const excludes = "info/exclude"

func (f *configFile) intact() bool {
	if f.odd {
		return true
	}
	if f.there {
		return git.SameAs(f.content, f.path)
	}
	_, err := os.Lstat(f.path)
	return errors.Is(err, fs.ErrNotExist)
}

// Mend puts back what an agent has changed, and returns what was found since it was last asked. As long as nothing has
// changed it only compares bytes.
func (r *ConfigGuard) Mend(ctx context.Context) ([]Tampering, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.mendAll(ctx)
	found := r.unreported
	r.unreported = nil
	return found, err
}

// MendSilently mends as Mend does and keeps what it found for the next call of Mend to return.
func (r *ConfigGuard) MendSilently(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mendAll(ctx)
}

func (r *ConfigGuard) mendAll(ctx context.Context) error {
	if r.atWork == 0 { // whatever has changed is the user's
		return nil
	}
	for i := range r.files {
		f := &r.files[i]
		if f.intact() {
			continue
		}
		if f.config {
			if err := r.mendConfig(ctx, f); err != nil {
				return err
			}
			continue
		}
		if err := f.putBack(); err != nil {
			return err
		}
		// One who keeps a scratch file out of git's sight means no harm, and once it is put back does none.
		r.unreported = append(r.unreported, Tampering{f.name + " was changed during the attempt; relay put it back", f.name != ".git/"+excludes && !f.global})
	}
	return nil
}

// putBack makes the file what it was.
func (f *configFile) putBack() error {
	err := git.RemoveTree(f.path)
	if f.there {
		err = errors.Join(os.MkdirAll(filepath.Dir(f.path), 0o755), git.ReplaceFile(f.path, 0o644, f.content))
	}
	return err
}

// mendConfig puts a configuration back if changes of it steer git, and records these settings. Other changes stay and are recorded.
func (r *ConfigGuard) mendConfig(ctx context.Context, f *configFile) error {
	content, err := os.ReadFile(f.path)
	if info, odd := os.Lstat(f.path); odd != nil || !info.Mode().IsRegular() || err != nil {
		r.unreported = append(r.unreported, Tampering{f.name + " was removed or replaced during the attempt; relay put it back", !f.global})
		return f.putBack()
	}
	was, err := r.settings(ctx, f.content)
	if err != nil {
		return err
	}
	is, err := r.settings(ctx, content)
	if git.ExitCode(err) > 0 {
		r.unreported = append(r.unreported, Tampering{f.name + " was damaged during the attempt; relay put it back", !f.global})
		return f.putBack()
	}
	if err != nil {
		return err
	}
	changed, scope := compare(was, is), "local"
	if f.global {
		scope = "global"
		for _, key := range []string{"core.editor", "core.pager", "core.quotepath", "core.abbrev", "core.commentchar"} {
			if _, is := changed[key]; is { // git uses these only when it talks to a person
				changed[key] = personal
			}
		}
	}
	if taken := changed.keys(steering); len(taken) > 0 {
		r.unreported = append(r.unreported, Tampering{"the settings " + plaintext.Listed(taken) + " in " + f.name + " were changed during the attempt; relay put them back", !f.global})
		return f.putBack()
	}
	if keys := changed.keys(personal); len(keys) > 0 {
		r.unreported = append(r.unreported, Tampering{"the settings " + plaintext.Listed(keys) + " in " + f.name + " were changed during the attempt, and stay so: look at them with git config --" + scope + " --list", false})
	}
	f.content, f.there = content, true
	return nil
}

// userFilesOf returns the files of the user's own that git reads in every repository, relay's git as well, with an environment: where
// their links lead now. An agent has the same home. relay reverts and reports changes of them, and gates no task for them: a user or the
// set-up of a program may have made them.
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
