package relayfiles_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"relay/orchestrator/relayfiles"
)

// TestMakeRoom: files can be made anew in a folder that is new, and in one in which an agent has put a folder, a link and a file where
// they go.
func TestMakeRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	attempt := filepath.Join(dir, "runs", "r", "T1", "1")
	names := []string{"brief.md", "end.json", "token", "other"}
	var files []string
	for _, name := range names {
		files = append(files, filepath.Join(attempt, name))
	}
	if err := relayfiles.MakeRoom(dir, files...); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(attempt); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("no folder is made: %v", err)
	}
	err := errors.Join(os.MkdirAll(filepath.Join(files[0], "below"), 0o700), os.Symlink(dir, files[1]), os.WriteFile(files[2], nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if err := relayfiles.MakeRoom(dir, append(files, filepath.Join(attempt, "fix-1", "brief.md"))...); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", file, err)
		}
	}
	if _, err := os.Stat(filepath.Join(attempt, "fix-1")); err != nil {
		t.Error(err)
	}
}
