package process

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
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
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	check(said(g, nothing), "start sh: the guardian is closed")
	quits := impatient(t, script, "/bin/sh", "-c", "head -c 1 >/dev/null; exit 3")
	check(said(quits, nothing), "start sh: the guardian was lost: the guardian ended: exit status 3")
	gone := impatient(t, script, program(t, "#!/bin/sh\nrm \"$0\"\n"))
	<-gone.link.ended
	check(said(gone, nothing), "start sh: the guardian was lost and cannot be started again: start the guardian: ")
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
	for _, test := range []struct {
		do    []request
		reply reply
		said  string
	}{
		{said: "relay is gone\n"},
		{do: []request{{Do: "dance"}}, said: "unknown request \"dance\"\n"},
		{
			do: []request{{Do: doStart, ID: 1}}, said: "relay is gone\n",
			reply: reply{Did: didFail, ID: 1, Error: "start a command without arguments: empty argument list: executable file not found in $PATH", Cause: "not found"},
		},
		{do: []request{{Do: doLeave}}},
	} {
		var in, out, said bytes.Buffer
		requests := gob.NewEncoder(&in)
		for _, r := range test.do {
			if err := requests.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(self, "__guardian")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &said
		_ = cmd.Run()
		var got reply
		if err := gob.NewDecoder(&out).Decode(&got); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, test.reply) || said.String() != test.said {
			t.Errorf("%v: got %+v, %q, want %+v, %q", test.do, got, said.String(), test.reply, test.said)
		}
	}
}
