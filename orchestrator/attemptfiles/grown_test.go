package attemptfiles_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/engine"
)

// What an agent has written since its brief counts; of it the large files are removed, but for those of git.
func TestGrown(t *testing.T) {
	t.Parallel()
	dir, checkout := t.TempDir(), t.TempDir()
	a := engine.Attempt{Run: "r", Number: 1}
	a.Task.ID = "T1"
	files := attemptfiles.Of(dir, a)
	write := func(path string, size int) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old, large, small, object := filepath.Join(checkout, "old"), filepath.Join(checkout, "a", "large"), filepath.Join(checkout, "small"), filepath.Join(checkout, ".git", "object")
	write(old, 1<<20)
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	if got := files.Grown(checkout); got != 0 {
		t.Errorf("before its agent began the attempt has written %d", got)
	}
	write(files.Brief, 100)
	write(large, 2<<20)
	write(small, 1000)
	write(object, 1<<20)
	write(filepath.Join(files.Folder, "out", "x"), 10)
	if got, want := files.Grown(checkout), int64(3<<20+1110); got != want {
		t.Errorf("it has written %d, want %d", got, want)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	if got := files.Drop(ctx, checkout); got != "" {
		t.Errorf("while its agent works it says %q", got)
	}
	cancel(fmt.Errorf("%w: much", engine.ErrFilled))
	if got := files.Drop(ctx, checkout); !strings.HasSuffix(got, ": 1 files of 2 MiB in all") {
		t.Errorf("it says %q", got)
	}
	for path, want := range map[string]bool{old: true, large: false, small: true, object: true} {
		if got := attemptfiles.Exists(path); got != want {
			t.Errorf("%s is there: %t, want %t", path, got, want)
		}
	}
}
