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
)

// eachWritten calls f with each regular file below a folder that was written since an instant.
func eachWritten(dir string, since time.Time, f func(path string, size int64)) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // the agent works there
		}
		if info, err := d.Info(); err == nil && !info.ModTime().Before(since) {
			f(path, info.Size())
		}
		return nil
	})
}

// Grown returns how many bytes the attempt has written below its files and in a checkout; 0 if no agent has begun.
func (p Files) Grown(checkout string) (bytes int64) {
	since := p.Begun()
	for _, dir := range []string{p.Folder, checkout} {
		if !since.IsZero() {
			eachWritten(dir, since, func(_ string, size int64) { bytes += size })
		}
	}
	return bytes
}

// kept is the size from which a file is removed in an attempt that has filled the disk: its code is kept.
const kept = 64 << 10

// Drop removes the large files that the attempt has written in a checkout, but for those of git, and says so. It does nothing unless the
// attempt was cancelled with [engine.ErrFilled].
func (p Files) Drop(ctx context.Context, checkout string) (said string) {
	if !errors.Is(context.Cause(ctx), engine.ErrFilled) {
		return ""
	}
	n, bytes, gits := 0, int64(0), filepath.Join(checkout, ".git")+string(filepath.Separator)
	eachWritten(checkout, p.Begun(), func(path string, size int64) {
		if size >= kept && !strings.HasPrefix(path, gits) && os.Remove(path) == nil {
			n, bytes = n+1, bytes+size
		}
	})
	return fmt.Sprintf("the disk was full, so relay removed files of over %d KiB that the agent had written: %d files of %d MiB in all", kept>>10, n, bytes>>20)
}
