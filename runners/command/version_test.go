package command_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"relay/runners/command"
	"relay/runners/process"
)

// executable is a file with a script that can be started. Nothing is started beside while it is written: that would hold
// it open for writing for a moment, and what is cannot be executed.
func executable(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProgramVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want, fault string }{
		{"claude", `echo "2.1.329 (Claude Code)"`, "2.1.329", ""},
		{"codex", `echo "codex-cli 0.169.0"`, "0.169.0", ""},
		{"a nightly one", `echo v0.62.0-nightly.20261121.ab12`, "0.62.0-nightly.20261121.ab12", ""},
		{"with noise", `echo "npm WARN 9.9.9" >&2; echo hello; echo 1.18.33`, "1.18.33", ""},
		{"with its own arguments", `test "$1$#" = --version1 && echo $1 1.2.3`, "1.2.3", ""},
		{"in its own environment", `echo "$MINE.$HOME" | tr -d /`, "4.5.6", ""},
		{"garbage", `printf 'I am \033[31mred\n'`, "", `answers --version with no version: "I am red"`},
		{"nothing", `true`, "", `answers --version with no version: ""`},
		{"refused", `echo 1.2.3; echo "unknown option" >&2; exit 2`, "", "refuses --version: exit status 2: unknown option"},
		{"hangs", `echo 1.2.3; exec tail -f /dev/null`, "", "does not answer --version within 1s"},
		{"asks", `read answer && echo 1.2.3`, "", "refuses --version: exit status 1"},
		{"floods", `exec yes 1.2.3`, "", "answers --version with too much output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program, wall := executable(t, "#!/bin/sh\n"+c.script+"\n"), 5*time.Minute
			if c.name == "hangs" {
				wall = time.Second
			}
			got, err := command.VersionOf(t.Context(), process.NewLocal(), command.VersionRequest{
				Argv: []string{"env", program}, Dir: t.TempDir(), Wall: wall,
				Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/6", "MINE=0", "MINE=4.5"},
			})
			var fault string
			if err != nil {
				fault = err.Error()
			}
			if got != c.want || fault != c.fault {
				t.Errorf("got %q (%s), want %q (%s)", got, fault, c.want, c.fault)
			}
		})
	}
}
