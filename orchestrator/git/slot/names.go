package slot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Kinds of slots, by the beginning of their names.
const (
	ForWork     = ""
	ForBench    = "check-"
	ForReview   = "review-"
	ForRecovery = "recovery-"
	ForRest     = "rest-" // what could not be removed of a slot
)

// Names gives out the names of a run's slots: each to one user at a time, and to the next one afterwards. Several goroutines
// may use it.
type Names struct {
	pool *Pool

	mu    sync.Mutex
	taken map[string]bool // of this run, by name: whether somebody works there
}

// NewNames returns those of a run, of which nothing is taken.
func NewNames(pool *Pool) *Names {
	return &Names{pool: pool, taken: make(map[string]bool)}
}

// Take takes the first free name of a kind, and reports whether this run has not used it before.
func (n *Names) Take(kind string) (name string, first bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s%d", kind, i)
		if taken, used := n.taken[name]; !taken {
			n.taken[name] = true
			return name, !used
		}
	}
}

// TakeEmpty takes a name whose slot has nothing in it that would be lost. A slot may have the only copy of an earlier attempt's work:
// its name stays taken.
//
// It takes wanted, if that is such a name and free: agent CLIs find a session by the folder it was in.
func (n *Names) TakeEmpty(ctx context.Context, kind, wanted string) (string, error) {
	if wanted != "" && isSlotName(wanted) && !n.set(wanted, true) {
		if why, err := n.pool.Unsaved(ctx, wanted); err == nil && why == "" {
			return wanted, nil
		}
	}
	for {
		name, first := n.Take(kind)
		if !first {
			return name, nil
		}
		if why, err := n.pool.Unsaved(ctx, name); err != nil || why == "" {
			return name, err
		}
	}
}

// set takes or releases a name, and reports whether it was taken before.
func (n *Names) set(name string, taken bool) (was bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	was = n.taken[name]
	n.taken[name] = taken
	return was
}

// Reserve takes a name that an attempt of a killed run has.
func (n *Names) Reserve(name string) { n.set(name, true) }

// Release lets somebody else have a name.
func (n *Names) Release(name string) { n.set(name, false) }

// RemoveAll removes every slot of this run, whether anything in it would be lost or not. [Clear] names what stays of one.
func (n *Names) RemoveAll(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var failed error
	for name := range n.taken {
		if err := n.pool.Remove(ctx, name); !errors.Is(err, ErrRest) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Kept is a slot that was not removed.
type Kept struct{ Name, Why string }

// Clear removes the slots of a pool, but for those in which something is nowhere else.
func Clear(ctx context.Context, p *Pool) (kept []Kept, err error) {
	names, err := p.Names(ctx)
	for _, name := range names {
		why, failure := "", error(nil)
		if !strings.HasPrefix(name, ForBench) && !strings.HasPrefix(name, ForReview) { // else there is only a commit, and the set-up's
			why, failure = p.Unsaved(ctx, name)
		}
		if failure == nil && why == "" {
			failure = p.Remove(ctx, name)
		}
		if failure != nil {
			why = failure.Error()
		}
		if why != "" {
			kept = append(kept, Kept{name, why})
		}
	}
	return kept, err
}
