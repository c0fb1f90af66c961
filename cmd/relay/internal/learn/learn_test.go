package learn

import (
	"os"
	"path/filepath"
	"testing"
)

// What an editor has saved since the file was read is not overwritten.
func TestApplyKeepsWhatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "AGENTS.md")
	found := Finding{Files: []File{{Name: "AGENTS.md", New: true, path: path, mode: 0o644, after: "ours\n"}}}
	if err := os.WriteFile(path, []byte("theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "AGENTS.md was changed meanwhile: nothing has been added to it"
	if err := found.Apply(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got, _ := os.ReadFile(path); string(got) != "theirs\n" {
		t.Errorf("the file has %q", got)
	}
}
