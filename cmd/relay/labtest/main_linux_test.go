// Package labtest runs relay as a program in a lab: a repository with a plan, a home of its own, and agents that are shell
// scripts or real CLIs. Faults, hostile agents, random runs and scored ones belong here; what one command prints belongs
// to the scripts of cmd/relay.
package labtest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// program is for machines without Go, and for users that may not read its caches.
var program = flag.String("relay", "", "the relay to test; built when there is none")

// What takes long does not run with go test ./...: with -more, which .ci/run gives, each claim runs at least once, and with -full,
// which .ci/long gives, every case of each table.
var (
	more = flag.Bool("more", false, "run what takes long, too")
	full = flag.Bool("full", false, "run every case, the whole kill matrix and the large floods")

	wall   = flag.String("wall", "", "the sandbox that real agent CLIs run in: bubblewrap or Landlock")
	update = flag.Bool("update", false, "write the page of attacks")
)

// runsMore reports whether the tests that take long run. The race detector runs those that it is asked for.
func runsMore() bool { return *more || *full || raceEnabled }

// needsMore skips a test that takes long and is seldom the first to fail.
func needsMore(t *testing.T) {
	t.Helper()
	if !runsMore() {
		t.Skip("it takes long; with -args -more it runs")
	}
}

// needsFull skips a test that only -full or the race detector runs.
func needsFull(t *testing.T) {
	t.Helper()
	if !*full && !raceEnabled {
		t.Skip("it takes long; with -args -full it runs")
	}
}

// onlyFirst skips a case of a table unless it is one of the first, or all are asked for.
func onlyFirst(t *testing.T, name string, first ...string) {
	t.Helper()
	if !runsMore() {
		first = first[:min(len(first), 2)]
	}
	if !*full && !slices.Contains(first, name) {
		t.Skip("with -args -full it runs")
	}
}

// patience is how long a test waits for what must come. It is never a part of what a test shows: a busy machine needs time.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	testscript.Main(withRelay{m}, map[string]func(){"scored-agent": scoredAgent, "history-agent": historyAgent, "project-agent": projectAgent, "filtered": filtered})
}

// withRelay runs tests with relay first on the PATH.
type withRelay struct{ m *testing.M }

func (w withRelay) Run() int {
	flag.Parse()
	folder, err := os.MkdirTemp("", "relay-labtest-")
	if err == nil {
		defer os.RemoveAll(folder)
		err = install(filepath.Join(folder, "relay"))
	}
	if err == nil {
		err = os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "relay cannot be tested:", err)
		return 1
	}
	return w.m.Run()
}

// install puts relay at a path, built as the tests are.
func install(path string) error {
	if *program != "" {
		from, err := filepath.Abs(*program)
		if err != nil {
			return err
		}
		return os.Symlink(from, path)
	}
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", path}
	if raceEnabled {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "relay/cmd/relay")...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
