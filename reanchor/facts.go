// Package reanchor says what a fresh agent is told: what git says is true now, and what was tried before.
package reanchor

import "time"

// Facts is the state of a checkout at one moment.
type Facts struct {
	Branch   string // "" when HEAD is detached
	Head     string // full hash; "" before the first commit
	Subject  string // of HEAD's commit
	Recent   []Commit
	Changes  []Change // uncommitted, untracked included, ignored not
	Unmerged bool     // a merge or rebase is half done
}

// Commit is one line of the log.
type Commit struct {
	Hash, Subject, Author string
	When                  time.Time
}

// Change is one uncommitted path with git's two status letters.
type Change struct {
	Code string // " M", "??", "UU", …
	Path string
	From string // old path of a rename
}
