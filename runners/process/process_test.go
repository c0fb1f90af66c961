package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the guardian, and relay itself where a test has to kill it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "__guardian":
			if err := ServeGuardian(os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "__relay":
			os.Exit(beRelay())
		case "__sweep":
			os.Exit(beSweeper(os.Args[2]))
		}
	}
	os.Exit(m.Run())
}

func startGuardian(tb testing.TB) *Guardian {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	g, err := StartGuardian([]string{self, "__guardian"}, os.Environ())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = g.Close() })
	return g
}

// each runs a test with both supervisors.
func each(t *testing.T, test func(t *testing.T, s Supervisor)) {
	t.Helper()
	t.Run("local", func(t *testing.T) { t.Parallel(); test(t, NewLocal()) })
	t.Run("guardian", func(t *testing.T) { t.Parallel(); test(t, startGuardian(t)) })
}

// shell is a command that runs a script of sh, with F a folder of its own.
func shell(tb testing.TB, script string) Command {
	tb.Helper()
	dir := tb.TempDir()
	return Command{
		Argv:   []string{"sh", "-c", script},
		Env:    []string{"PATH=" + os.Getenv("PATH"), "F=" + dir},
		Dir:    dir,
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
		End:  filepath.Join(dir, "end.json"),
		Mark: "test/" + tb.Name() + "/" + filepath.Base(filepath.Dir(dir)) + filepath.Base(dir), StopGrace: 20 * time.Second,
	}
}

func start(tb testing.TB, s Supervisor, cmd Command) Process {
	tb.Helper()
	p, err := s.Start(tb.Context(), cmd)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func run(tb testing.TB, s Supervisor, cmd Command) Exit {
	tb.Helper()
	return start(tb, s, cmd).Wait()
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func TestExit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		want         Exit
	}{
		{"zero", "exit 0", Exit{}},
		{"seven", "exit 7", Exit{Code: 7}},
		{"killed", "kill -KILL $$", Exit{Code: -1, Signal: "KILL"}},
		{"segv", "kill -SEGV $$", Exit{Code: -1, Signal: "SEGV"}},
	}
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		for _, test := range tests {
			cmd := shell(t, test.script)
			got := run(t, s, cmd)
			written, err := ReadExit(cmd.End)
			if err != nil || !reflect.DeepEqual(written, got) {
				t.Errorf("%s: end file says %+v, %v, Wait said %+v", test.name, written, err, got)
			}
			if got.Elapsed <= 0 {
				t.Errorf("%s: took %v", test.name, got.Elapsed)
			}
			got.Elapsed = 0
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
			}
		}
	})
}

func TestFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		cmd := shell(t, `read line; echo "out $line $RELAY_ATTEMPT $X"; echo err >&2; pwd`)
		cmd.Env = append(cmd.Env, "X=\xff<&", "RELAY_ATTEMPT=old")
		cmd.Stdin = filepath.Join(cmd.Dir, "stdin")
		for path, text := range map[string]string{cmd.Stdin: "in\n", cmd.Stdout: "before\n"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run(t, s, cmd)
		if got, want := read(t, cmd.Stdout), "before\nout in "+cmd.Mark+" \xff<&\n"+cmd.Dir+"\n"; got != want {
			t.Errorf("stdout: got %q, want %q", got, want)
		}
		if got := read(t, cmd.Stderr); got != "err\n" {
			t.Errorf("stderr: got %q", got)
		}
		info, err := os.Stat(cmd.Stderr)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("stderr: mode %v, %v", info.Mode(), err)
		}
	})
}

func TestSharedOutputAndNoInput(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		cmd := shell(t, `echo a; echo b >&2; cat; echo c`)
		cmd.Stderr = cmd.Stdout
		run(t, s, cmd)
		if got := read(t, cmd.Stdout); got != "a\nb\nc\n" {
			t.Errorf("got %q", got)
		}
	})
}

// program is a file with a script that can be started. Nothing is started beside while it is written: that would hold it
// open for writing for a moment, and what is cannot be executed.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCannotStart(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/no/such/interpreter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := program(t, "#!/no/such/interpreter\n")
	tests := []struct {
		name string
		edit func(*Command)
		want error
		text string
	}{
		{"missing", func(c *Command) { c.Argv = []string{"no-such-agent"} }, exec.ErrNotFound, "no-such-agent"},
		{"no path", func(c *Command) { c.Env = nil }, exec.ErrNotFound, "sh"},
		{"relative path", func(c *Command) { c.Env = []string{"PATH=.:bin"} }, exec.ErrNotFound, "sh"},
		{"missing file", func(c *Command) { c.Argv[0] = "/no/such/agent" }, fs.ErrNotExist, "/no/such/agent"},
		{"not executable", func(c *Command) { c.Argv[0] = plain }, fs.ErrPermission, "not executable"},
		{"a folder", func(c *Command) { c.Argv[0] = c.Dir }, fs.ErrPermission, "is a directory"},
		{"no interpreter", func(c *Command) { c.Argv[0] = script }, fs.ErrNotExist, "interpreter"},
		{"no folder", func(c *Command) { c.Dir = "/no/such/folder" }, fs.ErrNotExist, "working directory"},
		{"no input", func(c *Command) { c.Stdin = "/no/such/prompt" }, fs.ErrNotExist, "/no/such/prompt"},
		{"no output", func(c *Command) { c.Stdout = "/no/such/out" }, fs.ErrNotExist, "/no/such/out"},
		{"nothing", func(c *Command) { c.Argv = nil }, exec.ErrNotFound, "empty argument list"},
	}
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		for _, test := range tests {
			cmd := shell(t, "exit 0")
			test.edit(&cmd)
			p, err := s.Start(t.Context(), cmd)
			if p != nil || !errors.Is(err, test.want) {
				t.Errorf("%s: got %v, %v, want %v", test.name, p, err, test.want)
			} else if !strings.Contains(err.Error(), test.text) {
				t.Errorf("%s: error %q does not say %q", test.name, err, test.text)
			}
		}
		if exit := run(t, s, shell(t, "exit 0")); exit.Code != 0 {
			t.Errorf("after all that: %+v", exit)
		}
	})
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := s.Start(ctx, shell(t, "exit 0")); !errors.Is(err, why) {
			t.Errorf("start after the cancellation: %v", err)
		}
	})
}
