package sandbox_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"relay/runners/sandbox"
	"relay/runners/sandbox/sandboxtest"
)

// Variables by which the test starts itself as a program that probes, under a filter of system calls.
const (
	probeVariable  = "TEST_PROBE"
	filterVariable = "TEST_FILTER" // "namespaces", or "all": Landlock too
)

func TestMain(m *testing.M) {
	if os.Getenv(probeVariable) == "" {
		os.Exit(m.Run())
	}
	if which := os.Getenv(filterVariable); which != "" {
		sandboxtest.Filter(which == "all")
	}
	_ = json.NewEncoder(os.Stdout).Encode(sandbox.Try(context.Background(), os.Getenv("PATH")))
}

// What starts, and the true cause of what does not, are found on each kind of host.
func TestProbe(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	nobody := "setpriv --bounding-set -all --inh-caps -all --ambient-caps -all "
	for name, c := range map[string]struct {
		script    string // "$0" is the program that probes
		kind      sandbox.Kind
		why, mend string
	}{
		"as it is":           {`"$0"`, sandbox.Bubblewrap, "", ""},
		"without bubblewrap": {`PATH=/nowhere "$0"`, sandbox.Landlock, "not installed", "apt-get install bubblewrap"},
		"namespaces off": {
			`unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec ` + nobody + `"$0"' "$0"`, sandbox.Landlock,
			"user.max_user_namespaces is 0", "sysctl user.max_user_namespaces",
		},
		"in a container":            {filterVariable + `=namespaces "$0"`, sandbox.Landlock, "a seccomp filter", "docker run"},
		"in one on an older kernel": {filterVariable + `=all "$0"`, sandbox.None, "the kernel has no Landlock", "docker run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("sh", "-c", c.script, self)
			cmd.Env = append(os.Environ(), probeVariable+"=1")
			said, err := cmd.CombinedOutput()
			var p sandbox.Probe
			if err != nil || json.Unmarshal(said, &p) != nil {
				t.Fatalf("%v: %s", err, said)
			}
			if p.Kind != c.kind || !strings.Contains(p.Why, c.why) || !strings.Contains(p.Mend, c.mend) {
				t.Errorf("got %+v, want %q: %q: %q", p, c.kind, c.why, c.mend)
			}
		})
	}
}
