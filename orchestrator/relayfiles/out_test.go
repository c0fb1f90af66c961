package relayfiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"relay/orchestrator/relayfiles"
	"relay/orchestrator/secrets"
)

// Only what is written by the name that one agent was given is its result: not what others put into its place, or into folders beside
// its own, also when the run was killed meanwhile. A result that relay has collected is where it was.
func TestOut(t *testing.T) {
	t.Parallel()
	const mark = "r/T1/1"
	for name, c := range map[string]struct {
		own, killed bool
		want        string
	}{
		"reported": {own: true, want: "own"}, "silent": {}, "killed": {own: true, killed: true, want: "own"}, "killed and silent": {killed: true},
	} {
		result := filepath.Join(t.TempDir(), "result.json")
		first, err := relayfiles.Out(result, mark, false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := relayfiles.Out(result, mark, false)
		if err != nil || first == out {
			t.Fatalf("%s: a turn writes to %s, as the one before: %v", name, out, err)
		}
		beside := filepath.Join(filepath.Dir(filepath.Dir(out)), "x")
		err = errors.Join(os.WriteFile(result, []byte("forged"), 0o600), os.Mkdir(beside, 0o700), os.WriteFile(filepath.Join(beside, "result.json"), []byte("forged"), 0o600))
		if c.own {
			err = errors.Join(err, os.WriteFile(out, []byte("own"), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.killed {
			if out, err = relayfiles.Out(result, mark, true); err != nil {
				t.Fatal(err)
			}
		}
		if err := relayfiles.Collect(new(secrets.Redactor), out, result); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(result); string(got) != c.want {
			t.Errorf("%s: the result is %q, want %q", name, got, c.want)
		}
		if left, _ := os.ReadDir(filepath.Dir(result)); len(left) != len(c.want)/3 {
			t.Errorf("%s: there is more than the result: %v", name, left)
		}
	}
	older := filepath.Join(t.TempDir(), "result.json")
	if out, err := relayfiles.Out(older, mark, true); err != nil || out != older {
		t.Errorf("of a result that was collected: %s, %v", out, err)
	}
}
