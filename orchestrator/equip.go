package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"relay/attempts"
	"relay/runners"
)

// equip makes a fresh worktree ready for work: with the untracked files of the user's checkout that are configured, and
// with the set-up commands. When one of these does not succeed, no agent can be blamed for what would follow.
func (l *lanes) equip(ctx context.Context, t trial, ofEpic bool, f *Finding) error {
	w := l.o.Worktree
	if len(w.Copy)+len(w.Link) > 0 {
		if err := l.furnish(t.dir); err != nil {
			return err
		}
	}
	for i, command := range w.Setup {
		log := filepath.Join(t.p.checks, fmt.Sprintf("%d-setup.log", i+1))
		if err := t.makeRoom(log); err != nil {
			return err
		}
		l.tell(Heard{Task: t.a.Task.ID, Kind: UpdateChecking, Event: runners.Event{Text: command}})
		report, err := runners.Shell(ctx, l.o.Supervisor, runners.ShellRequest{
			Mark: t.a.Mark(), Dir: t.dir, Run: command, Log: log, Env: l.commandEnv(t.a, ofEpic),
			Wall: w.SetupWall, StopGrace: l.o.Limits.StopGrace, Cap: l.o.Limits.OutputCap,
		})
		switch {
		case ctx.Err() != nil:
			f.fail(attempts.Stopped, attempts.Interrupted, "the run was stopped while "+command+" ran")
			return nil
		case err != nil:
			return err
		case unseen(report) || report.TimedOut || report.Exit.Code != 0:
			f.fail(attempts.Environment, attempts.MissingDependency, fmt.Sprintf("set-up command %q: %s", command, ending(report, w.SetupWall)))
			f.Receipt.Checks = append(f.Receipt.Checks, attempts.CheckRun{Name: command, ExitCode: report.Exit.Code, Tail: report.Tail, Phase: phaseBaseline})
			return nil
		}
	}
	return nil
}

// ending says how a command ended.
func ending(r runners.ShellReport, wall time.Duration) string {
	switch {
	case r.TimedOut:
		return "took longer than " + wall.String()
	case unseen(r):
		return "the process that watched it died"
	}
	return runners.HowEnded(r.Exit)
}

// furnish copies and links untracked files of the user's checkout. What is tracked in the worktree stays as it is.
func (l *lanes) furnish(dir string) error {
	to, err := os.OpenRoot(dir) // a link that an agent has committed leads nowhere outside
	if err != nil {
		return err
	}
	defer to.Close()
	for _, list := range []struct {
		globs []string
		place func(to *os.Root, name string) error
	}{{l.o.Worktree.Copy, l.copyIn}, {l.o.Worktree.Link, l.linkIn}} {
		for _, glob := range list.globs {
			names, err := doublestar.Glob(os.DirFS(l.home.Root()), path.Clean(glob), doublestar.WithNoFollow())
			if err != nil {
				return fmt.Errorf("%s: %w", glob, err)
			}
			for _, name := range names {
				if l.relays(name) {
					continue
				}
				if err := list.place(to, name); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// relays reports whether a path is git's or relay's own.
func (l *lanes) relays(name string) bool {
	own, err := filepath.Rel(l.home.Root(), l.o.Dir)
	own = filepath.ToSlash(own)
	inside := func(folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
	return inside(".git") || err == nil && inside(own) || name == "."
}

func (l *lanes) linkIn(to *os.Root, name string) error {
	if _, err := to.Lstat(filepath.FromSlash(name)); err == nil {
		return nil
	}
	if err := to.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return err
	}
	return to.Symlink(filepath.Join(l.home.Root(), filepath.FromSlash(name)), filepath.FromSlash(name))
}

func (l *lanes) copyIn(to *os.Root, name string) error {
	from := l.home.Root()
	return filepath.WalkDir(filepath.Join(from, filepath.FromSlash(name)), func(full string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, full)
		if err = errors.Join(err, relErr); err != nil {
			return err
		}
		if d.IsDir() {
			if l.relays(filepath.ToSlash(rel)) {
				return filepath.SkipDir
			}
			return to.MkdirAll(rel, 0o755)
		}
		if _, err := to.Lstat(rel); err == nil {
			return nil
		}
		if err := to.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
			return err
		}
		return copyInto(to, rel, full, d)
	})
}

func copyInto(to *os.Root, rel, full string, d fs.DirEntry) error {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(full)
		return errors.Join(err, to.Symlink(dest, rel))
	case !d.Type().IsRegular():
		return nil
	}
	src, err := os.Open(full)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := to.OpenFile(rel, os.O_CREATE|os.O_WRONLY|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
