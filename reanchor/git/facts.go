package git

import (
	"context"
	"sync"
	"time"
)

// Facts is the state of a checkout at one moment.
type Facts struct {
	Branch   string // "" when HEAD is detached
	Head     string // full hash; "" before the first commit
	Recent   []Commit
	Changes  []Change // uncommitted, untracked included, ignored not; a wholly untracked folder is one path ending in "/"
	More     int      // uncommitted paths beyond the ones in Changes
	Unmerged bool     // a merge or rebase is half done
}

// Commit is one line of the log.
type Commit struct {
	Hash, Subject string
	When          time.Time // of the committer, UTC
}

// Change is one changed path. Code has git's two status letters for an uncommitted path and one letter (A, M, D, R,
// C, T) for a path that differs between two commits.
type Change struct {
	Code string // " M", "??", "UU", …
	Path string // as git has it: bytes, not always UTF-8; "/" separates on every system
	From string // old path of a rename
	Blob string // of the file at the path now, where two commits were compared
	Link string // commit of another repository that stands at the path now, where two commits were compared
}

// Lines counts those of a file that differ between two commits; a binary file has none.
type Lines struct{ Added, Deleted int }

// Cached gives the facts of one checkout without asking git each time: they are refreshed at most once per interval.
type Cached struct {
	ask   func(context.Context) (Facts, error)
	every time.Duration
	now   func() time.Time

	mu    sync.Mutex
	facts Facts
	at    time.Time
	known bool
}

// NewCached returns the facts of g with its last recent commits, no older than every. Pipes that git would wait for are removed
// before it is asked, see [Unblock]. The clock is the caller's.
func NewCached(g *Repo, recent int, every time.Duration, now func() time.Time) *Cached {
	ask := func(ctx context.Context) (Facts, error) {
		if err := Unblock(g); err != nil {
			return Facts{}, err
		}
		return g.Facts(ctx, recent)
	}
	return &Cached{ask: ask, every: every, now: now}
}

// Facts returns what is known, asking git first when that is older than the interval or the clock went back. An error
// is not kept. Callers share the slices in the answer and must not change them.
func (c *Cached) Facts(ctx context.Context) (Facts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if age := now.Sub(c.at); c.known && age >= 0 && age < c.every {
		return c.facts, nil
	}
	facts, err := c.ask(ctx)
	if err != nil {
		return Facts{}, err
	}
	c.facts, c.at, c.known = facts, now, true
	return facts, nil
}
