package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"relay/runners"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// Why relay stops an agent of its own accord. As the cause of a cancelled context they decide the outcome.
var (
	ErrWall     = errors.New("time limit passed")
	ErrSilence  = errors.New("no output for too long")
	ErrNoAnswer = errors.New("no answer from the model")
	ErrLinger   = errors.New("still running after its final result")
	ErrFlood    = errors.New("wrote too much output")
	ErrFilled   = errors.New(runners.FilledDisk)
	ErrHopeless = errors.New("cannot succeed any more")
	errOrphaned = errors.New("the relay that ran it was ended")
)

const (
	firstPoll   = 20 * time.Millisecond
	slowestPoll = 500 * time.Millisecond
	defaultCap  = 32 << 20
	aMoment     = time.Second
	asleep      = time.Minute // who has not polled for so long was not there: the machine slept, or relay was stopped
	floodFactor = 64          // an agent that writes this many times what is kept of its output is stopped
)

// ProcessState is what an adapter's reader makes of the stream so far.
type ProcessState int

// The states.
const (
	Working        ProcessState = iota // the agent works
	Finished                           // the final result is there: the agent may linger only so long
	Hopeless                           // going on is a waste: stop it now
	AwaitingAnswer                     // working, but nothing has come from the model yet
)

// Process is one supervised process and the limits it is held to.
type Process struct {
	Supervisor process.Supervisor
	Command    process.Command
	Limits     runners.Limits
	ReadLine   func(line []byte)   // sees each line of stdout as it comes; may be nil
	MaxLine    int                 // bytes of the longest line that read wants; 0: maxLine
	State      func() ProcessState // asked after each poll and at the end; nil: always Working
	now        func() time.Time    // nil: time.Now
	Stopping   func(time.Time)     // gets when the process was asked to stop, once its output until then is read; may be nil
}

// Run starts the process and returns when it and all it started are gone. A program that cannot be started is an
// error; see cannotStart.
func (w *Process) Run(parent context.Context) (ProcessEnd, error) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	if w.now == nil {
		w.now = time.Now
	}
	seen := openTimes(w.Command.Stdout, w.now)
	defer func() { seen.end(fileSize(w.Command.Stdout)) }()
	p, err := w.start(ctx)
	if err != nil {
		return notStarted(ctx, parent, err)
	}
	done := make(chan process.Exit, 1)
	go func() { done <- p.Wait() }()
	e := ProcessEnd{Exit: w.wait(ctx, done, stop, seen)}
	if e.Exit.Barred {
		return e, fmt.Errorf("%s does not start in the sandbox: %s: %w", w.Command.Argv[0], sandbox.Words(strings.Fields(e.Exit.Refused), "", strings.Fields(e.Exit.Refused)), fs.ErrPermission)
	}
	if e.Exit.Signal == "TERM" || e.Exit.Code == 128+int(syscall.SIGTERM) {
		select { // a machine that goes down tells all at once, and relay may hear it last
		case <-parent.Done():
			e.Exit.Stopped = true
		case <-time.After(aMoment):
		}
	}
	if e.Exit.Stopped {
		if e.Cause = context.Cause(ctx); e.Cause == nil {
			e.Cause = errOrphaned
		}
		e.Cancelled = parent.Err() != nil && errors.Is(e.Cause, context.Cause(parent))
	}
	return e, nil
}

// wait polls the output until the process is gone, often while it is young and busy, rarely when it is quiet.
func (w *Process) wait(ctx context.Context, done <-chan process.Exit, stop context.CancelCauseFunc, seen *times) process.Exit {
	l := monitor{Process: w, stop: stop, polled: w.now(), pause: firstPoll, stopRequested: ctx.Done(), times: seen}
	l.disk = newDisk(w.Command.Dir, w.Limits.DiskFloor)
	if w.ReadLine != nil {
		l.tail = &Tail{Path: w.Command.Stdout, long: w.MaxLine, kept: kept(w.Limits), Line: w.ReadLine}
		defer l.tail.Close()
	}
	timer := time.NewTimer(l.pause)
	defer timer.Stop()
	for {
		select {
		case exit := <-done:
			l.readRest(exit)
			exit.Heavy = l.disk.heavy()
			return exit
		case <-l.stopRequested:
			l.stopRequested = nil
			l.poll()
		case <-timer.C:
			if l.stopRequested == nil && fileSize(l.Command.Stdout)-l.sizes[0] < pollBytes {
				timer.Reset(slowestPoll) // which of it was written before it was asked to stop is known at its end
				continue
			}
			timer.Reset(l.poll())
		}
	}
}

// monitor is the state of watching one process. Its limits count the time in which somebody polled: what passed while the
// machine slept does not count, whether or not this machine's clocks go on then.
type monitor struct {
	*Process
	stop          context.CancelCauseFunc
	stopRequested <-chan struct{} // closed when relay asks the process to stop; nil: that is known
	tail          *Tail
	times         *times
	sizes         [2]int64 // of stdout and stderr
	polled        time.Time
	ran           time.Duration // until seen
	lastOutput    time.Duration // when it last said something; like ended, by ran
	finished      bool
	ended         time.Duration // when the final result was seen
	pause         time.Duration
	disk          *disk
}

// poll reads what is new, holds the process to its limits, and returns the pause until the next poll.
func (l *monitor) poll() time.Duration {
	now := l.now()
	if step := now.Sub(l.polled); step > 0 && step < asleep {
		l.ran += step
	}
	l.polled = now
	grown, all := l.grown(), true
	if why := l.flooded(); why != nil {
		l.stop(why) // before reading: meanwhile a flood goes on
	}
	if l.tail != nil {
		all, _ = l.tail.Read() // a read error shows again in last, and the limits must hold regardless
	}
	if grown {
		l.lastOutput, l.pause = l.ran, firstPoll
	} else {
		l.pause = min(2*l.pause, slowestPoll)
	}
	l.enforce()
	unseen := l.times.saw(l.sizes[0])
	if !all {
		return 0
	}
	if due := l.untilDue(); unseen == 0 || due < unseen {
		return due
	}
	return unseen
}

// enforce stops the process when a limit has passed.
func (l *monitor) enforce() {
	m := Working
	if l.State != nil {
		m = l.State()
	}
	if m == Finished && !l.finished {
		l.ended = l.ran
	}
	l.finished = m == Finished
	if why := cmp.Or(l.disk.filled(), l.exceeded(m)); why != nil {
		l.stop(why)
	}
}

// exceeded names the limit that has passed, or nil.
func (l *monitor) exceeded(m ProcessState) error {
	limit := l.Limits
	passed := func(limit, took time.Duration) bool { return limit > 0 && took >= limit }
	switch {
	case m == Hopeless:
		return ErrHopeless
	case passed(limit.Wall, l.ran):
		return fmt.Errorf("%w: %s", ErrWall, limit.Wall)
	case m == Finished:
		if passed(limit.Linger, l.ran-l.quiet()) {
			return ErrLinger
		}
	case m == AwaitingAnswer && passed(limit.FirstAnswer, l.ran):
		return fmt.Errorf("%w: %s", ErrNoAnswer, limit.FirstAnswer)
	case passed(limit.Silence, l.ran-l.lastOutput):
		return fmt.Errorf("%w: %s", ErrSilence, limit.Silence)
	}
	return nil
}

// flooded returns an error when one of the outputs is far larger than what is kept of it.
func (l *monitor) flooded() error {
	if most := floodFactor * kept(l.Limits); max(l.sizes[0], l.sizes[1]) > most {
		return fmt.Errorf("%w: more than %d MiB", ErrFlood, most>>20)
	}
	return nil
}

// untilDue shortens the pause to the next limit, so that a limit holds to the millisecond and not to the pause.
func (l *monitor) untilDue() time.Duration {
	pause := l.pause
	shorten := func(limit, since time.Duration) {
		if rest := limit - (l.ran - since); limit > 0 && rest > 0 {
			pause = min(pause, rest)
		}
	}
	shorten(l.Limits.Wall, 0)
	shorten(l.Limits.Silence, l.lastOutput)
	shorten(l.Limits.FirstAnswer, 0)
	if l.finished {
		shorten(l.Limits.Linger, l.quiet())
	}
	return max(pause, time.Millisecond)
}

// quiet returns since when a process with a final result has said nothing more.
func (l *monitor) quiet() time.Duration { return max(l.lastOutput, l.ended) }

// grown compares the sizes of both outputs with those of the last poll.
func (l *monitor) grown() bool {
	sizes := [2]int64{fileSize(l.Command.Stdout), fileSize(l.Command.Stderr)}
	grown := sizes != l.sizes
	l.sizes = sizes
	return grown
}

// readRest reads what the process wrote between the last poll and its end.
func (l *monitor) readRest(exit process.Exit) {
	if l.tail != nil {
		if l.Stopping != nil && !exit.StoppedAt.IsZero() {
			all, err := l.tail.readTo(exit.Said)
			for !all && err == nil { // an error shows again in Finish
				all, err = l.tail.readTo(exit.Said)
			}
			l.Stopping(exit.StoppedAt)
		}
		_ = l.tail.Finish() // what cannot be read is missing from the outcome: no result, never a success
	}
	if l.State != nil {
		l.State()
	}
}

// Compact keeps head and tail of outputs that have outgrown their cap. An output the agent has removed needs none.
func (w *Process) Compact() error {
	for _, path := range []string{w.Command.Stdout, w.Command.Stderr} {
		if fileSize(path) <= kept(w.Limits) {
			continue
		}
		if _, err := process.Compact(path, kept(w.Limits)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func kept(l runners.Limits) int64 {
	if l.TranscriptCap > 0 {
		return l.TranscriptCap
	}
	return defaultCap
}

func fileSize(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() { // an agent can put anything in the place of its output
		return 0
	}
	return info.Size()
}
