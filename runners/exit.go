package runners

import (
	"fmt"

	"relay/runners/process"
)

// DescribeExit returns text that says how a process ended that was not stopped. A status above 128, with which a shell
// tells of a signal, is explained.
func DescribeExit(exit process.Exit) string {
	const killed = ", as the system does when memory runs out"
	switch {
	case exit.Signal == "KILL":
		return "killed by signal KILL" + killed
	case exit.Code < 0 && exit.Signal == "":
		return "ended by a signal"
	case exit.Signal != "":
		return "ended by signal " + exit.Signal
	case exit.Code == 128+9:
		return "exit status 137: something in it was killed by signal KILL" + killed
	case exit.Code == 128+15:
		return "exit status 143: something in it was ended by signal TERM"
	case exit.Code == 128+11:
		return "exit status 139: something in it crashed with signal SEGV"
	}
	return fmt.Sprintf("exit status %d", exit.Code)
}
