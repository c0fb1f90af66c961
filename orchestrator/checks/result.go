package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/verdict"
	"relay/runners/command"
	"relay/runners/process"
)

// Result is the result of a check on a tree.
type Result struct {
	Run      attempts.CheckRun
	Exit     process.Exit
	TimedOut bool
	Flooded  string      // see [command.ShellReport]; TimedOut says so as well
	WasHeld  bool        // it ran for a task that had been held
	Unknown  bool        // how it ended is unknown: it proves nothing
	Beside   bool        // other checks ran at the same time
	Crowded  bool        // it was repeated, and failed, beside others: it could not be alone
	Flaky    *Result     // it failed so first, and then passed alone; nil: it did not
	NoTest   bool        // its output says that it ran no test
	Twice    bool        // it failed again when it was repeated
	Refused  string      // it succeeds, on the same commit, with what the sandbox refuses it: what that is
	Said     []string    // lines of its output that say why it failed
	Changed  []string    // protected files that were changed while it ran, and put back
	Rewrote  []Rewritten // files that its list has written and git would commit; only the last of a list knows
}

// Passed reports whether a check was seen to succeed in time.
func (r Result) Passed() bool { return !r.Unknown && !r.TimedOut && r.Run.ExitCode == 0 }

// Red reports whether a check has failed. One that took too long has said nothing.
func (r Result) Red() bool { return !r.Unknown && !r.TimedOut && r.Run.ExitCode != 0 }

// State classifies how the check ended.
func (r Result) State() verdict.State {
	switch {
	case r.Passed():
		return verdict.Passed
	case r.Red():
		return verdict.Red
	default:
		return verdict.Late
	}
}

// Idle reports whether a check ran no test and did nothing else: one that failed before may build what did not build, unless all that it
// runs is tests.
func (r Result) Idle(before Result, of Check) bool {
	return r.NoTest && (!before.Red() || onlyTests.MatchString(of.Run))
}

// Unknown reports whether the result of a command is unknown: that proves nothing, and is not the agent's fault.
func Unknown(r command.ShellReport) bool { return r.Exit.Lost || r.Exit.Stopped && !r.TimedOut }

// TooMuch returns text that says which limit a command has passed.
func TooMuch(flooded string, wall time.Duration) string {
	if flooded != "" {
		return flooded + ", and was stopped"
	}
	return "took longer than " + wall.String()
}

// Difference returns text that says that a check which failed before the work fails in another way now, unless fewer of
// its tests fail.
func Difference(before, after Result) string {
	was, now := before.Run.Tests(), after.Run.Tests()
	switch worse := Worse(before, after); {
	case worse != "":
		return worse
	case len(plaintext.TellingTests(after.Run.Tail)) > 0 && len(plaintext.TellingTests(before.Run.Tail)) > 0, now.FewerFailed(was):
		return ""
	case before.Run.ExitCode == after.Run.ExitCode && attempts.Normalise(before.Run.Tail) == attempts.Normalise(after.Run.Tail):
		return ""
	}
	return ", but in another way: it may be worse than before"
}

// fullTail is the size, in bytes, from which the end of an output may lack names of tests.
const fullTail = 3 << 10

// Worse returns text that says that more of a check's tests fail than before the work: by their number, or by names where the output has
// all of them both times. Only that is certain of a check that fails in another way.
func Worse(before, after Result) string {
	was, now := before.Run.Tests(), after.Run.Tests()
	if was.Failed > 0 && now.MoreFailed(was) {
		return fmt.Sprintf(", and with more tests: %d failed before, %d do now", was.Failed, now.Failed)
	}
	known := plaintext.TellingTests(before.Run.Tail)
	if len(known) == 0 || max(len(before.Run.Tail), len(after.Run.Tail)) > fullTail {
		return ""
	}
	added := slices.DeleteFunc(plaintext.TellingTests(after.Run.Tail), func(name string) bool { return slices.Contains(known, name) })
	if len(added) == 0 {
		return ""
	}
	return ", and with other tests: " + strings.Join(added[:min(len(added), 3)], ", ")
}

// Attribution reports whose doing it is how a check ended.
func Attribution(before, after Result) attempts.Attribution {
	switch {
	case before.TimedOut && !after.TimedOut: // it had said nothing
		return ""
	case before.Passed() && after.Passed():
		return attempts.StayedClean
	case before.Passed():
		return attempts.BrokenByTask
	case after.Passed():
		return attempts.FixedByTask
	}
	return attempts.BrokenBefore
}
