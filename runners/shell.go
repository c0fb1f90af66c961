package runners

import (
	"context"
	"errors"
	"runtime"
	"time"

	"relay/runners/internal/cleantext"
	"relay/runners/process"
)

// ShellRequest is one acceptance command: the user's own text, never an agent's.
type ShellRequest struct {
	Mark      string
	Dir       string
	Run       string // for sh -c, on Windows for cmd /C
	Log       string // stdout and stderr go here, as they come
	End       string
	Env       []string // complete
	Wall      time.Duration
	StopGrace time.Duration
	Cap       int64 // bytes kept of the log; 0: 32 MiB
}

// maxShellOutput is how much of a command's output is read when it has ended.
const maxShellOutput = 256 << 10

// ShellReport is how an acceptance command ended. Only exit status 0 without TimedOut proves anything.
type ShellReport struct {
	Exit     process.Exit
	TimedOut bool   // Wall passed, or Flooded
	Flooded  bool   // it was stopped for flooding its log
	Tail     string // end of its output, clean, at most 4 KiB
	Output   string // the same as it came, at most 256 KiB
}

// Shell runs one acceptance command under the supervisor. Its error is for faults of relay's own machine and, as the
// cause, for a cancelled ctx: a command that was stopped half-way has proved nothing, and failed nothing either.
func Shell(ctx context.Context, sup process.Supervisor, req ShellRequest) (ShellReport, error) {
	argv := []string{"sh", "-c", req.Run}
	if runtime.GOOS == "windows" {
		argv = []string{"cmd", "/C", req.Run}
	}
	w := watch{
		sup: sup,
		cmd: process.Command{
			Argv: argv, Env: req.Env, Dir: req.Dir, Stdout: req.Log, Stderr: req.Log, End: req.End,
			Mark: req.Mark, StopGrace: req.StopGrace,
		},
		read:   func([]byte) {}, // nobody reads along, but what is read past the cap is given back to the disk
		limits: Limits{Wall: req.Wall, StopGrace: req.StopGrace, TranscriptCap: req.Cap},
	}
	e, err := w.run(ctx)
	if err != nil {
		return ShellReport{}, err
	}
	if e.over {
		return ShellReport{Exit: e.exit}, e.cause
	}
	out, err := lastBytes(req.Log, maxShellOutput)
	if err != nil {
		return ShellReport{Exit: e.exit}, err
	}
	report := ShellReport{
		Exit:     e.exit,
		TimedOut: errors.Is(e.cause, errWall) || errors.Is(e.cause, errFlood),
		Flooded:  errors.Is(e.cause, errFlood),
		Tail:     cleantext.CleanEnd(cleantext.LastPart(out, cleantext.MaxString), cleantext.MaxString),
		Output:   string(out),
	}
	return report, w.compact()
}
