package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// site has a project, a repository that all reach, a server and two hosts, each with a home of its own. All are real processes, and git is
// a program that stops at one step of an order, until it may go on.
type site struct {
	t       *testing.T
	dir     string
	step    string
	address string
	jobs    string
	procs   map[string]*exec.Cmd
}

const siteEpic = "20260101-site"

const sitePlan = `version: 2
id: ` + siteEpic + `
title: Site
tasks:
  T1: {title: One peculiar, checks: [test -f T1.txt]}
  T2: {title: Two, depends_on: [T1], checks: [test -f T2.txt]}
`

const siteAgents = `relay:
  runners: [worker]
  stop_grace_seconds: 1
  linger_seconds: 1
  backoff_seconds: 0.1
%s  agents:
    worker: {type: command, argv: [sh, agent.sh], result: exit}
`

// siteGate stops once, at the step that the site names, until a test lets it go on: the file at has who waits.
const siteGate = `gate() {
  [ "$1" = "%[1]s" ] && (set -C; echo $$ > %[2]s/at) 2>/dev/null || return 0
  until [ -e %[2]s/go ]; do sleep 0.02; done
  touch %[2]s/passed
}
`

// siteGit names the steps of an order.
const siteGit = `#!/bin/sh
%[1]s
step=none
case "$HOME $*" in
*/home\ *" push "*:refs/relay/orders/*:refs/relay/base/*) step=order-push ;;
*/build?\ *" fetch "*+refs/relay/orders/*) step=order-fetch ;;
*/build?\ *" rev-parse --show-object-format "*) (set -C; : > %[2]s/opened) 2>/dev/null || step=settings ;;
*/build?\ *" push "*[0-9a-f]:refs/relay/results/*) step=result-push ;;
*/home\ *" fetch "*+refs/relay/results/*) step=result-fetch ;;
*/home\ *" update-ref refs/heads/relay-tasks/"*) step=settle ;;
*/home\ *" update-ref --no-deref -- refs/relay-pin/"*) step=landing ;;
*/home\ *" update-ref --no-deref -d refs/heads/relay-tasks/"*) step=landed ;;
*/home\ *" push "*" :refs/relay/orders/"*) step=removal ;;
esac
gate $step-before
[ $step = none ] || from=$(date +%%s%%N)
%[3]s "$@"
code=$?
[ $step = none ] || echo $step $from $(($(date +%%s%%N) - from)) >> %[2]s/steps
[ $code = 0 ] || [ $step = none ] || touch %[2]s/failed
gate $step-after
exit $code
`

func newSite(t *testing.T, step, settings string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), step: step, jobs: "2", procs: map[string]*exec.Cmd{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	s.address = l.Addr().String()
	s.must(l.Close())
	t.Cleanup(s.end)
	real, err := exec.LookPath("git")
	s.must(err)
	seen := s.path("seen")
	gate := fmt.Sprintf(siteGate, step, seen)
	for name, text := range map[string]string{
		"seen/.keep": "", "git/git": fmt.Sprintf(siteGit, gate, seen, real), "project/.agents.yml": fmt.Sprintf(siteAgents, settings),
		"project/agent.sh":                  gate + "echo \"$RELAY_ATTEMPT\" >> " + seen + "/starts\ngate working\necho $RELAY_TASK >> $RELAY_TASK.txt\n",
		"project/.agents-os/relay/epic.yml": sitePlan,
		"home/.config/relay/machines.yml":   s.machines("hosts: [{name: build1, jobs: 2}, {name: build2}]"),
		"build1/.config/relay/machines.yml": s.machines("host: {name: build1}"),
		"build2/.config/relay/machines.yml": s.machines("host: {name: build2}"),
	} {
		s.must(write(s.path(name), text))
	}
	s.must(os.Chmod(s.path("git/git"), 0o755))
	s.run("git", "init", "-q", "--bare", s.path("remote.git"))
	s.run("git", "init", "-q", "-b", "main")
	s.must(write(s.path("project/.git/info/exclude"), ".agents-os/\n"))
	s.run("git", "add", "-A")
	s.run("git", "commit", "-q", "-m", "Begin")
	return s
}

func (s *site) machines(more string) string {
	return fmt.Sprintf("remote: %s\npatience: 20s\ntemporal: {address: '%s', heartbeat: 4s, beat: 300ms, queue: 20s}\n%s\n", s.path("remote.git"), s.address, more)
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) there(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

func (s *site) read(name string) string {
	text, err := os.ReadFile(s.path(name))
	if !errors.Is(err, fs.ErrNotExist) {
		s.must(err)
	}
	return string(text)
}

func (s *site) touch(name string) { s.must(write(s.path(name), "")) }

// command is one in the project, with the home folder of who runs it.
func (s *site) command(home, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.path("project")
	if !s.there("project") {
		cmd.Dir = s.dir
	}
	cmd.Env = append(os.Environ(), "HOME="+s.path(home), "PATH="+s.path("git")+":"+os.Getenv("PATH"), "TZ=UTC", "RELAY_SANDBOX=off", "RELAY_INHIBIT_SLEEP=false",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	return cmd
}

func (s *site) run(name string, args ...string) string {
	s.t.Helper()
	out, err := s.command("home", name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// start starts the server, the worker of a host, or by any other name relay at work with more environment.
func (s *site) start(name string, env ...string) {
	s.t.Helper()
	cmd := s.command("home", "relay-temporal", "work", "--jobs", s.jobs)
	switch {
	case name == "server":
		cmd = s.command("home", os.Getenv(serverVariable), "--listen", s.address, "--db", s.path("temporal.db"))
	case strings.HasPrefix(name, "build"):
		cmd = s.command(name, "relay-temporal", "worker", "--name", name, "--jobs", "2")
		if s.there("off/worker") {
			cmd.Path = s.path("off/worker")
		}
	case name == "small":
		cmd = s.command("build1", "unshare", "-m", "sh", "-c", smallDisk)
	case name == "nothing":
		cmd = s.command("build1", "nothing-worker")
	case name == "liar":
		cmd = s.command("build1", "lying-host")
	}
	log, err := os.OpenFile(s.path(name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	s.must(err)
	defer log.Close()
	before := strings.Count(s.read(name+".log"), " ready ") + strings.Count(s.read(name+".log"), "serving")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(append(cmd.Env, "ADDRESS="+s.address), env...)
	s.must(cmd.Start())
	s.procs[name] = cmd
	if name == "server" || strings.HasPrefix(name, "build") {
		s.await(name+" to be ready", func() bool {
			return strings.Count(s.read(name+".log"), " ready ")+strings.Count(s.read(name+".log"), "serving") > before
		})
	}
}

func (s *site) await(what string, so func() bool) {
	s.t.Helper()
	tick, end := time.NewTicker(20*time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-end:
			s.t.Fatalf("waited in vain for %s\n%s", what, s.logs())
		}
	}
}

// ended waits for the end of a process, and returns its exit code.
func (s *site) ended(name string) int {
	s.t.Helper()
	cmd := s.procs[name]
	timer := time.AfterFunc(2*time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) })
	defer timer.Stop()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// exited reports whether a process has ended: nothing has waited for it yet.
func (s *site) exited(name string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.procs[name].Process.Pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

// of lists the processes with a home folder whose environment or arguments have a text.
func (s *site) of(home, text string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	s.must(err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if strings.Contains("\x00"+string(environ), "\x00HOME="+s.path(home)+"\x00") && strings.Contains(string(environ)+"\x00"+string(args), text) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (s *site) pid(name string) string { return strconv.Itoa(s.procs[name].Process.Pid) }

// end kills all that is left of the site.
func (s *site) end() {
	for _, home := range []string{"build1", "build2", "home"} {
		for _, pid := range s.of(home, "") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for _, cmd := range s.procs {
		_ = cmd.Wait()
	}
}

func (s *site) logs() (out string) {
	files, _ := filepath.Glob(s.path("*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		out += "--- " + filepath.Base(file) + "\n" + string(text)
	}
	return out + "--- starts\n" + s.read("seen/starts")
}

// siteLedger is what the ledger of the run must have.
type siteLedger struct {
	TaskStatus map[string]string `yaml:"task_status"`
	Attempts   map[string][]struct {
		ID              int
		Run             string
		Result, Outcome string
		Charged         bool
		Receipt         struct {
			ErrorSummary string `yaml:"error_summary"`
		}
	}
}

func (s *site) ledger() (l siteLedger) {
	s.t.Helper()
	s.must(yaml.Unmarshal([]byte(s.read("project/.agents-os/relay/attempt-ledger.yml")), &l))
	return l
}
