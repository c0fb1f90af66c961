package command

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// ShellRequest is one acceptance command: the user's own text, never an agent's.
type ShellRequest struct {
	Mark      string
	Role      sandbox.Role // "": a check
	Allow     []string     // as in process.Command
	Dir       string
	Run       string // for bash -c, without bash for sh -c
	Log       string // stdout and stderr go here, as they come
	End       string
	Env       []string // complete
	Wall      time.Duration
	StopGrace time.Duration
	Cap       int64 // bytes kept of the log; 0: 32 MiB
	DiskFloor int64 // see [runners.Limits]
}

// maxShellOutput is how much of a command's output is read when it has ended.
const maxShellOutput = 256 << 10

// ShellReport records how an acceptance command ended. Only exit status 0 without TimedOut proves anything.
type ShellReport struct {
	Exit     process.Exit
	TimedOut bool   // Wall passed, or Flooded
	Flooded  string // what it wrote too much of, in words, so that it was stopped; "": it did not
	Tail     string // end of its output, clean, at most 4 KiB
	Output   string // the same as it came, at most 256 KiB
}

// ShellName returns the shell that runs commands in an environment: bash where it is on the PATH, as users write for theirs, else sh.
func ShellName(env []string) string {
	for _, variable := range slices.Backward(env) {
		list, ok := strings.CutPrefix(variable, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if _, err := exec.LookPath(filepath.Join(dir, "bash")); err == nil && filepath.IsAbs(dir) {
				return "bash"
			}
		}
		break
	}
	return "sh"
}

// RunShell runs one acceptance command under the supervisor. Its error is for faults of relay's own machine and, as the
// cause, for a cancelled ctx: a command that was stopped half-way has proved nothing, and failed nothing either.
func RunShell(ctx context.Context, sup process.Supervisor, req ShellRequest) (ShellReport, error) {
	argv := []string{ShellName(req.Env), "-c", req.Run}
	w := adapter.Process{
		Supervisor: sup,
		Command: process.Command{
			Argv: argv, Env: req.Env, Dir: req.Dir, Stdout: req.Log, Stderr: req.Log, End: req.End,
			Mark: req.Mark, StopGrace: req.StopGrace, Role: cmp.Or(req.Role, sandbox.Check), Allow: req.Allow,
		},
		ReadLine: func([]byte) {}, // ignores the lines; reading past the cap gives the space back to the disk
		Limits:   runners.Limits{Wall: req.Wall, StopGrace: req.StopGrace, TranscriptCap: req.Cap, DiskFloor: req.DiskFloor},
	}
	e, err := w.Run(ctx)
	if err != nil {
		return ShellReport{}, err
	}
	if e.Cancelled {
		return ShellReport{Exit: e.Exit}, e.Cause
	}
	out, err := adapter.LastBytes(req.Log, maxShellOutput)
	if err != nil {
		return ShellReport{Exit: e.Exit}, err
	}
	report := ShellReport{
		Exit:     e.Exit,
		TimedOut: errors.Is(e.Cause, adapter.ErrWall),
		Tail:     runners.CleanTextEnd(runners.LastPart(out, runners.MaxString), runners.MaxString),
		Output:   string(out),
	}
	switch {
	case errors.Is(e.Cause, adapter.ErrFlood):
		report.TimedOut, report.Flooded = true, "printed far more than is kept of its output"
	case errors.Is(e.Cause, adapter.ErrFilled):
		report.TimedOut, report.Flooded = true, e.Cause.Error()
	}
	return report, w.Compact()
}
