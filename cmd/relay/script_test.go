package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"relay/cmd/relay/command"
	"relay/cmd/relay/internal/mcptest"
	"relay/orchestrator/engine/enginetest"
	"relay/runners/sandbox"
	"relay/runners/sandbox/sandboxtest"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what relay prints into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(withClaude{m}, map[string]func(){
		"relay": relayForTests,
		"ask":   askRaw,
		"bare":  bareHost,
		"once":  once,
		"mcp":   func() { os.Exit(mcptest.Run(context.Background(), os.Args[1:], os.Stdout)) },
	})
}

// withClaude runs tests with a stand-in for Claude Code beside relay.
type withClaude struct{ m *testing.M }

func (w withClaude) Run() int {
	folder, _, _ := strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator)) // testscript has put relay there
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", folder+string(os.PathSeparator), "relay/cmd/relay/internal/claudetest/claude")
	if said, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "there is no stand-in for claude: %v\n%s", err, said)
		return 1
	}
	return w.m.Run()
}

// wireVariable has relay pass all that its engine is asked and answers through JSON.
const wireVariable = "TEST_WIRE"

// programVariable names another relay that the scripts are to run: one with an engine more.
const programVariable = "TEST_RELAY"

func relayForTests() {
	if program := os.Getenv(programVariable); program != "" {
		fmt.Fprintln(os.Stderr, syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ()))
		os.Exit(1)
	}
	var o command.Options
	if os.Getenv(wireVariable) != "" {
		o.Wire = enginetest.JSON{}
	}
	os.Exit(command.Main(o))
}

// bareHost runs a command on a host on which no sandbox starts: bare relay work.
func bareHost() {
	sandboxtest.Filter(true)
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// full runs the scripts, too, that begin with [!full] skip: go test ./cmd/relay -args -full. They take long, or show more of what
// another one shows; .ci/run runs them all.
var full = flag.Bool("full", false, "run every script")

// TestScript runs relay as a user does: every file below testdata/script is one claim about it.
func TestScript(t *testing.T) {
	t.Parallel()
	ruled := causes{seen: map[string]bool{}}
	t.Cleanup(func() { ruled.wanted(t) })
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Defer(func() { ruled.collect(env.WorkDir) })
			env.Defer(func() {
				if err := typeAdvice(env); err != nil {
					t.Errorf("%s: %v", filepath.Base(env.WorkDir), err)
				}
			})
			return setUp(env)
		},
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "full":
				return *full, nil
			case "root":
				return os.Geteuid() == 0, nil
			case "bubblewrap":
				return bubblewrap(), nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"plain":  plain,
			"repo":   repo,
			"signal": signalAll,
			"ended":  endedWith,
			"await":  await,
			"big":    big,
			"forge":  forge,
			"ledger": agentsLedger,

			"collect": collect,
			"spans":   spans,
		},
	})
}

// bubblewrap reports whether it starts here.
var bubblewrap = sync.OnceValue(func() bool {
	return sandbox.Try(context.Background(), os.Getenv("PATH")).Kind == sandbox.Bubblewrap
})

// setUp gives every script a home, an identity for git and no configuration of the machine's.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "TZ": "UTC",
		"XDG_STATE_HOME":      env.WorkDir + "-state", // outside of the script's repository, and removed with the folder of all scripts
		"RELAY_INHIBIT_SLEEP": "false", wireVariable: "json",
		programVariable:       os.Getenv(programVariable),
		"RELAY_SANDBOX":       "require", // auto would leave the agents of scripts outside; they meet each other and the script in their home
		"RELAY_SANDBOX_WRITE": home,
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"),
		"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
	} {
		env.Setenv(name, value)
	}
	switch {
	case strings.HasPrefix(filepath.Base(env.WorkDir), "script-sandbox-"):
		env.Setenv("RELAY_SANDBOX", "")
	case !bubblewrap():
		env.Setenv("RELAY_SANDBOX", "off") // Landlock lets no process make files in a home with folders that others keep
	}
	env.Values[backgroundKey] = &background{}
	return nil
}

// exits runs a command and compares its exit code: exits 3 relay work.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// excluded are a script's own files, which are no part of its repository.
const excluded = "/home/\n/want*\n/got*\n/.tmp/\n/.agents-os/\n"

// repo makes the current folder a repository with everything in it committed.
func repo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main"))
	ts.Check(os.WriteFile(ts.MkAbs(".git/info/exclude"), []byte(excluded), 0o644))
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "--allow-empty", "-m", "Begin"))
}

// fleeting is what differs from run to run in relay's output.
var fleeting = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{4}`), "RUN"},
	{regexp.MustCompile(`\d{8}T\d{6}Z`), "TIME"},
	{regexp.MustCompile(`(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?`), "TIME"},
	{regexp.MustCompile(`\b\d\d:\d\d(:\d\d)?\b`), "TIME"},
	{regexp.MustCompile(`\b\d{8}-`), "DATE-"},
	{regexp.MustCompile(`\b[0-9a-f]{12,40}\b`), "HASH"},
	{regexp.MustCompile(`\b(\d+m)?\d+(\.\d+)? ?s\b`), "SPAN"},
	{regexp.MustCompile(`process \d+ on \S+`), "process PID on HOST"},
	{regexp.MustCompile(`process \d+`), "process PID"},
	{regexp.MustCompile(`\d+\.\d GiB free`), "N GiB free"},
	{regexp.MustCompile(`(?m)^TIME note: sandbox: (?:bubblewrap|Landlock|none)\b.*\n`), ""}, // of the host
	{regexp.MustCompile(`"(seconds|pid)": [0-9.e-]+`), `"$1": N`},
	{regexp.MustCompile(`"host": "[^"]*"`), `"host": "HOST"`},
}

// plain writes an output without what differs from run to run to a file: plain stdout got.
func plain(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	text = slots.ReplaceAllString(text, "$$SLOTS$1")
	text = strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")
	for _, f := range fleeting {
		text = f.pattern.ReplaceAllString(text, f.name)
	}
	text = regexp.MustCompile(`\S*/testscript-main\d+`).ReplaceAllString(text, "TESTBIN")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// slots is the folder of a repository's worktrees.
var slots = regexp.MustCompile(`/[^\s"]*-state/relay/worktrees/[^\s/"]*-[0-9a-f]{16}(-plans|-forks|)`)

type backgroundName struct{}

var backgroundKey backgroundName

// background remembers the commands a script has sent a signal, to ask for their exit codes later.
type background struct{ commands []*exec.Cmd }

// signalAll sends a signal to the commands in the background: signal TERM.
func signalAll(ts *testscript.TestScript, _ bool, args []string) {
	b := ts.Value(backgroundKey).(*background)
	b.commands = ts.BackgroundCmds()
	if len(b.commands) == 0 {
		ts.Fatalf("nothing runs in the background")
	}
	for _, c := range b.commands {
		ts.Check(c.Process.Signal(signalNamed(ts, args[0])))
	}
}

// endedWith compares the exit code of the command that was sent a signal, after wait: ended 143.
func endedWith(ts *testscript.TestScript, _ bool, args []string) {
	for _, c := range ts.Value(backgroundKey).(*background).commands {
		if got := strconv.Itoa(c.ProcessState.ExitCode()); got != args[0] {
			ts.Fatalf("exit code %s, want %s", got, args[0])
		}
	}
}

// patience is how long a test waits for what must come. It is never a part of what a test shows: a busy machine needs time.
const patience = 3 * time.Minute

// await waits until a file holds what a pattern describes: await PATTERN FILE. A glob names the first file it matches.
func await(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		names, err := filepath.Glob(ts.MkAbs(args[1]))
		ts.Check(err)
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && pattern.Match(data) {
				return
			}
		}
		select {
		case <-deadline:
			ts.Fatalf("%s never matched %s", args[1], args[0])
		case <-tick.C:
		}
	}
}

// big writes an epic: big epic TASKS FILE, or one task with a long description: big description BYTES FILE.
func big(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var text strings.Builder
	text.WriteString("version: 2\nid: 20260101-big\ntitle: Big\ntasks:\n")
	if args[0] == "description" {
		fmt.Fprintf(&text, "  T1:\n    title: Long\n    description: %q\n", strings.Repeat("All work and no play. ", n/22+1))
	} else {
		for i := range n {
			fmt.Fprintf(&text, "  T%d:\n    title: Task %d\n", i, i)
		}
	}
	path := ts.MkAbs(args[2])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, []byte(text.String()), 0o644))
}

// forge replaces text in the event log that was written last, and writes the checksums that then belong to its lines, and with linked their
// links; with bare it removes these: forge OLD NEW [linked|bare].
func forge(ts *testscript.TestScript, _ bool, args []string) {
	logs, err := filepath.Glob(ts.MkAbs(".agents-os/relay/runs/*/events.jsonl"))
	ts.Check(err)
	written := func(path string) time.Time { // two runs of one second have names in any order
		info, err := os.Stat(path)
		ts.Check(err)
		return info.ModTime()
	}
	path := slices.MaxFunc(logs, func(a, b string) int { return written(a).Compare(written(b)) })
	old := ts.ReadFile(path)
	if !strings.Contains(old, args[0]) {
		ts.Fatalf("%s does not hold %s", path, args[0])
	}
	const sum = len(`{"crc":"01234567",`)
	var forged strings.Builder
	links, linked := regexp.MustCompile(`,"link":"[^"]*"`), ""
	for line := range strings.Lines(strings.ReplaceAll(old, args[0], args[1])) {
		rest := strings.TrimSuffix(line[sum:], "\n")
		if len(args) > 2 {
			rest = links.ReplaceAllString(rest, map[string]string{"linked": `,"link":"` + linked + `"`}[args[2]])
		}
		text := fmt.Sprintf(`{"crc":"%08x",%s`, crc32.Checksum([]byte(rest), crc32.MakeTable(crc32.Castagnoli)), rest)
		linked = fmt.Sprintf("%x", sha256.Sum256([]byte(linked+text)))[:32]
		forged.WriteString(text + "\n")
	}
	ts.Check(os.WriteFile(path, []byte(forged.String()), 0o600))
}
