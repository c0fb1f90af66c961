package attemptfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// written is how many bytes the regular files below a folder have that were written since an instant.
func written(dir string, since time.Time) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // the agent works there
		}
		if info, err := d.Info(); err == nil && !info.ModTime().Before(since) {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Grown returns how many bytes were written below the attempt's files and in a checkout since an instant; 0 if that is zero.
func (p Files) Grown(checkout string, since time.Time) (bytes int64) {
	for _, dir := range []string{p.Folder, checkout} {
		if !since.IsZero() {
			bytes += written(dir, since)
		}
	}
	return bytes
}

// kept is the size from which a file is removed in an attempt that has filled the disk: its code is kept.
const kept = 64 << 10

// Drop removes the large files that the agent has written in a checkout and git does not track, and says so. It does nothing unless the
// attempt was cancelled with [engine.ErrFilled].
func (p Files) Drop(ctx context.Context, checkout *reanchor.Git) (said string) {
	if !errors.Is(context.Cause(ctx), engine.ErrFilled) {
		return ""
	}
	call := reanchor.Call{Args: []string{"ls-files", "--others", "-z"}, Limit: gitcmd.MaxPrinted}
	list, err := checkout.Run(context.WithoutCancel(ctx), call)
	if err != nil {
		return "the disk was full, but relay removed no files: " + err.Error()
	}
	n, bytes := 0, int64(0)
	for path := range strings.SplitSeq(string(list), "\x00") {
		path = filepath.Join(checkout.Root(), path)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() < kept || info.ModTime().Before(p.Begun()) {
			continue
		}
		if os.Remove(path) == nil {
			n, bytes = n+1, bytes+info.Size()
		}
	}
	return fmt.Sprintf("the disk was full, so relay removed files of over %d KiB that the agent had written: %d files of %d MiB in all", kept>>10, n, bytes>>20)
}
