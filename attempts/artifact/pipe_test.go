package artifact

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe would keep the reader for ever.
func TestPipeIsNotOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.yaml")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadFile(path); err == nil {
		t.Error("a pipe was read")
	}
}
