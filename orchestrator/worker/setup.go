package worker

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
	"syscall"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/runners"
	"relay/runners/shell"
)

// provision makes a fresh worktree ready for work: with the untracked files of the user's checkout that are configured, and
// with the set-up commands. When one of these does not succeed, no agent can be blamed for what would follow.
func (s *slotEngine) provision(ctx context.Context, t trial, ofEpic bool, f *state) error {
	w := s.o.Worktree
	if len(w.Copy)+len(w.Link) > 0 {
		if err := s.furnish(ctx, t.dir, f); err != nil || f.Outcome != attempts.Success {
			return err
		}
	}
	if len(w.Setup) == 0 {
		return nil
	}
	return s.user.Adopt(func() error { return s.setUp(ctx, t, ofEpic, f) })
}

// setUp runs the set-up commands in a fresh worktree.
func (s *slotEngine) setUp(ctx context.Context, t trial, ofEpic bool, f *state) error {
	w := s.o.Worktree
	for i, command := range w.Setup {
		log := filepath.Join(t.p.checks, fmt.Sprintf("%d-setup.log", i+1))
		if err := t.makeRoom(log); err != nil {
			return err
		}
		s.tell(engine.Event{Task: t.a.Task.ID, Kind: engine.KindSettingUp, Detail: runners.Event{Text: command}})
		report, err := shell.Run(ctx, s.o.Supervisor, shell.Request{
			Mark: t.a.Mark(), Dir: t.dir, Run: command, Log: log, Env: s.commandEnv(t.a, ofEpic),
			Wall: w.SetupWall, StopGrace: s.o.Limits.StopGrace, Cap: s.o.Limits.OutputCap,
		})
		switch {
		case ctx.Err() != nil:
			f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped while "+command+" ran")
			return nil
		case err != nil:
			return err
		case unseen(report) || report.TimedOut || report.Exit.Code != 0:
			f.Fail(attempts.Environment, attempts.MissingDependency, fmt.Sprintf("set-up command %q: %s", command, ending(report, w.SetupWall)))
			rel, _ := filepath.Rel(s.o.Dir, log)
			f.Receipt.Checks = append(f.Receipt.Checks, attempts.CheckRun{Name: command, ExitCode: report.Exit.Code, Tail: report.Tail, Log: filepath.ToSlash(rel), SHA256: sumOf(log), Phase: phaseBaseline})
			return nil
		}
	}
	return nil
}

// ending says how a command ended.
func ending(r shell.Report, wall time.Duration) string {
	switch {
	case r.TimedOut:
		return tooMuch(r.Flooded, wall)
	case unseen(r):
		return "the process that watched it died"
	}
	return runners.DescribeExit(r.Exit)
}

// tooMuch says which limit a command has passed.
func tooMuch(printed bool, wall time.Duration) string {
	if printed {
		return "printed far more than is kept of its output, and was stopped"
	}
	return "took longer than " + wall.String()
}

// furnish copies and links untracked files of the user's checkout. What is tracked in the worktree stays as it is. What
// cannot be put there fails the finding.
func (s *slotEngine) furnish(ctx context.Context, dir string, f *state) error {
	found, err := s.furniture(ctx)
	if err != nil {
		return err
	}
	to, err := os.OpenRoot(dir) // a link that an agent has committed leads nowhere outside
	if err != nil {
		return err
	}
	defer to.Close()
	for _, list := range []struct {
		key   string
		names []string
		place func(to *os.Root, name string) error
	}{{"copy", found.copy, s.copyIn}, {"link", found.link, s.linkIn}} {
		for _, name := range list.names {
			err := list.place(to, name)
			if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err != nil {
				f.Fail(attempts.Environment, attempts.MissingDependency, fmt.Sprintf("%s, which relay.worktree.%s names, cannot be put into the worktree: %v", attempts.Clean(name, 200), list.key, err))
				return nil
			}
		}
	}
	return nil
}

// relays reports whether a path is git's or relay's own.
func (s *slotEngine) relays(name string) bool {
	for _, folder := range []string{filepath.Join(s.home.Root(), ".git"), s.o.Dir, s.o.Worktree.Dir} {
		own, err := filepath.Rel(s.home.Root(), folder)
		own = filepath.ToSlash(own)
		if err == nil && (name == own || strings.HasPrefix(name, own+"/")) {
			return true
		}
	}
	return name == "."
}

func (s *slotEngine) linkIn(to *os.Root, name string) error {
	if _, err := to.Lstat(filepath.FromSlash(name)); err == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(s.home.Root(), filepath.FromSlash(name))); err != nil {
		return gone(err)
	}
	if err := to.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return err
	}
	return to.Symlink(filepath.Join(s.home.Root(), filepath.FromSlash(name)), filepath.FromSlash(name))
}

func (s *slotEngine) copyIn(to *os.Root, name string) error {
	from := s.home.Root()
	return filepath.WalkDir(filepath.Join(from, filepath.FromSlash(name)), func(full string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, full)
		if err = errors.Join(gone(err), relErr); err != nil || d == nil {
			return err
		}
		if d.IsDir() {
			if s.relays(filepath.ToSlash(rel)) {
				return filepath.SkipDir
			}
			return to.MkdirAll(rel, 0o755)
		}
		if s.found.tracked[filepath.ToSlash(rel)] {
			return nil
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

// gone forgives that something of the user's is not there any more: they go on working.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func copyInto(to *os.Root, rel, full string, d fs.DirEntry) error {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(full)
		if err != nil {
			return gone(err)
		}
		return to.Symlink(dest, rel)
	case !d.Type().IsRegular():
		return nil
	}
	src, err := os.Open(full)
	if err != nil {
		return gone(err)
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
