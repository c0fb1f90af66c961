package main

import (
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

func signalNamed(ts *testscript.TestScript, name string) os.Signal {
	switch name {
	case "INT":
		return syscall.SIGINT
	case "TERM":
		return syscall.SIGTERM
	case "HUP":
		return syscall.SIGHUP
	case "KILL":
		return syscall.SIGKILL
	}
	ts.Fatalf("unknown signal %s", name)
	return nil
}
