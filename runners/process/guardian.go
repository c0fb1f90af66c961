package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// patience is how long a guardian may take to answer. One that does not (somebody stopped it) is killed, and its
// processes with it.
const patience = 30 * time.Second

var errClosed = errors.New("the guardian is closed")

// Guardian is a [Supervisor] whose processes are the children of a process of its own: relay, re-executed. That one
// outlives a killed relay just long enough to end them and to write their end files.
//
// If the guardian itself is killed, every Wait returns with Lost once its processes have been ended from here (on Linux
// they are handed to relay, a subreaper too; elsewhere they are found by their mark), and the next Start starts a new
// guardian.
type Guardian struct {
	argv, env []string
	patience  time.Duration
	slowEnd   time.Duration

	mu     sync.Mutex
	link   *link
	closed bool
}

// StartGuardian starts a guardian with argv (an absolute path first), whose program has to call [ServeGuardian] with
// its standard input and output. The first line that it writes to standard error becomes part of Close's error.
func StartGuardian(argv, env []string) (*Guardian, error) {
	g := &Guardian{argv: argv, env: env, patience: patience, slowEnd: slowEnd}
	l, err := g.dial()
	if err != nil {
		return nil, err
	}
	g.link = l
	return g, nil
}

// Start implements [Supervisor]. Whoever starts a process must Wait for it.
func (g *Guardian) Start(ctx context.Context, cmd Command) (Process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.name(), err)
	}
	l, err := g.current(ctx)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.name(), err)
	}
	p, err := l.start(cmd)
	if err != nil {
		return nil, err
	}
	follow(ctx, p, p.done)
	return p, nil
}

// Kill ends everything that runs, without a grace.
func (g *Guardian) Kill() {
	g.mu.Lock()
	l := g.link
	g.mu.Unlock()
	l.send(request{Do: doKill})
}

// Close stops what still runs, tells the guardian to end, waits until it has, and returns its error.
func (g *Guardian) Close() error {
	g.mu.Lock()
	l := g.link
	g.closed = true
	g.mu.Unlock()
	return l.close()
}

// current returns the living link, or a new one when the last guardian was lost.
func (g *Guardian) current(ctx context.Context) (*link, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if !g.link.lost() {
		return g.link, nil
	}
	select {
	case <-g.link.ended:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l, err := g.dial()
	if err != nil {
		return nil, fmt.Errorf("the guardian was lost and cannot be started again: %w", err)
	}
	g.link = l
	return l, nil
}
