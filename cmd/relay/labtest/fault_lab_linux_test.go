package labtest

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// lab is a repository with an epic, a home of its own and an agent that is a shell script: relay and everything it
// starts there are real processes, and all of them can be found again by the lab's HOME.
type lab struct {
	t    *testing.T
	root string // the checkout
	home string
	env  []string
}

// agentPrelude is what every agent of a lab begins with: it notes its start and knows how to claim.
const agentPrelude = `brief=$(cat)
n=${RELAY_ATTEMPT##*/}
echo "$RELAY_ATTEMPT" >> "$HOME/starts"
told() { case $brief in *"$1"*) return 0;; esac; return 1; }
ok() { printf '{"status":"success","summary":"%s"}' "${1:-done}" > "$RELAY_RESULT"; }
bad() { printf '{"status":"failure","summary":"no","error_summary":"%s"}' "$1" > "$RELAY_RESULT"; }
hang() { touch "$HOME/up"; while :; do sleep 600; done; }
`

const labSettings = `relay:
  runners: [fake]
  stop_grace_seconds: 0.3
  linger_seconds: 1
  backoff_seconds: 0.02
  agents:
    fake: {type: command, argv: [sh, %q], result: final}
`

// newLab makes a repository with a plan and an agent. The agent's script is the tail of a shell script.
func newLab(t *testing.T, plan, agent string) *lab {
	t.Helper()
	return newLabAt(t, filepath.Join(t.TempDir(), "work"), plan, agent)
}

func newLabAt(t *testing.T, root, plan, agent string) *lab {
	t.Helper()
	sample(t)
	l := &lab{t: t, root: root, home: filepath.Join(filepath.Dir(root), "home")}
	l.env = []string{
		"RELAY_SANDBOX=off", // what relay holds without one, as on hosts where none starts
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.home, "TZ=UTC", "LC_ALL=C.UTF-8", "TERM=dumb", "TMPDIR=" + t.TempDir(),
		"RELAY_ISOLATION=none", "RELAY_INHIBIT_SLEEP=false", "RELAY_DISK_FLOOR_MIB=0", "RELAY_MEMORY_FLOOR_MIB=0", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(l.home, ".gitconfig"),
	}
	l.write(filepath.Join(l.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n")
	l.settings(fmt.Sprintf(labSettings, filepath.Join(l.home, "agent.sh")))
	l.agent(agent)
	l.write("seed.txt", "seed\n")
	l.write(".agents-os/relay/.gitignore", "*\n")
	l.write(".agents-os/relay/epic.yml", plan)
	l.git("init", "-q", "--template=")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Begin")
	t.Cleanup(l.burn)
	return l
}

// sample leaves seven of eight cases out with -short, which is for a look while one works.
func sample(t *testing.T) {
	t.Helper()
	if testing.Short() && crc32.ChecksumIEEE([]byte(t.Name()))%8 != 0 {
		t.Skip("one of eight runs with -short")
	}
}

// settings writes the user's configuration, outside the repository.
func (l *lab) settings(text string) { l.write(filepath.Join(l.home, ".config/relay/agents.yml"), text) }

// agent replaces what the agent does.
func (l *lab) agent(script string) {
	l.write(filepath.Join(l.home, "agent.sh"), agentPrelude+script)
}

// path is a path in the checkout, or an absolute one as it is.
func (l *lab) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(l.root, name)
}

func (l *lab) inHome(name string) string { return filepath.Join(l.home, name) }

// slots returns the worktrees that are there.
func (l *lab) slots() []string {
	found, _ := filepath.Glob(l.inHome(".local/state/relay/worktrees/*/*")) // the pattern is a good one
	return found
}

func (l *lab) write(name, text string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(l.path(name)), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(l.path(name), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// read returns a file's text, and "" when there is none.
func (l *lab) read(name string) string {
	l.t.Helper()
	text, err := os.ReadFile(l.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.t.Fatal(err)
	}
	return string(text)
}

func (l *lab) git(args ...string) string {
	l.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir, cmd.Env = l.root, l.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// night is a relay at work.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	done           chan struct{}
}

// prepared is relay, not yet started, with more environment.
func (l *lab) prepared(env []string, args ...string) *running {
	r := &running{cmd: exec.Command("relay", args...), done: make(chan struct{})}
	r.cmd.Dir, r.cmd.Env = l.root, append(append([]string{}, l.env...), env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	return r
}

// stdless is the command with streams that somebody else gives it.
func (r *running) stdless() *exec.Cmd {
	r.cmd.Stdout, r.cmd.Stderr = nil, nil
	return r.cmd
}

func (l *lab) begin(r *running) *running {
	l.t.Helper()
	if err := r.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait()
	}()
	return r
}

// start starts relay.
func (l *lab) start(args ...string) *running {
	l.t.Helper()
	return l.begin(l.prepared(nil, args...))
}

// run runs relay to its end.
func (l *lab) run(args ...string) *running {
	l.t.Helper()
	r := l.start(args...)
	l.end(r)
	return r
}

// work runs relay work and wants an exit code.
func (l *lab) work(want int) *running {
	l.t.Helper()
	r := l.run("work")
	r.wants(l.t, want)
	return r
}

func (l *lab) end(r *running) {
	l.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		_ = r.cmd.Process.Signal(syscall.SIGQUIT)
		<-r.done
		l.t.Fatalf("relay did not end within %s\n%s", patience, r.stderr.String())
	}
}

// code is the exit code, or -1 when a signal ended it.
func (r *running) code() int { return r.cmd.ProcessState.ExitCode() }

func (r *running) wants(t *testing.T, code int) {
	t.Helper()
	if got := r.code(); got != code {
		t.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", got, code, r.stdout.String(), r.stderr.String())
	}
}

// says wants a text on stdout or stderr.
func (r *running) says(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(r.stdout.String()+r.stderr.String(), text) {
		t.Errorf("relay does not say %q\nstdout:\n%s\nstderr:\n%s", text, r.stdout.String(), r.stderr.String())
	}
}

func (r *running) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// halt has processes stand still, and waits until they do: for a moment after the signal some threads still run.
func (l *lab) halt(pids ...int) {
	l.t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			l.t.Fatal(err)
		}
	}
	l.await("everybody to stand still", func() bool {
		return !slices.ContainsFunc(pids, func(pid int) bool {
			state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err == nil && !strings.Contains(string(state), ") T ")
		})
	})
}

// await waits for something that will be so in a moment.
func (l *lab) await(what string, so func() bool) {
	l.t.Helper()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !so() {
		select {
		case <-limit:
			l.t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// awaitFile waits for a file, which is how agents say that they are up.
func (l *lab) awaitFile(name string) {
	l.t.Helper()
	l.await(name, func() bool { return git.Exists(l.path(name)) })
}

// ledgerFile is attempt-ledger.yml as a program that knows nothing of relay reads it.
type ledgerFile struct {
	TaskStatus map[string]string          `yaml:"task_status"`
	Attempts   map[string][]ledgerAttempt `yaml:"attempts"`
	Gated      map[string]struct {
		Reason, Detail string
	} `yaml:"gated_tasks"`
	Status struct {
		State  string
		Code   int    `yaml:"last_exit_code"`
		Reason string `yaml:"last_exit_reason"`
	} `yaml:"relay_status"`
}

type ledgerAttempt struct {
	ID                         int
	Result, Outcome, Run, Head string
	Runner                     string
	Charged                    bool
	Usage                      struct {
		In        int     `yaml:"input_tokens"`
		Out       int     `yaml:"output_tokens"`
		USD       float64 `yaml:"cost_usd"`
		Estimated bool
		Listed    bool `yaml:"list_priced"`
	}
	Receipt struct {
		Summary       string
		Files         []string `yaml:"files_changed"`
		Looks         []struct{ Cause, Text string }
		ErrorCategory string `yaml:"error_category"`
		ErrorSummary  string `yaml:"error_summary"`
		ResultFrom    string `yaml:"result_from"`
		Salvage       string
	}
}

// ledger reads attempt-ledger.yml, which is whole YAML at every instant.
func (l *lab) ledger() ledgerFile {
	l.t.Helper()
	var f ledgerFile
	if err := yaml.Unmarshal([]byte(l.read(".agents-os/relay/attempt-ledger.yml")), &f); err != nil {
		l.t.Fatalf("attempt-ledger.yml is no YAML: %v", err)
	}
	return f
}

// last is the newest attempt of a task in the ledger.
func (l *lab) last(task string) ledgerAttempt {
	l.t.Helper()
	list := l.ledger().Attempts[task]
	if len(list) == 0 {
		l.t.Fatalf("the ledger knows no attempt of %s", task)
	}
	return list[len(list)-1]
}

// clean wants a checkout without a change.
func (l *lab) clean() {
	l.t.Helper()
	if got := l.git("status", "--porcelain", "--untracked-files=all"); got != "" {
		l.t.Errorf("the checkout is not clean:\n%s", got)
	}
	if got := l.git("symbolic-ref", "HEAD"); got != "refs/heads/main" {
		l.t.Errorf("HEAD is %s, want refs/heads/main", got)
	}
}

// commits wants the subjects of the branch, oldest first, after the first commit.
func (l *lab) commits(want ...string) {
	l.t.Helper()
	got := l.git("log", "--reverse", "--format=%s", "main")
	if want := strings.Join(append([]string{"Begin"}, want...), "\n"); got != want {
		l.t.Errorf("commits on the branch:\n%s\nwant:\n%s", got, want)
	}
}

// starts are the marks of the agents that were started, in order.
func (l *lab) starts() []string { return strings.Fields(l.read(l.inHome("starts"))) }

// alive lists processes of this lab that match, by what is in their environment and arguments.
func (l *lab) alive(match func(pid int, environ, args string) bool) []int {
	l.t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		l.t.Fatal(err)
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if len(args) > 0 && match(pid, "\x00"+string(environ), string(args)) {
			found = append(found, pid)
		}
	}
	return found
}

// agents are the processes of this lab that carry the mark of an attempt.
func (l *lab) agents() []int {
	return l.alive(func(_ int, environ, _ string) bool {
		return strings.Contains(environ, "\x00HOME="+l.home+"\x00") && strings.Contains(environ, "\x00RELAY_ATTEMPT=")
	})
}

// guardians are the guardians of this lab.
func (l *lab) guardians() []int {
	return l.alive(func(_ int, environ, args string) bool {
		return strings.Contains(environ, "\x00HOME="+l.home+"\x00") && strings.Contains(args, "\x00"+cli.GuardianCommand)
	})
}

// gits are the processes of git in this lab: those of a relay that was killed end by themselves.
func (l *lab) gits() []int {
	return l.alive(func(_ int, environ, args string) bool {
		program, _, _ := strings.Cut(args, "\x00")
		return strings.Contains(environ, "\x00HOME="+l.home+"\x00") && filepath.Base(program) == "git"
	})
}

// quiet wants that nothing of this lab is left: neither agents, nor a guardian, nor git.
func (l *lab) quiet() {
	l.t.Helper()
	l.await("the last agent to be gone", func() bool { return len(l.agents()) == 0 })
	l.await("the guardian to be gone", func() bool { return len(l.guardians()) == 0 })
	l.await("the last git to be gone", func() bool { return len(l.gits()) == 0 })
}

// burn ends what a failed test has left running.
func (l *lab) burn() {
	for _, pid := range l.alive(func(_ int, environ, _ string) bool { return strings.Contains(environ, "\x00HOME="+l.home+"\x00") }) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// fingerprint is every file below relay's folder with its size and time: who only looks changes nothing.
func (l *lab) fingerprint() string {
	l.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(l.path(".agents-os"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(&b, "%s %s %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return b.String()
}

// looks wants that relay status works and writes nothing.
func (l *lab) looks() {
	l.t.Helper()
	before := l.fingerprint()
	r := l.run("status")
	r.wants(l.t, terminal.OK)
	if after := l.fingerprint(); after != before {
		l.t.Errorf("relay status wrote:\n%s\nbefore:\n%s", after, before)
	}
}
