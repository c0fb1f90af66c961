package trees

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// mostConverted bounds how many files are held against what git would write of a commit.
const mostConverted = 200

// asWritten reports whether a file has exactly what git writes of a commit's, through attributes and filters. git takes
// such a file for changed when it would not read the same back: attributes that came later, a filter, ident.
func (w *Tree) asWritten(ctx context.Context, commit, p string) bool {
	full := filepath.Join(w.Repo.Root(), filepath.FromSlash(p))
	if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() {
		return false
	}
	written, err := w.Repo.Run(ctx, reanchor.Call{Args: []string{"cat-file", "--filters", commit + ":" + p}, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return false
	}
	content, err := os.ReadFile(full)
	return err == nil && bytes.Equal(content, written)
}

// unconverted returns those of the paths that are not as git writes them of a commit: somebody has changed them.
func (w *Tree) unconverted(ctx context.Context, commit string, paths []string) []string {
	asked := 0
	return slices.DeleteFunc(paths, func(p string) bool {
		if !w.converts(p) || asked == mostConverted {
			return false
		}
		asked++
		return w.asWritten(ctx, commit, p)
	})
}

// converts reports whether git may convert a file on its way in or out, as far as that can be told without asking it.
func (w *Tree) converts(p string) bool {
	config := gitcmd.Contents(w.Repo.CommonDir(), []string{"config", "info/attributes"})
	if config[1] != "" || strings.Contains(config[0], "autocrlf") || strings.Contains(config[0], "attributesfile") {
		return true
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(dir), ".gitattributes")); err == nil {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// nothingStaged reports whether the index is as HEAD has it.
func (w *Tree) nothingStaged(ctx context.Context) (bool, error) {
	quiet := func() bool {
		_, err := w.git(ctx, nil, "diff", "--cached", "--quiet", "--ignore-submodules=none")
		return err == nil
	}
	if quiet() {
		return true, nil
	}
	unstaged, err := w.unstageConverted(ctx)
	return unstaged && err == nil && quiet(), err
}

func (w *Tree) headUnless(ctx context.Context, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return w.Head(ctx)
}

// unstageConverted takes files out of the index again that only git's conversions have changed, which is no work, and
// reports whether there were any.
func (w *Tree) unstageConverted(ctx context.Context) (bool, error) {
	out, err := w.git(ctx, nil, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=M", "-z", "HEAD", "--")
	if err != nil || len(out) == 0 {
		return false, err
	}
	staged := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	changed := w.unconverted(ctx, "HEAD", slices.Clone(staged))
	same := slices.DeleteFunc(staged, func(p string) bool { return slices.Contains(changed, p) })
	if len(same) == 0 {
		return false, nil
	}
	_, err = w.git(ctx, strings.NewReader(strings.Join(same, "\x00")), "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
	return true, err
}

// Converted reports whether what head has of a file is what git reads back of a checkout of base: then only git's conversions
// have changed it.
func (w *Tree) Converted(ctx context.Context, base, head, p string) bool {
	if !w.converts(p) {
		return false
	}
	written, err := w.Repo.Run(ctx, reanchor.Call{Args: []string{"cat-file", "--filters", base + ":" + p}, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return false
	}
	read, err := w.Repo.Run(ctx, reanchor.Call{Args: []string{"hash-object", "--path=" + p, "--stdin"}, Stdin: bytes.NewReader(written)})
	if err != nil {
		return false
	}
	has, err := w.Repo.Run(ctx, reanchor.Call{Args: []string{"rev-parse", "--verify", "--end-of-options", head + ":" + p}})
	return err == nil && bytes.Equal(bytes.TrimSpace(read), bytes.TrimSpace(has))
}
