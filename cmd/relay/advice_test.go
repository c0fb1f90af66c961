package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Commands that look at what needs a person: typing them changes nothing.
var looking = regexp.MustCompile(`\brelay (show \S+( --[a-z]+)?|logs [A-Z]\S*|report|config relay\.\S+|ledger check)( --epic \S+)?`)

// without names scripts whose last state advice cannot be typed in, with the reason.
var without = map[string]string{"script-show-cause": "it removes the logs that relay names"}

// typeAdvice types each command that only looks and that relay status advises where a script has left a repository. Every one
// has to work. The script advice types the commands that check a cause.
func typeAdvice(env *testscript.Env) error {
	if _, err := os.Stat(filepath.Join(env.WorkDir, ".agents-os", "relay")); err != nil || without[filepath.Base(env.WorkDir)] != "" {
		return nil //nolint:nilerr // the script is not about an epic
	}
	run := func(args ...string) (string, int) {
		cmd := exec.Command("relay", args...)
		cmd.Dir, cmd.Env = env.WorkDir, env.Vars
		if path := os.Getenv("PATH"); path != "" {
			cmd.Path, _ = exec.LookPath("relay")
		}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	status, _ := run("status")
	_, advice, _ := strings.Cut(status, "needs you:")
	advice = strings.Join(strings.Fields(advice), " ")
	done := map[string]bool{}
	for _, line := range looking.FindAllString(advice, -1) {
		line = strings.TrimRight(line, ":;,.")
		if done[line] {
			continue
		}
		done[line] = true
		out, code := run(strings.Fields(line)[1:]...)
		if code != 0 {
			return fmt.Errorf("relay status advises %s, which ends with %d:\n%s\n%s", line, code, out, status)
		}
	}
	return nil
}
