package worker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"relay/attempts"
)

// checkResult is what a check came to on a tree.
type checkResult struct {
	run      attempts.CheckRun
	timedOut bool
	flooded  bool     // it printed too much; timedOut says so as well
	unseen   bool     // how it ended is unknown: it proves nothing
	twice    bool     // it failed when it was asked once more
	changed  []string // protected files that were changed while it ran, and put back
}

func (s checkResult) passed() bool { return !s.unseen && !s.timedOut && s.run.ExitCode == 0 }

// red reports whether a check has failed. One that took too long has said nothing.
func (s checkResult) red() bool { return !s.unseen && !s.timedOut && s.run.ExitCode != 0 }

// checkCache remembers what the checks of a list have said of each tree: a list that passed is not run twice on the same
// files, and of tasks that ask at once only one runs it. Only whole lists count: each check may build on those before it.
type checkCache struct {
	mu    sync.Mutex
	known map[verdictKey]*cachedRun
}

type verdictKey struct {
	tree string
	task string // whose the list is: its checks are told; "" : the epic's, or any task's that has the same
	list [sha256.Size]byte
}

// key names a list of checks on a tree: the same commands, limits and protected files.
func (q question) key(g *workspace, tree, task string) verdictKey {
	sum := sha256.New()
	for _, check := range q.checks {
		fmt.Fprintf(sum, "%s %q %d\n", check.phase, check.Run, g.checkWall(check.Check))
	}
	fmt.Fprintf(sum, "%q\n", q.protected(g))
	return verdictKey{tree, task, [sha256.Size]byte(sum.Sum(nil))}
}

// cachedRun is what a list has said, as soon as done is closed.
type cachedRun struct {
	done  chan struct{}
	valid bool // it was run to its end
	said  []checkResult
}

// of returns what is known of a list and is believed, or runs the list to know it. What took too long, nobody saw the
// end of, or was not run to its end, is not remembered.
func (v *checkCache) of(ctx context.Context, key verdictKey, believed func([]checkResult) bool, run func() (list []checkResult, whole bool, err error)) (list []checkResult, known bool, err error) {
	for {
		e, mine := v.claim(key, believed)
		if mine {
			list, whole, err := run()
			e.said, e.valid = list, whole && err == nil && ctx.Err() == nil
			v.settle(key, e)
			return list, false, err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, false, nil
		}
		if e.valid && believed(e.said) {
			return e.said, true, nil
		}
	}
}

// claim returns the verdict on a list that there is or will be, or a new one for the caller to make.
func (v *checkCache) claim(key verdictKey, believed func([]checkResult) bool) (e *cachedRun, mine bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.known[key]; e != nil && (!e.closed() || believed(e.said)) {
		return e, false
	}
	e = &cachedRun{done: make(chan struct{})}
	v.known[key] = e
	return e, true
}

func (e *cachedRun) closed() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func (v *checkCache) settle(key verdictKey, e *cachedRun) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !e.valid || slices.ContainsFunc(e.said, func(s checkResult) bool { return s.timedOut }) {
		delete(v.known, key)
	}
	close(e.done)
}

// also has a verdict count under another key, where nobody is about to find one out.
func (v *checkCache) also(from, to verdictKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, other := v.known[from], v.known[to]
	if e != nil && e.closed() && (other == nil || other.closed()) {
		v.known[to] = e
	}
}

// correct notes what a check of a list said when it was asked once more: it failed again, or it is not to be relied on.
func (v *checkCache) correct(key verdictKey, at int, again checkResult) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.known[key]
	switch {
	case e == nil || !e.closed():
	case again.passed() && e.said[at].passed():
	case again.red() && e.said[at].red():
		list := slices.Clone(e.said)
		list[at].twice = true
		v.known[key] = &cachedRun{done: e.done, valid: true, said: list}
	default:
		delete(v.known, key)
	}
}
