package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"relay-temporal": main, "lying-host": lyingHost, "nothing-worker": nothingWorker})
}

// TestScript runs relay-temporal as a user does. The hosts are processes on this machine, each with a home of its own.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setUp, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "repo": repo, "await": await, "killed": killed,
		},
	})
}

const hostSettings = "remote: %s\npatience: 20s\nhost: {name: %s}\n"

// setUp makes a bare repository and two hosts, and names them in the settings of the user.
func setUp(env *testscript.Env) error {
	home, remote := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "remote.git")
	for name, value := range map[string]string{
		"HOME": home, "REMOTE": remote, "TZ": "UTC", "RELAY_SANDBOX": "off", "RELAY_INHIBIT_SLEEP": "false",
		"XDG_STATE_HOME":      env.WorkDir + "-state",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com", "SEEN": filepath.Join(env.WorkDir, "seen"),
	} {
		env.Setenv(name, value)
	}
	text := fmt.Sprintf("remote: %s\npatience: 20s\nhosts:\n", remote)
	for i, name := range []string{"build1", "build2"} {
		of := filepath.Join(env.WorkDir, name)
		text += fmt.Sprintf("- {name: %s, jobs: %d, home: %s}\n", name, 2-i, of)
		if err := write(filepath.Join(of, ".config/relay/machines.yml"), fmt.Sprintf(hostSettings, remote, name)); err != nil {
			return err
		}
	}
	out, err := exec.Command("git", "init", "-q", "--bare", remote).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return errors.Join(write(filepath.Join(home, ".config/relay/machines.yml"), text), os.MkdirAll(filepath.Join(env.WorkDir, "seen"), 0o755))
}

func write(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600))
}

// exits runs a command and compares its exit code: exits 3 relay-temporal work.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// repo makes the folder project a repository with everything in it committed.
func repo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(ts.Chdir("project"))
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main"))
	ts.Check(os.WriteFile(ts.MkAbs(".git/info/exclude"), []byte(".agents-os/\n"), 0o600))
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "-m", "Begin"))
}

// await waits until a file of the folder seen is there.
func await(ts *testscript.TestScript, _ bool, args []string) {
	tick, end := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(ts.Getenv("SEEN"), args[0])); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			ts.Fatalf("%s does not come", args[0])
		}
	}
}

// killed kills the relay that works in the background, and waits for its end.
func killed(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGKILL))
	}
}
