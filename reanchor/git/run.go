package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"time"

	"relay/epic/plaintext"
)

// Limits of one git command, where the Call does not say otherwise.
const (
	callWall   = 10 * time.Minute
	callOutput = 16 << 20
	callStderr = 8 << 10
	callGrace  = 2 * time.Second // between asking git to stop, so that it removes its lock files, and killing it
	callPipes  = 4 * time.Second // for pipes that a grandchild keeps open
)

var (
	// ErrTooMuch means that git printed more than the caller was ready to hold.
	ErrTooMuch = errors.New("git printed more than allowed")
	errWall    = errors.New("git took too long")
)

// Call is one git command.
type Call struct {
	Dir    string
	Env    []string  // added last: it wins over everything Run removes or sets (GIT_INDEX_FILE, GIT_AUTHOR_NAME, …)
	Stdin  io.Reader // nil: empty
	Args   []string  // a builtin and its arguments, after any -c NAME=VALUE; put -- before paths
	Stdout io.Writer // nil: what git prints is returned

	GitDir   string        // with WorkTree: the repository to use, whatever Dir looks like; "" : git searches from Dir upwards
	WorkTree string        //
	Limit    int           // of output, in bytes; 0: 16 MiB, and with Stdout none
	Wall     time.Duration // 0: 10 minutes
	Writes   bool          // git may take optional locks, as to refresh the index
	AtOnce   bool          // somebody waits: it is not tried again when there is no room to run git in
	Hooks    bool          // the repository's hooks run, in the user's own locale
	Own      bool          // with relay's own environment, whatever [Repo.Within] says: git runs nothing that an agent can name

	within []string // see [Repo.Within]; nil: relay's own environment
}

// Error is a git command that did not succeed. It unwraps to the reason when that was not git's own exit status:
// the cause of a cancelled context, [ErrTooMuch], [ErrNoRoom], or exec.ErrNotFound when there is no git.
type Error struct {
	Args   []string
	Dir    string // it ran in
	Code   int    // exit status; -1 when git did not exit by itself
	Stderr string // end of it, at most 8 KiB
	Err    error
}

// Error names the subcommand and gives the line of git that says why.
func (e *Error) Error() string {
	name := "git"
	if at := subcommand(e.Args); at < len(e.Args) {
		name += " " + e.Args[at]
	}
	words := firstCause(e.Stderr)
	switch {
	case e.Err != nil && e.Code < 0:
		return fmt.Sprintf("%s: %v", name, e.Err)
	case words != "" && e.Dir != "" &&
		(strings.Contains(words, "No space left") || strings.Contains(words, "Out of diskspace")) && !strings.Contains(words, e.Dir):
		return fmt.Sprintf("%s: %s, on the disk that holds %s", name, words, e.Dir)
	case words != "":
		return fmt.Sprintf("%s: %s", name, words)
	}
	return fmt.Sprintf("%s: exit status %d", name, e.Code)
}

// Unwrap returns the reason that was not git's own.
func (e *Error) Unwrap() error { return e.Err }

// firstCause returns the line that says why git did not succeed, else its last one.
func firstCause(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return cmp.Or(plaintext.MostTelling(plaintext.TellingLines(stderr)), plaintext.Head(plaintext.Line(lines[len(lines)-1]), 500))
}

// Run runs one git command and returns what it printed. Output is returned beside an error, too.
//
// It is hardened against what an agent may have left in the repository and against what the caller's environment
// brings along: the repository's hooks (unless Hooks), file system monitor, pager, editor, external diff programs and
// replacement objects are out of the way, nothing is asked on a terminal, no background maintenance is started, and
// variables that point git elsewhere or inject configuration are removed. Clean and smudge filters stay on, because
// without them a repository with large-file storage reads wrongly. The ownership check (safe.directory) stays git's.
//
// git runs in a process group of its own. When ctx is cancelled or Wall has passed it is asked to stop, and killed with
// everything in its group two seconds later.
func Run(ctx context.Context, c Call) ([]byte, error) {
	wall := c.Wall
	if wall <= 0 {
		wall = callWall
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wall, errWall)
	defer cancel()

	var printed bytes.Buffer
	out := plaintext.Limited{To: &printed, Left: cmp.Or(c.Limit, callOutput), TooMuch: ErrTooMuch}
	if c.Stdout != nil {
		out.To, out.Left = c.Stdout, cmp.Or(c.Limit, math.MaxInt)
	}
	var complaint trailing
	err := run(ctx, c, &out, &complaint)
	if out.Err != nil {
		err = out.Err // git's message about its closed pipe says nothing new
	}
	if err == nil {
		return printed.Bytes(), nil
	}
	return printed.Bytes(), gitError(ctx, c, err, complaint.String())
}

func run(ctx context.Context, c Call, stdout, stderr io.Writer) error {
	var cmd *exec.Cmd
	var settled func()
	patience := roomPatience
	if c.AtOnce {
		patience = 0
	}
	err := patiently(ctx, patience, func() error {
		cmd = exec.CommandContext(ctx, "git", arguments(c)...)
		cmd.Dir = c.Dir
		cmd.Env = environment(narrowed(cmd.Environ(), c), c)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, stdout, stderr
		settled = isolate(cmd, !c.Hooks) // a hook may read /dev/tty, and would wait there for ever
		cmd.WaitDelay = callPipes
		return cmd.Start()
	})
	if err != nil {
		return err
	}
	defer settled()
	return cmd.Wait()
}

// gitError says what ended the command: relay's own limits before git's exit status.
func gitError(ctx context.Context, c Call, err error, stderr string) error {
	e := &Error{Args: c.Args, Dir: c.Dir, Code: -1, Stderr: strings.TrimSuffix(plaintext.Clean(stderr), "\n")}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && ctx.Err() == nil:
		e.Code = exit.ExitCode()
		if e.Code < 0 {
			e.Err = errors.New(exit.String())
		}
	case ctx.Err() != nil:
		e.Err = context.Cause(ctx)
	default:
		e.Err = crowdedOut(err)
	}
	return e
}

// trailing keeps the end of what is written to it.
type trailing struct{ buf []byte }

// Write never fails: a chatty git must not die of a closed pipe.
func (t *trailing) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - callStderr; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String returns what was kept.
func (t *trailing) String() string { return string(t.buf) }
