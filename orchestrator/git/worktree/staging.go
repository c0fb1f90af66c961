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

	"relay/reanchor/git"
)

// staging puts the files of a checkout into its index, and knows which of them git has not taken.
type staging struct {
	run     git.Runner
	untaken []string         // tracked paths at which git does not take what is there
	refused map[string]error // files that git does not take as their filters or encodings want them, and why
}

const (
	gitDied     = 128 // git's exit status for a file that a filter or an encoding refuses
	refusedMost = 100 // files of one attempt that git may die of
	probes      = 20  // files that are written to see whether there is room
)

// all stages changes of tracked files, and fresh files. If git refuses them together, it stages those that git takes. It returns the fresh
// files that git does not take. Its error is the refusal if the repository takes nothing, as on a full disk.
func (s *staging) all(ctx context.Context, fresh []string) (left []string, err error) {
	_, refusal := s.run.Git(ctx, nil, "add", "--sparse", "--update")
	if refusal == nil && len(fresh) > 0 {
		refusal = s.add(ctx, fresh)
	}
	if refusal == nil {
		return nil, nil
	}
	// Only without paths does git see that a link has replaced a folder. The halves tell which files it refuses.
	_, _ = s.run.Git(ctx, nil, "add", "--sparse", "--update", "--ignore-errors")
	changed, err := s.list(ctx, "diff-files", "--name-only", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	all := slices.Concat(changed, fresh)
	for _, p := range all {
		full := filepath.Join(s.run.Repo.Root(), filepath.FromSlash(p))
		if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o400 == 0 {
			_ = os.Chmod(full, info.Mode().Perm()|0o400) // an agent has taken the permission; git does not take a file of another user
		}
	}
	if s.halve(ctx, all) != nil {
		return nil, refusal
	}
	changed, err = s.list(ctx, "diff-files", "--name-only", "--ignore-submodules=dirty")
	indexed, failed := s.list(ctx, "ls-files")
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	slices.Sort(indexed)
	left = slices.DeleteFunc(slices.Clone(fresh), func(p string) bool {
		_, taken := slices.BinarySearch(indexed, p)
		return taken
	})
	if s.probe(ctx, slices.Concat(changed, left)) != nil {
		return nil, refusal
	}
	known := func(p string) bool { return s.refused[p] != nil }
	s.untaken = slices.DeleteFunc(changed, known)
	return slices.DeleteFunc(left, known), s.stageRefused(ctx)
}

// halve stages what git takes of a list. A file that a filter or an encoding refuses ends git at once: halve halves the list until it has
// that file alone.
func (s *staging) halve(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	err := s.add(ctx, paths, "--all", "--ignore-errors")
	half := len(paths) / 2
	switch code := git.ExitCode(err); {
	case code == 0 || code == 1: // 1: not all of them
		return nil
	case code != gitDied || len(s.refused) == refusedMost || s.probe(ctx, paths) != nil:
		return err
	case half > 0:
		return errors.Join(s.halve(ctx, paths[:half]), s.halve(ctx, paths[half:]))
	}
	s.refused[paths[0]] = err
	return nil
}

// list returns the paths that a git command prints with -z.
func (s *staging) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := s.run.Git(ctx, nil, append(args, "-z")...)
	return paths(out), err
}

func (s *staging) add(ctx context.Context, paths []string, options ...string) error {
	args := append([]string{"add", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"}, options...)
	_, err := s.run.Git(ctx, strings.NewReader(strings.Join(paths, "\x00")), args...)
	return err
}

// paths returns the paths that git printed with -z.
func paths(printed []byte) []string {
	return slices.DeleteFunc(strings.Split(string(printed), "\x00"), func(p string) bool { return p == "" })
}

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

// unstageConverted takes files out of the index that only git's conversions have changed, which is not work.
func (s *staging) unstageConverted(ctx context.Context) error {
	out, err := s.run.Git(ctx, nil, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=M", "-z", "HEAD", "--")
	if err != nil || len(out) == 0 {
		return err
	}
	same := paths(out)
	changed := Unconverted(ctx, s.run.Repo, "HEAD", slices.Clone(same))
	if same = slices.DeleteFunc(same, func(p string) bool { return slices.Contains(changed, p) }); len(same) == 0 {
		return nil
	}
	_, err = s.run.Git(ctx, strings.NewReader(strings.Join(same, "\x00")), "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}
