package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Why a process cannot be started is said with its name.
func TestWordsForStarts(t *testing.T) {
	t.Parallel()
	said := func(g *Guardian, edit func(*Command)) string {
		cmd := shell(t, "exit 0")
		edit(&cmd)
		if _, err := g.Start(t.Context(), cmd); err != nil {
			return err.Error()
		}
		return ""
	}
	noInterpreter := program(t, "#!/no/such/interpreter\n")
	g := startGuardian(t)
	nothing := func(*Command) {}
	check := func(got, want string) {
		t.Helper()
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(said(g, func(c *Command) { c.Argv = nil }), "start a command without arguments: empty argument list: ")
	folder := t.TempDir()
	check(said(g, func(c *Command) { c.Argv[0] = folder }), "start "+folder+": exec "+folder+": is a directory: ")
	check(said(g, func(c *Command) { c.Argv[0] = noInterpreter }), "start "+noInterpreter+": the interpreter that the first line of "+noInterpreter+" names is missing: ")
	check(said(g, func(c *Command) { c.Env = []string{strings.Repeat("x", maxMessage)} }), "start sh: message to the guardian over 16 MiB: ")
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	check(said(g, nothing), "start sh: the guardian is closed")
	quits := impatient(t, script, "/bin/sh", "-c", "read line; exit 3")
	check(said(quits, nothing), "start sh: the guardian was lost: the guardian ended: exit status 3")
	gone := impatient(t, script, program(t, "#!/bin/sh\nrm \"$0\"\n"))
	<-gone.link.ended
	check(said(gone, nothing), "start sh: the guardian was lost and cannot be started again: start the guardian: ")
	if _, err := unpack(pack(Command{})[1:]); err == nil || err.Error() != "a command that is cut off" {
		t.Errorf("got %v", err)
	}
	if _, err := Compact(folder, 1); err == nil || err.Error() != folder+" is not a regular file" {
		t.Errorf("got %v", err)
	}
}

// A guardian says why it ends to whoever reads its log, and answers what it cannot do.
func TestWordsOfTheGuardian(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]string{
		"":                                    "relay is gone\n",
		`{"do":"dance"}` + "\n":               "unknown request \"dance\"\n",
		`{"do":"start","id":1}` + "\n":        `{"did":"failed","id":1,"error":"no command"}` + "\nrelay is gone\n",
		`{"do":"leave"}` + "\n":               "",
		strings.Repeat("x", maxMessage+1<<10): "read from relay: message to the guardian over 16 MiB\n",
	} {
		cmd := exec.Command(self, "__guardian")
		cmd.Stdin = strings.NewReader(request)
		if got, _ := cmd.CombinedOutput(); string(got) != want {
			t.Errorf("%.40q: got %q, want %q", request, got, want)
		}
	}
}
