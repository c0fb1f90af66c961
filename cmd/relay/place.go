package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"relay/attempts"
	"relay/configs"
	"relay/epic"
	"relay/orchestrator"
	"relay/orchestrator/words"
	"relay/reanchor"
)

// Folders below the root of a repository that hold an epic. The second one is of older programs.
const (
	standardDir = ".agents-os/relay"
	olderDir    = ".agents/relay"
)

// maxPlan bounds epic.yml and blueprints, in bytes.
const maxPlan = 16 << 20

// place is the repository a command works in, and relay's folder in it.
type place struct {
	root   string // absolute
	dir    string // relay's folder, absolute
	git    *reanchor.Git
	config *configs.Config

	damage  []string // what is wrong with the configuration, for those who go by the rest of it
	environ []string // the user's
	own     sync.Map // by name of an agent: the []string that it gets of that
}

// locate finds the repository around the user's folder and reads its configuration. Flags are settings given on the
// command line, by dotted key. Of a configuration with mistakes the place has what is left of it, beside the error.
func (a *app) locate(ctx context.Context, flags map[string]any) (*place, error) {
	p, err := a.repository(ctx)
	if err != nil {
		return nil, err
	}
	var mistakes error
	p.config, mistakes = configs.Load(configs.Sources{UserFile: a.userFile(), Dir: p.root, Environ: a.environ, Flags: flags})
	if p.config == nil {
		return nil, nearer(p.root, mistakes)
	}
	origin, _ := p.config.Lookup("relay.dir")
	if p.dir, err = relayFolder(p.root, p.config.Relay.Dir, origin.Origin == "default"); err != nil {
		return nil, err
	}
	return p, nearer(p.root, mistakes)
}

// planned finds the place and reads its plan.
func (a *app) planned(ctx context.Context, flags map[string]any) (*place, *plan, error) {
	p, err := a.locate(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	pl, err := p.plan()
	return p, pl, err
}

// nearer gives mistakes in files of the repository the path a person would type.
func nearer(root string, err error) error {
	var problems configs.Problems
	if errors.As(err, &problems) {
		for i := range problems {
			problems[i].File = below(root, problems[i].File)
		}
	}
	return err
}

// repository finds the root of the repository, without its configuration.
func (a *app) repository(ctx context.Context) (*place, error) {
	dir, err := a.folder()
	if err != nil {
		return nil, err
	}
	git, err := reanchor.OpenGit(ctx, dir)
	if errors.Is(err, reanchor.ErrNoRepository) {
		if copied := a.keptGit(dir); copied != "" {
			return nil, &hinted{err: errors.New("this folder is in no git repository any more; a run that was killed kept a copy of its .git"),
				hint: "mv " + words.ShellWord(copied) + " " + words.ShellWord(filepath.Join(dir, ".git")) + " puts it back; then relay work"}
		}
	}
	if err != nil {
		return nil, err
	}
	return &place{root: git.Root(), git: git, environ: a.environ}, nil
}

// userFile is where the user's own configuration for all repositories is.
func (a *app) userFile() string {
	dir := a.lookup("XDG_CONFIG_HOME")
	if dir == "" || !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "relay", "agents.yml")
}

// relayFolder is the absolute path of relay's folder. A link on the way may not lead out of the repository: what is
// written there at night would land where nobody looks.
func relayFolder(root, dir string, byDefault bool) (string, error) {
	if byDefault && !exists(filepath.Join(root, standardDir)) && exists(filepath.Join(root, olderDir, "epic.yml")) {
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
		if real != base && !strings.HasPrefix(real, base+string(filepath.Separator)) {
			return "", &hinted{err: fmt.Errorf("%s leads out of the repository, to %s", below(root, at), real),
				hint: "remove the link, or set relay.dir to a folder inside the repository"}
		}
		break
	}
	return folder, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// below is an absolute path as seen from root, with slashes; a path elsewhere stays as it is.
func below(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return filepath.ToSlash(rel)
}

// file is the absolute path of a file in relay's folder.
func (p *place) file(name ...string) string {
	return filepath.Join(append([]string{p.dir}, name...)...)
}

// worktrees are the settings of isolation worktree. A folder that a person names may have worktrees of their own in it,
// or those of another relay: this one keeps to a folder of its own below it, and everything in that one is relay's.
func (p *place) worktrees() orchestrator.Worktree {
	c := &p.config.Relay
	dir := p.file("worktrees")
	if named := p.worktreesNamed(); named != "" {
		dir = filepath.Join(named, filepath.Base(p.root)+"-"+fingerprint(p.dir))
	}
	return orchestrator.Worktree{Setup: c.Worktree.Setup, Copy: c.Worktree.Copy, Link: c.Worktree.Link, Dir: dir, SetupWall: c.SetupTimeout}
}

// worktreesNamed is the folder that relay.worktree.dir names, absolute, or "".
func (p *place) worktreesNamed() string {
	dir := filepath.FromSlash(p.config.Relay.Worktree.Dir)
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.root, dir)
}

// shown is a file's path as messages show it: from the root of the repository.
func (p *place) shown(path string) string { return below(p.root, path) }

// plan is an epic as it was read.
type plan struct {
	source []byte
	epic   *epic.Epic
	graph  *epic.Graph
}

// plan reads and validates the epic of this place.
func (p *place) plan() (*plan, error) {
	path := p.file("epic.yml")
	src, err := readFile(path, maxPlan)
	var odd *irregularError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errNoEpic(p.shown(path))
	case errors.As(err, &odd):
		return nil, &hinted{err: &irregularError{p.shown(path), odd.kind}, code: exitInvalid,
			hint: "take it away, and put the plan back; that of each run is in " + p.shown(p.file(attempts.RunsDir))}
	case err != nil:
		return nil, err
	}
	return parsePlan(p.shown(path), src)
}

func parsePlan(name string, src []byte) (*plan, error) {
	e, err := epic.Read(name, src)
	if err != nil {
		return nil, err
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		return nil, err
	}
	return &plan{source: src, epic: e, graph: g}, nil
}

// view reads what the ledger knows. An epic that was written by hand and never run has none yet.
func (p *place) view(pl *plan) (*attempts.View, error) {
	v, err := attempts.Read(p.dir, pl.epic, pl.graph)
	if errors.Is(err, attempts.ErrNoLedger) {
		return &attempts.View{Ledger: &attempts.Ledger{}}, nil
	}
	return v, err
}

// open takes the epic for a change by a person. An epic that was written by hand and never run gets its ledger here.
func (p *place) open(a *app, pl *plan) (*attempts.Store, error) {
	if err := p.ensureIgnored(); err != nil {
		return nil, err
	}
	fresh := settings(p.config)
	return attempts.Open(attempts.Options{
		Dir: p.dir, Epic: pl.epic, Graph: pl.graph, Fresh: &fresh, Now: a.now, Fault: faultPoints(a.lookup(faultVariable)),
		Warn: func(text string) { fmt.Fprintf(a.err, "relay: warning: %s\n", text) },
	})
}

// ensureIgnored keeps the folder of an epic that was written by hand out of git, before anything is written into it.
func (p *place) ensureIgnored() error {
	if exists(p.file(attempts.LedgerFile)) || exists(p.file(attempts.RunsDir)) || exists(p.file(".gitignore")) {
		return nil
	}
	return replaceFile(p.file(".gitignore"), []byte("*\n"))
}

// task finds a task by the id a user typed.
func (p *plan) task(id string) (*epic.Task, error) {
	if t, ok := p.epic.Task(id); ok {
		return t, nil
	}
	for i := range p.epic.Tasks {
		if strings.EqualFold(p.epic.Tasks[i].ID, id) {
			return nil, &usageError{message: fmt.Sprintf("there is no task %s in this epic", quote(id)), hint: "did you mean " + p.epic.Tasks[i].ID + "?"}
		}
	}
	return nil, &usageError{message: fmt.Sprintf("there is no task %s in this epic", quote(id)), hint: "relay status --verbose lists the tasks"}
}
