package runners

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"relay/runners/process"
)

// Why relay stops an agent of its own accord. As the cause of a cancelled context they decide the outcome.
var (
	errWall     = errors.New("time limit passed")
	errSilence  = errors.New("no output for too long")
	errUnheard  = errors.New("no answer from the model")
	errLinger   = errors.New("still running after its final result")
	errFlood    = errors.New("wrote too much output")
	errHopeless = errors.New("cannot succeed any more")
	errOrphaned = errors.New("the relay that ran it was ended")
)

const (
	firstLook   = 20 * time.Millisecond
	slowestLook = 500 * time.Millisecond
	defaultCap  = 32 << 20
	asleep      = time.Minute // who has not looked for so long was not there: the machine slept, or relay was stopped
	floodFactor = 64          // an agent that writes this many times what is kept of its output is stopped
)

// mood is what an adapter's reader makes of the stream so far.
type mood int

const (
	working  mood = iota
	finished      // the final result is there: the agent may linger only so long
	hopeless      // going on is a waste: stop it now
	unheard       // working, but nothing has come from the model yet
)

// watch is one supervised process and the limits it is held to.
type watch struct {
	sup    process.Supervisor
	cmd    process.Command
	limits Limits
	read   func(line []byte) // sees each line of stdout as it comes; nil: nobody reads while it runs
	long   int               // bytes of the longest line that read wants; 0: maxLine
	mood   func() mood       // asked after each look and at the end; nil: always working
	now    func() time.Time  // nil: time.Now
	ending func(time.Time)   // told when the process was asked to stop, once what it had written until then is read; nil: nobody
}

// run starts the process and returns when it and all it started are gone. A program that cannot be started is an
// error; see cannotStart.
func (w *watch) run(parent context.Context) (end, error) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	p, err := w.start(ctx)
	if err != nil {
		return notStarted(ctx, parent, err)
	}
	done := make(chan process.Exit, 1)
	go func() { done <- p.Wait() }()
	e := end{exit: w.wait(ctx, done, stop)}
	if e.exit.Stopped {
		if e.cause = context.Cause(ctx); e.cause == nil {
			e.cause = errOrphaned
		}
		e.over = parent.Err() != nil && errors.Is(e.cause, context.Cause(parent))
	}
	return e, nil
}

// wait looks at the output until the process is gone, often while it is young and busy, rarely when it is quiet.
func (w *watch) wait(ctx context.Context, done <-chan process.Exit, stop context.CancelCauseFunc) process.Exit {
	if w.now == nil {
		w.now = time.Now
	}
	l := look{watch: w, stop: stop, seen: w.now(), pause: firstLook, told: ctx.Done()}
	if w.read != nil {
		l.tail = &tail{path: w.cmd.Stdout, long: w.long, kept: kept(w.limits), line: w.read}
		defer l.tail.close()
	}
	timer := time.NewTimer(l.pause)
	defer timer.Stop()
	for {
		select {
		case exit := <-done:
			l.last(exit)
			return exit
		case <-l.told:
			l.told = nil
			l.again()
		case <-timer.C:
			if l.told == nil && fileSize(l.cmd.Stdout)-l.sizes[0] < lookBytes {
				timer.Reset(slowestLook) // which of it was written before it was asked to stop is known at its end
				continue
			}
			timer.Reset(l.again())
		}
	}
}

// look is the state of watching one process. Its limits count the time in which there was somebody to look: what
// passed while the machine slept is nobody's fault, whether or not this machine's clocks go on then.
type look struct {
	*watch
	stop     context.CancelCauseFunc
	told     <-chan struct{} // closed when the process is told to stop; nil: that is known
	tail     *tail
	sizes    [2]int64 // of stdout and stderr
	seen     time.Time
	ran      time.Duration // until seen
	heard    time.Duration // when it last said something; like ended, by ran
	finished bool
	ended    time.Duration // when the final result was seen
	pause    time.Duration
}

// pass counts the time since the last look.
func (l *look) pass() {
	now := l.now()
	if step := now.Sub(l.seen); step > 0 && step < asleep {
		l.ran += step
	}
	l.seen = now
}

// again reads what is new, holds the process to its limits, and says when to look next.
func (l *look) again() time.Duration {
	l.pass()
	grown, all := l.grown(), true
	if why := l.flooded(); why != nil {
		l.stop(why) // before reading: meanwhile a flood goes on
	}
	if l.tail != nil {
		all, _ = l.tail.read() // a read error shows again in last, and the limits must hold regardless
	}
	if grown {
		l.heard, l.pause = l.ran, firstLook
	} else {
		l.pause = min(2*l.pause, slowestLook)
	}
	l.judge()
	if !all {
		return 0
	}
	return l.untilDue()
}

func (l *look) judge() {
	m := working
	if l.mood != nil {
		m = l.mood()
	}
	if m == finished && !l.finished {
		l.ended = l.ran
	}
	l.finished = m == finished
	if why := l.exceeded(m); why != nil {
		l.stop(why)
	}
}

// exceeded names the limit that has passed, or nil.
func (l *look) exceeded(m mood) error {
	limit := l.limits
	passed := func(limit, took time.Duration) bool { return limit > 0 && took >= limit }
	switch {
	case m == hopeless:
		return errHopeless
	case passed(limit.Wall, l.ran):
		return fmt.Errorf("%w: %s", errWall, limit.Wall)
	case m == finished:
		if passed(limit.Linger, l.ran-l.quiet()) {
			return errLinger
		}
	case m == unheard && passed(limit.FirstAnswer, l.ran):
		return fmt.Errorf("%w: %s", errUnheard, limit.FirstAnswer)
	case passed(limit.Silence, l.ran-l.heard):
		return fmt.Errorf("%w: %s", errSilence, limit.Silence)
	}
	return nil
}

// flooded returns an error when one of the outputs is far larger than what is kept of it.
func (l *look) flooded() error {
	if most := floodFactor * kept(l.limits); max(l.sizes[0], l.sizes[1]) > most {
		return fmt.Errorf("%w: more than %d MiB", errFlood, most>>20)
	}
	return nil
}

// untilDue shortens the pause to the next limit, so that a limit holds to the millisecond and not to the pause.
func (l *look) untilDue() time.Duration {
	pause := l.pause
	shorten := func(limit, since time.Duration) {
		if rest := limit - (l.ran - since); limit > 0 && rest > 0 {
			pause = min(pause, rest)
		}
	}
	shorten(l.limits.Wall, 0)
	shorten(l.limits.Silence, l.heard)
	shorten(l.limits.FirstAnswer, 0)
	if l.finished {
		shorten(l.limits.Linger, l.quiet())
	}
	return max(pause, time.Millisecond)
}

// quiet is since when a process with a final result has said nothing more.
func (l *look) quiet() time.Duration { return max(l.heard, l.ended) }

// grown compares the sizes of both outputs with those of the last look.
func (l *look) grown() bool {
	sizes := [2]int64{fileSize(l.cmd.Stdout), fileSize(l.cmd.Stderr)}
	grown := sizes != l.sizes
	l.sizes = sizes
	return grown
}

// last reads what the process wrote between the last look and its end.
func (l *look) last(exit process.Exit) {
	if l.tail != nil {
		if l.ending != nil && !exit.StoppedAt.IsZero() {
			l.tail.until(exit.Said)
			l.ending(exit.StoppedAt)
		}
		_ = l.tail.finish() // what cannot be read is missing from the outcome: no result, never a success
	}
	if l.mood != nil {
		l.mood()
	}
}

func kept(l Limits) int64 {
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
