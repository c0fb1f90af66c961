// Package project finds the repository that a command works in, its configuration, epic, ledger and state folders, and the
// agents that the configuration names.
package project

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/provision"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/sandbox"
)

// Folders below the root of a repository that hold an epic. The second one is of older programs.
const (
	standardDir = ".agents-os/relay"
	olderDir    = ".agents/relay"
)

// Project is the repository a command works in, and relay's folder in it.
type Project struct {
	Root   string // absolute
	Home   string // relay's folder, absolute
	Dir    string // the folder of the epic: Home, or that of an epic of a playlist below it
	Git    *git.Repo
	Config *configs.Config
	Agents *Agents

	Damage  []string // mistakes in the configuration, for commands that use the rest of it
	Session Session
	Sandbox *sandbox.Sandbox  // what cli.Sandbox has found; nil: it was not asked yet
	shared  *provision.Shared // what FindShared has found; nil: it was not asked yet
}

// Session is the user's session as far as a project depends on it.
type Session struct {
	Dir     string // the folder the user is in, absolute
	Epic    string // id of the epic of a playlist that a command is about; "" : the one in relay's folder
	Environ []string
	Now     func() time.Time
	Warn    func(text string) // tells the user a warning
}

// Locate finds the repository around the user's folder and reads its configuration. Flags are settings given on the
// command line, by dotted key. When the configuration has mistakes, locate returns the project with the rest of it beside the
// error. It fails when the folder is in no repository, relay's folder leads out of it, or there is no such epic of a playlist.
func Locate(ctx context.Context, s Session, flags map[string]any) (*Project, error) {
	p, err := Repository(ctx, s)
	if err != nil {
		return nil, err
	}
	var mistakes error
	p.Config, mistakes = configs.Load(configs.Sources{
		UserFile: UserFile(s.Environ), Dir: p.Root, Environ: s.Environ, Flags: flags, Tracked: func(path string) bool {
			out, err := p.Git.Run(ctx, git.Call{Args: []string{"ls-files", "--", ":(literal)" + p.Rel(path)}})
			return err != nil || len(out) > 0
		},
	})
	if p.Config == nil {
		return nil, relativeProblems(p.Root, mistakes)
	}
	p.Agents = NewAgents(p.Root, p.Git, p.Config, s.Environ)
	origin, _ := p.Config.Lookup("relay.dir")
	if p.Home, err = relayDir(p.Root, p.Config.Relay.Dir, origin.Origin == "default"); err != nil {
		return nil, err
	}
	p.Dir = p.Home
	if s.Epic != "" {
		if p.Dir, err = listedDir(p, s.Epic); err != nil {
			return nil, err
		}
	}
	return p, relativeProblems(p.Root, mistakes)
}

// relativeProblems returns err with the paths of its files as a person would type them.
func relativeProblems(root string, err error) error {
	if problems, ok := errors.AsType[epic.Problems](err); ok {
		for i := range problems {
			problems[i].File = plaintext.Relative(root, problems[i].File)
		}
	}
	return err
}

// Repository finds the root of the repository, without its configuration. It fails when there is none; where a killed run has
// left a copy of .git, the error says how to put it back.
func Repository(ctx context.Context, s Session) (*Project, error) {
	dir := s.Dir
	repo, err := git.Open(ctx, dir)
	if errors.Is(err, git.ErrNoRepository) {
		if copied := newestBackup(s.Environ, dir); copied != "" {
			return nil, &terminal.Hinted{
				Err:  errors.New("this folder is in no git repository any more; a run that was killed kept a copy of its .git"),
				Hint: "mv " + plaintext.ShellWord(copied) + " " + plaintext.ShellWord(filepath.Join(dir, ".git")) + " puts it back; then relay work",
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return &Project{Root: repo.Root(), Git: repo, Session: s}, nil
}

// UserFile returns the path of the user's own configuration for all repositories, or "" without a home.
func UserFile(environ []string) string {
	dir := runners.Variable(environ, "XDG_CONFIG_HOME")
	if dir == "" || !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "relay", "agents.yml")
}

// relayDir returns the absolute path of relay's folder. A link on the way may not lead out of the repository: what is
// written there would be hard to find.
func relayDir(root, dir string, byDefault bool) (string, error) {
	if byDefault && !git.Exists(filepath.Join(root, standardDir)) && git.Exists(filepath.Join(root, olderDir, "epic.yml")) {
		dir = olderDir
	}
	folder := filepath.Join(root, filepath.FromSlash(dir))
	for at := folder; at != root && len(at) > len(root); at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		base, err := filepath.EvalSymlinks(root)
		if err != nil {
			return "", err
		}
		if !relayfiles.IsIn(real, base) {
			return "", &terminal.Hinted{
				Err:  fmt.Errorf("%s leads out of the repository, to %s", plaintext.Relative(root, at), real),
				Hint: "remove the link, or set relay.dir to a folder inside the repository",
			}
		}
		break
	}
	return folder, nil
}

// File returns the absolute path of a file in relay's folder.
func (p *Project) File(name ...string) string {
	return filepath.Join(append([]string{p.Dir}, name...)...)
}

// OfEpic returns this project with the folder of an epic of a playlist, which need not be there yet.
func (p *Project) OfEpic(id string) *Project {
	return &Project{
		Root: p.Root, Home: p.Home, Dir: filepath.Join(p.Home, ListedFolder, id), Git: p.Git, Config: p.Config, Agents: p.Agents,
		Damage: p.Damage, Session: p.Session,
	}
}

// EpicFlag returns what names the epic to other commands, as in " --epic ID"; "" for the one in relay's own folder.
func (p *Project) EpicFlag() string {
	if p.Dir == p.Home {
		return ""
	}
	return " --epic " + filepath.Base(p.Dir)
}

// Worktrees returns the settings of isolation worktree.
func (p *Project) Worktrees() engine.Worktree {
	c := &p.Config.Relay
	place := slotsPlace{p.Root, p.Dir, WorktreeDir(p), StateDir(p.Session.Environ)}
	return engine.Worktree{
		Setup: c.Worktree.Setup, Copy: c.Worktree.Copy, Share: c.Worktree.Share,
		Dir: place.folder(), SetupWall: c.SetupTimeout,
	}
}

// Redactor returns the redactor for everything an agent of this project may know: the user's environment, and what the
// configuration adds to it.
func (p *Project) Redactor() *secrets.Redactor {
	listed := append(slices.Clone(p.Session.Environ), p.Config.Relay.Env...)
	for _, agent := range p.Config.Relay.Agents {
		listed = append(listed, agent.Env...)
	}
	return secrets.New(listed)
}

// WorktreeDir returns the folder that relay.worktree.dir names, absolute, or "".
func WorktreeDir(p *Project) string {
	dir := filepath.FromSlash(p.Config.Relay.Worktree.Dir)
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Root, dir)
}

// Rel returns a file's path as messages show it: from the root of the repository.
func (p *Project) Rel(path string) string { return plaintext.Relative(p.Root, path) }

// Abs returns the file of a path that Rel returned.
func (p *Project) Abs(shown string) string {
	if path := filepath.FromSlash(shown); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Root, filepath.FromSlash(shown))
}

// BackupDir returns where a run keeps its copy of .git: of one checkout, and in that of one relay folder, for two runs can
// share a checkout. Without a home it stays in relay's own folder.
func BackupDir(p *Project) string {
	all := backupDirs(p.Session.Environ, p.Root)
	if all == "" {
		return ""
	}
	return filepath.Join(all, pathHash(p.Dir))
}

// backupDirs returns the folder with the copies of .git of all runs in a checkout: outside of it, where rm -rf . does
// not reach them.
func backupDirs(environ []string, root string) string { return StatePath(environ, "git-copy", root) }

// StatePath returns the path of what relay keeps in its folder for state of a path, in a folder of its kind; "" without one.
func StatePath(environ []string, kind, of string) string {
	if state := StateDir(environ); state != "" {
		return filepath.Join(state, kind, pathHash(of))
	}
	return ""
}

// StateDir returns relay's folder below the one for the state of the user's programs, or "".
func StateDir(environ []string) string {
	state := runners.Variable(environ, "XDG_STATE_HOME")
	if home := runners.Variable(environ, "HOME"); state == "" && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return ""
	}
	return filepath.Join(state, "relay")
}

// newestBackup returns the newest copy of .git that a killed run in this checkout has left, or "".
func newestBackup(environ []string, root string) string {
	folder := backupDirs(environ, root)
	entries, err := os.ReadDir(folder)
	if folder == "" || err != nil {
		return ""
	}
	newest, kept := time.Time{}, ""
	for _, e := range entries {
		copied := filepath.Join(folder, e.Name())
		if head, err := os.Lstat(filepath.Join(copied, "HEAD")); err == nil && head.ModTime().After(newest) {
			newest, kept = head.ModTime(), copied
		}
	}
	return kept
}

// pathHash returns a hash of a repository's path, for names.
func pathHash(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8])
}

// RelativeOrigins names the files that settings come from by their paths below the repository.
func RelativeOrigins(p *Project, values []configs.Value) {
	for i := range values {
		file, line, _ := strings.Cut(values[i].Origin, ":")
		if filepath.IsAbs(file) {
			values[i].Origin = p.Rel(file) + ":" + line
		}
	}
}

// EffectiveYAML returns every setting with its value and where it comes from, without secrets: a list with key, value and origin.
// It is nil if they have no such form.
func EffectiveYAML(p *Project) []byte {
	type setting struct {
		Key    string `yaml:"key"`
		Value  any    `yaml:"value"`
		Origin string `yaml:"origin"`
	}
	values := p.Config.Explain()
	RelativeOrigins(p, values)
	list := make([]setting, len(values))
	redact := p.Redactor().Text
	for i, v := range values {
		list[i] = setting{redact(v.Key), v.Value, redact(v.Origin)}
		if shown := v.String(); redact(shown) != shown {
			list[i].Value = redact(shown)
		}
	}
	text, err := yaml.Marshal(list)
	if err != nil {
		return nil
	}
	return append([]byte("# The settings at the beginning of this run, and where they come from: relay config shows those of now.\n"), text...)
}

// LastEnded returns the folder of the last run in this checkout that ended; the top folder if there is none. A run whose files git tracks
// may have come with a clone, and does not count.
func LastEnded(ctx context.Context, p *Project) string {
	ends := func(folder string) string { return ":(glob)" + p.Rel(filepath.Join(folder, "runs/*/report.json")) }
	epics := filepath.Join(p.Home, ListedFolder, "*")
	out, _ := p.Git.Run(ctx, git.Call{Args: []string{"ls-files", "--others", "-z", "--", ends(p.Home), ends(epics)}})
	ended := func(file string) (at time.Time) { // several runs may begin in one second, so their names do not tell
		if info, err := os.Lstat(filepath.Join(p.Root, file)); err == nil && info.Mode().IsRegular() {
			at = info.ModTime()
		}
		return at
	}
	last := slices.MaxFunc(strings.Split(string(out), "\x00"), func(a, b string) int { return ended(a).Compare(ended(b)) })
	return filepath.Join(p.Root, filepath.Dir(last))
}

// RelayVersion returns the version of relay's module as the toolchain recorded it, with the commit it was built from if the program
// belongs to the module.
func RelayVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path != "relay" {
			continue
		}
		for m.Replace != nil {
			m = m.Replace
		}
		return cmp.Or(m.Version, "(devel)")
	}
	v := cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return v + " " + s.Value[:12]
		}
	}
	return v
}
