package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
)

// Kinds of slots, by the beginning of their names.
const (
	attemptSlot  = ""
	benchSlot    = "check-"
	reviewSlot   = "review-"
	recoverySlot = "recovery-"
)

// slotNames gives out the names of a run's slots: each to one user at a time, and to the next one afterwards. Several goroutines
// may use it.
type slotNames struct {
	pool *slot.Pool

	mu    sync.Mutex
	taken map[string]bool // of this run, by name: whether somebody works there
}

func newSlotNames(pool *slot.Pool) *slotNames {
	return &slotNames{pool: pool, taken: make(map[string]bool)}
}

// take takes the first name of a kind that nobody has, and reports whether this run has not used it before.
func (n *slotNames) take(kind string) (name string, first bool) {
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

// takeEmpty takes a name whose slot has nothing in it that would be lost. What an earlier run has left there may be all there is
// of an attempt's work: such a name stays taken and is given to nobody.
func (n *slotNames) takeEmpty(ctx context.Context, kind string) (string, error) {
	for {
		name, first := n.take(kind)
		if !first {
			return name, nil
		}
		if why, err := n.pool.Unsaved(ctx, name); err != nil || why == "" {
			return name, err
		}
	}
}

// reserve takes a name that an attempt of a killed run has.
func (n *slotNames) reserve(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken[name] = true
}

// release lets somebody else have a name.
func (n *slotNames) release(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken[name] = false
}

// removeAll removes every slot of this run, whether anything in it would be lost or not.
func (n *slotNames) removeAll(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var failed error
	for name := range n.taken {
		failed = errors.Join(failed, n.pool.Remove(ctx, name))
	}
	return failed
}

// recordSlot writes the name of an attempt's slot to one of these files, for a run that has to bring the attempt to its end.
func (g *workspace) recordSlot(a engine.Attempt, in, name string) error {
	file := filepath.Join(attemptfiles.Of(g.o.Dir, a).Folder, in)
	if err := g.makeRoom(file); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(name+"\n"), 0o600)
}
