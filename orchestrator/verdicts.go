package orchestrator

import (
	"context"
	"sync"
	"time"

	"relay/attempts"
)

// said is what a check came to on a tree.
type said struct {
	run      attempts.CheckRun
	timedOut bool
	unseen   bool // how it ended is unknown: it proves nothing
}

func (s said) passed() bool { return !s.unseen && !s.timedOut && s.run.ExitCode == 0 }

// verdicts remembers what each check said of each tree: the same command is not run twice on the same files, and of
// tasks that ask at once only one runs it.
type verdicts struct {
	mu    sync.Mutex
	known map[verdictKey]*verdict
}

type verdictKey struct {
	tree, run string
	wall      time.Duration
}

// verdict is what a check said, as soon as done is closed.
type verdict struct {
	done  chan struct{}
	valid bool
	said  said
}

// of returns what is known, or runs the check to know it. What nobody saw the end of is not remembered.
func (v *verdicts) of(ctx context.Context, key verdictKey, run func() (said, error)) (said, error) {
	for {
		e, mine := v.claim(key)
		if mine {
			var err error
			e.said, err = run()
			e.valid = err == nil && ctx.Err() == nil && !e.said.unseen
			v.settle(key, e)
			return e.said, err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return said{unseen: true}, nil
		}
		if e.valid {
			return e.said, nil
		}
	}
}

func (v *verdicts) claim(key verdictKey) (e *verdict, mine bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.known[key]; e != nil {
		return e, false
	}
	e = &verdict{done: make(chan struct{})}
	v.known[key] = e
	return e, true
}

func (v *verdicts) settle(key verdictKey, e *verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !e.valid {
		delete(v.known, key)
	}
	close(e.done)
}
