package attemptfiles_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/engine"
	"relay/orchestrator/repotest"
	"relay/reanchor"
)

// What an agent has written since its brief counts; of it the large files are removed that git does not track, but for those of git and
// of other repositories.
func TestGrown(t *testing.T) {
	t.Parallel()
	l := repotest.New(t)
	l.Git("init", "-q", "other")
	l.Write("old", strings.Repeat("x", 1<<20))
	l.Write("tracked", "old")
	l.Git("add", "tracked")
	l.Sh("find . -type f -exec touch -t 200001010000 {} +")
	a := engine.Attempt{Run: "r", Number: 1}
	a.Task.ID = "T1"
	files := attemptfiles.Of(t.TempDir(), a)
	if got := files.Grown(l.Root, files.Begun()); got != 0 {
		t.Errorf("before its agent began the attempt has written %d", got)
	}
	if err := os.MkdirAll(filepath.Join(files.Folder, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, size := range map[string]int{files.Brief: 100, filepath.Join(files.Folder, "out", "x"): 10} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written := map[string]int{"a/large": 2 << 20, "a/large.log": 1 << 20, "small": 1000, "tracked": 1 << 20, ".git/object": 1 << 20, "other/large": 1 << 20}
	for name, size := range written {
		l.Write(name, strings.Repeat("x", size))
	}
	if got, want := files.Grown(l.Root, files.Begun()), int64(6<<20+1110); got != want {
		t.Errorf("it has written %d, want %d", got, want)
	}
	repo, err := reanchor.OpenGit(t.Context(), l.Root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	if got := files.Drop(ctx, repo); got != "" {
		t.Errorf("while its agent works it says %q", got)
	}
	cancel(fmt.Errorf("%w: much", engine.ErrFilled))
	if got := files.Drop(ctx, repo); !strings.HasSuffix(got, ": 2 files of 3 MiB in all") {
		t.Errorf("it says %q", got)
	}
	for _, name := range []string{"old", "a/large", "a/large.log", "small", "tracked", ".git/object", "other/large"} {
		if got, want := attemptfiles.Exists(l.Path(name)), !strings.HasPrefix(name, "a/"); got != want {
			t.Errorf("%s is there: %t, want %t", name, got, want)
		}
	}
}
