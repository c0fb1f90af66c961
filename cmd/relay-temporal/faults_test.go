package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serverVariable names the variable with the path of the server that tests use.
const serverVariable = "TEMPORAL_SERVER"

// TestTemporal has hosts get their orders by a real server, and kills, freezes and stops what takes part.
func TestTemporal(t *testing.T) {
	t.Parallel()
	server := os.Getenv(serverVariable)
	if server == "" {
		t.Skipf("SKIPPED: %s does not name a built relay-temporal-server; .ci/long temporal builds it", serverVariable)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/temporal", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			p := &procs{byName: map[string]*exec.Cmd{}}
			env.Defer(p.end)
			env.Values[procsKey] = p
			env.Setenv("SERVER", server)
			return errors.Join(setUp(env), nameServer(env, "4s"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "repo": repo, "await": await, "heartbeat": heartbeat, "tls": withTLS,
			"start": startProc, "send": sendProc, "ends": endsProc, "says": saysProc, "waits": waits,
		},
	})
}

type procsKeyType struct{}

var procsKey = procsKeyType{}

// procs has the processes that a script started. Each one prints to NAME.log.
type procs struct {
	mu     sync.Mutex
	byName map[string]*exec.Cmd
}

func (p *procs) end() {
	for _, cmd := range p.byName {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
}

// nameServer has the user and both hosts use a server on a free port.
func nameServer(env *testscript.Env, beats string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	env.Setenv("ADDRESS", l.Addr().String())
	for _, home := range []string{"home", "build1", "build2"} {
		path := filepath.Join(env.WorkDir, home, ".config/relay/machines.yml")
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		more := fmt.Sprintf("temporal: {address: '%s', heartbeat: %s, beat: 300ms, queue: 20s}\n", l.Addr(), beats)
		if err := os.WriteFile(path, append(text, more...), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// heartbeat sets the heartbeat in all settings: heartbeat 1m.
func heartbeat(ts *testscript.TestScript, _ bool, args []string) {
	rewrite(ts, "heartbeat: 4s", "heartbeat: "+args[0])
}

// withTLS has all use the certificates of a folder.
func withTLS(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	rewrite(ts, "temporal: {", fmt.Sprintf("temporal: {tls: {ca: %s/ca.pem, cert: %s/client.pem, key: %s/client-key.pem}, ", dir, dir, dir))
}

func rewrite(ts *testscript.TestScript, from, to string) {
	for _, home := range []string{"home", "build1", "build2"} {
		path := filepath.Join(ts.Getenv("WORK"), home, ".config/relay/machines.yml")
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600))
	}
}

// startProc starts a process by a name: start server [ARGS…], start build1 [ARGS…] (its worker), start NAME COMMAND….
func startProc(ts *testscript.TestScript, _ bool, args []string) {
	p, name, home := ts.Value(procsKey).(*procs), args[0], ts.Getenv("HOME")
	switch {
	case name == "server":
		args = append([]string{ts.Getenv("SERVER"), "--listen", ts.Getenv("ADDRESS"), "--db", filepath.Join(ts.Getenv("WORK"), "temporal.db")}, args[1:]...)
	case strings.HasPrefix(name, "build"):
		home = filepath.Join(ts.Getenv("WORK"), name)
		args = append([]string{"relay-temporal", "worker", "--name", name, "--jobs", "2"}, args[1:]...)
	default:
		args = args[1:]
	}
	path := args[0]
	if !strings.Contains(path, "/") {
		out := ts.Getenv("PATH")
		for _, dir := range filepath.SplitList(out) {
			if is, err := os.Stat(filepath.Join(dir, args[0])); err == nil && !is.IsDir() {
				path = filepath.Join(dir, args[0])
				break
			}
		}
	}
	log, err := os.OpenFile(logOf(ts, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	defer log.Close()
	cmd := exec.Command(path, args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, ts.MkAbs(".")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "HOME="+home)
	for _, key := range []string{
		"PATH", "XDG_STATE_HOME", "SEEN", "REMOTE", "RELAY_SANDBOX", "RELAY_INHIBIT_SLEEP", "GIT_CONFIG_NOSYSTEM", "WORK", "TZ",
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "HOST_TOKEN",
	} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	ts.Check(cmd.Start())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byName[name] = cmd
}

func logOf(ts *testscript.TestScript, name string) string {
	return filepath.Join(ts.Getenv("WORK"), name+".log")
}

// sendProc sends a signal: send KILL build1.
func sendProc(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{
		"KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT,
	}
	cmd := ts.Value(procsKey).(*procs).byName[args[1]]
	ts.Check(syscall.Kill(cmd.Process.Pid, signals[args[0]]))
	if args[0] == "KILL" {
		_ = cmd.Wait()
	}
}

// endsProc waits for the end of a process and compares its exit code: ends decider 0.
func endsProc(ts *testscript.TestScript, _ bool, args []string) {
	cmd := ts.Value(procsKey).(*procs).byName[args[0]]
	timer := time.AfterFunc(2*time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	_ = cmd.Wait()
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("%s ended with %s, want %s\n%s", args[0], got, args[1], allLogs(ts))
	}
}

// saysProc waits until a process has printed a line: says decider 'T1 completed'. With ! it looks once that it has not.
func saysProc(ts *testscript.TestScript, neg bool, args []string) {
	find := regexp.MustCompile(args[1])
	said := func() bool {
		text, _ := os.ReadFile(logOf(ts, args[0]))
		return find.Match(text)
	}
	if neg {
		if said() {
			ts.Fatalf("%s says %s\n%s", args[0], args[1], allLogs(ts))
		}
		return
	}
	until(ts, said, args[0]+" does not say "+args[1])
}

// waits waits until a shell command succeeds.
func waits(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, func() bool { return ts.Exec("sh", "-c", args[0]) == nil }, "in vain: "+args[0])
}

func until(ts *testscript.TestScript, done func() bool, why string) {
	tick, end := time.NewTicker(50*time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-end:
			ts.Fatalf("%s\n%s", why, allLogs(ts))
		}
	}
}

func allLogs(ts *testscript.TestScript) string {
	files, _ := filepath.Glob(filepath.Join(ts.Getenv("WORK"), "*.log"))
	out := ""
	for _, file := range files {
		text, _ := os.ReadFile(file)
		out += "--- " + filepath.Base(file) + "\n" + string(text)
	}
	return out
}
