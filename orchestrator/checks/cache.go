package checks

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
)

// Cache remembers the results of lists of checks on each tree: a list that passed is not run twice on the same
// files, and of tasks that ask at once only one runs it. Only whole lists count: each check may build on those before it.
type Cache struct {
	mu   sync.Mutex
	runs map[CacheKey]*cachedRun
}

// NewCache returns a cache that knows nothing.
func NewCache() *Cache { return &Cache{runs: make(map[CacheKey]*cachedRun)} }

// CacheKey names a list of checks on a tree: the same commands, limits and protected files.
type CacheKey struct {
	tree string
	task string // whose list it is, which its checks see; "": the epic's, or that of any task with the same
	list [sha256.Size]byte
}

// Key names the question's list on a tree, for one task or, with "", for all.
func (q Question) Key(r *Runner, tree, task string) CacheKey {
	sum := sha256.New()
	for _, check := range q.Checks {
		fmt.Fprintf(sum, "%s %q %d\n", check.Phase, check.Run, wall(r, check))
	}
	fmt.Fprintf(sum, "%q\n", q.Protected(r.Options.Epic))
	return CacheKey{tree, task, [sha256.Size]byte(sum.Sum(nil))}
}

// cachedRun is the results of a list, valid as soon as done is closed.
type cachedRun struct {
	done    chan struct{}
	valid   bool // it was run to its end
	results []Result
}

// Get returns what is known of a list and is believed, or runs the list to know it. A list that was not run to its end
// is not remembered.
func (c *Cache) Get(
	ctx context.Context, key CacheKey, believed func([]Result) bool, run func() (list []Result, whole bool, err error),
) (list []Result, cached bool, err error) {
	for {
		e, created := c.reserve(key, believed)
		if created {
			list, whole, err := run()
			e.results, e.valid = list, whole && err == nil && ctx.Err() == nil
			c.finish(key, e)
			return list, false, err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, false, nil
		}
		if e.valid && believed(e.results) {
			return e.results, true, nil
		}
	}
}

// reserve returns the result on a list that there is or will be, or a new one for the caller to make.
func (c *Cache) reserve(key CacheKey, believed func([]Result) bool) (e *cachedRun, created bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.runs[key]; e != nil && (!e.closed() || believed(e.results)) {
		return e, false
	}
	e = &cachedRun{done: make(chan struct{})}
	c.runs[key] = e
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

func (c *Cache) finish(key CacheKey, e *cachedRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.valid {
		delete(c.runs, key)
	}
	close(e.done)
}

// Copy makes a result count under another key, unless a list runs for that.
func (c *Cache) Copy(from, to CacheKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, other := c.runs[from], c.runs[to]
	if e != nil && e.closed() && (other == nil || other.closed()) {
		c.runs[to] = e
	}
}

// Correct records the repeated result of a check: it failed again, or its result is not reliable.
func (c *Cache) Correct(key CacheKey, at int, again Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.runs[key]
	switch {
	case e == nil || !e.closed():
	case again.Passed() && e.results[at].Passed():
	case again.Red() && e.results[at].Red():
		list := slices.Clone(e.results)
		list[at].Twice = true
		c.runs[key] = &cachedRun{done: e.done, valid: true, results: list}
	default:
		delete(c.runs, key)
	}
}
