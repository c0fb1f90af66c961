package worktree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// staging puts the files of a checkout into its index, and knows which of them git has not taken.
type staging struct {
	run     gitcmd.Runner
	untaken []string         // tracked paths at which git does not take what is there
	refused map[string]error // files that git does not take as their filters or encodings want them, and why
}

// addChanged stages what was changed or removed of what is tracked. What stands in a file's place and git does not take
// (a pipe) is noted.
func (s *staging) addChanged(ctx context.Context) error {
	_, refused := s.run.Git(ctx, nil, "add", "--sparse", "--update")
	if refused == nil {
		return nil
	}
	changed := func() ([]string, error) {
		out, err := s.run.Git(ctx, nil, "diff-files", "--name-only", "--ignore-submodules=all", "-z")
		return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(p string) bool { return p == "" }), err
	}
	halved := false // the list has no submodules
	still, err := s.addAllBut(ctx, refused, changed, func(paths []string) error {
		if halved {
			return s.add(ctx, paths, "--update", "--ignore-errors")
		}
		halved = true
		_, err := s.run.Git(ctx, nil, "add", "--sparse", "--update", "--ignore-errors")
		return err
	})
	s.untaken = still
	return err
}

func (s *staging) add(ctx context.Context, paths []string, options ...string) error {
	args := append([]string{"add", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"}, options...)
	_, err := s.run.Git(ctx, strings.NewReader(strings.Join(paths, "\x00")), args...)
	return err
}

// addAllBut has git add what is left of a list that it has refused as a whole, and returns what it does not take. When
// it is the repository that takes nothing (a full disk, for one), the refusal is the error.
func (s *staging) addAllBut(
	ctx context.Context, refused error, list func() ([]string, error), add func([]string) error,
) (still []string, err error) {
	paths, err := list()
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	s.open(paths)
	if s.addEach(ctx, paths, add) != nil {
		return nil, refused
	}
	if still, err = list(); err != nil {
		return nil, errors.Join(refused, err)
	}
	if s.probe(ctx, still) != nil {
		return nil, refused
	}
	return slices.DeleteFunc(still, func(p string) bool { return s.refused[p] != nil }), nil
}

// addEach has git add what it takes of a list. A file that a filter or an encoding refuses ends git at once: the list is
// halved until that one is alone.
func (s *staging) addEach(ctx context.Context, paths []string, add func([]string) error) error {
	err := add(paths)
	var gitErr *reanchor.GitError
	switch {
	case err == nil || errors.As(err, &gitErr) && gitErr.Code == 1: // 1: not all of them
		return nil
	case gitErr == nil || gitErr.Code != gitDied || len(paths) == 0 ||
		ctx.Err() != nil || len(s.refused) == refusedMost || s.probe(ctx, paths) != nil:
		return err
	case len(paths) > 1:
		half := len(paths) / 2
		return errors.Join(s.addEach(ctx, paths[:half], add), s.addEach(ctx, paths[half:], add))
	}
	if s.refused == nil {
		s.refused = make(map[string]error)
	}
	s.refused[paths[0]] = err
	return nil
}

const (
	gitDied     = 128 // git's exit status then
	refusedMost = 100 // files of one attempt that git may die of
)

// probe finds out whether git can write at all, by some of the files that can be read.
func (s *staging) probe(ctx context.Context, paths []string) error {
	args := []string{"hash-object", "-w", "--no-filters", "--"}
	for _, p := range paths {
		if len(args) < probes && s.readable(p) {
			args = append(args, p)
		}
	}
	_, err := s.run.Git(ctx, nil, args...)
	return err
}

// probes bounds how many files are written to see whether there is room: a command line is not endless.
const probes = 20

// open gives relay permission to read files from which an agent has taken it.
func (s *staging) open(paths []string) {
	for _, p := range paths {
		full := filepath.Join(s.run.Repo.Root(), filepath.FromSlash(p))
		if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o400 == 0 {
			_ = os.Chmod(full, info.Mode().Perm()|0o400) // not ours: then git does not take it
		}
	}
}

// readable reports whether a path is a file that can be read.
func (s *staging) readable(p string) bool {
	full := filepath.Join(s.run.Repo.Root(), filepath.FromSlash(p))
	if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(full)
	if err == nil {
		err = file.Close()
	}
	return err == nil
}

// stageRefused puts into the index, as they are, files that a filter or an encoding refuses.
func (s *staging) stageRefused(ctx context.Context) error {
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(s.refused)), func(p string) bool { return !s.readable(p) })
	if len(paths) == 0 {
		return nil
	}
	out, err := s.run.Git(ctx, nil, append([]string{"hash-object", "-w", "--no-filters", "--"}, paths...)...)
	if err != nil {
		return err
	}
	var entries strings.Builder
	for i, hash := range strings.Fields(string(out)) {
		mode := "100644"
		if info, err := os.Lstat(filepath.Join(s.run.Repo.Root(), filepath.FromSlash(paths[i]))); err == nil && info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		fmt.Fprintf(&entries, "%s %s\t%s\x00", mode, hash, paths[i])
	}
	_, err = s.run.Git(ctx, strings.NewReader(entries.String()), "update-index", "-z", "--index-info")
	return err
}
