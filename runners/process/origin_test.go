package process

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// This process and what it starts are its own; its parent is not, and a process that is gone may have been.
func TestOrigin(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sh", "-c", "echo up; read x")
	child.Env = append(os.Environ(), markVariable+"=r/T1/1")
	in, inErr := child.StdinPipe()
	out, outErr := child.StdoutPipe()
	if err := errors.Join(inErr, outErr, child.Start()); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := out.Read(make([]byte, 3)); err != nil { // until then its environment may not be there
		t.Fatal(err)
	}
	if mark, started := Origin(child.Process.Pid); !started || mark != "r/T1/1" {
		t.Errorf("a child: %q, %v", mark, started)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	if _, started := Origin(child.Process.Pid); !started {
		t.Error("a process that is gone is taken for another's")
	}
	if _, started := Origin(os.Getpid()); !started {
		t.Error("this process is taken for another's")
	}
	if mark, started := Origin(os.Getppid()); started {
		t.Errorf("the parent is taken for ours: %q", mark)
	}
}
