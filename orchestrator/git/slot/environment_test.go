package slot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Programs of two slots share neither a compose project, nor ports, nor temporary files, and what the user has set stays.
func TestEnv(t *testing.T) {
	t.Parallel()
	pool := filepath.Join(t.TempDir(), "My App.x-0123456789abcdef")
	seen := map[string]string{}
	for _, name := range []string{"1", "2", "check-1", "check-2", "review-1", "recovery-1"} {
		dir := filepath.Join(pool, name)
		env := Env(dir, Checkout{}, []string{"HOME=/h"})
		t.Cleanup(func() { _ = os.RemoveAll(tempName(dir)) })
		if len(env) != 4 || !strings.HasPrefix(env[1], "COMPOSE_PROJECT_NAME=relay-my-app-x-0123456789abcdef-") {
			t.Fatalf("%s: %q", name, env)
		}
		for _, entry := range env[1:] {
			if other := seen[entry]; other != "" {
				t.Errorf("%s and %s both have %s", name, other, entry)
			}
			seen[entry] = name
		}
		folder := strings.TrimPrefix(env[3], "TMPDIR=")
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", folder, info, err)
		}
	}
	users := []string{"COMPOSE_PROJECT_NAME=mine", "RELAY_PORT_BASE=1", "TMPDIR=/tmp"}
	if got := Env(filepath.Join(pool, "1"), Checkout{}, users); !slices.Equal(got, users) {
		t.Errorf("got %q", got)
	}
}

// What the user's variables name of the checkout leads to the slot, as far as the slot has it.
func TestEnvLeadsToSlot(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "1")
	if err := os.MkdirAll(filepath.Join(dir, ".venv", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tempName(dir)) })
	home := Checkout{Root: "/home/ada/app", Python: []string{".", "src"}}
	got := Env(dir, home, []string{
		"PATH=/home/ada/app/.venv/bin:/home/ada/app/bin:/usr/bin", "VIRTUAL_ENV=/home/ada/app/.venv", "PYTHONPATH=/home/ada/app:/home/ada/app-2",
		"NOTE=/home/ada/app", "GOWORK=/home/ada/app/go.work",
	})
	want := []string{
		"PATH=" + dir + "/.venv/bin:/home/ada/app/bin:/usr/bin", "VIRTUAL_ENV=" + dir + "/.venv",
		"PYTHONPATH=" + dir + ":" + dir + "/src:" + dir + ":/home/ada/app-2", "NOTE=/home/ada/app", "GOWORK=/home/ada/app/go.work",
	}
	if !slices.Equal(got[:len(want)], want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
