package runners

import (
	"errors"
	"fmt"
	"strings"
)

// Fork is a place in a session of a CLI: before something that the session was asked. A new session can go on from there, with all that
// was said until then, while the old one stays as it is.
type Fork struct {
	Session string
	Asked   string // the whole text
	Nth     int    // which of the requests with that text it is, from 0
	Of      int    // how many of them the session has
}

// Errors of CLIs that cannot go on from a place.
var (
	ErrSessionGone = errors.New("its CLI has the session no more")
	errElsewhere   = errors.New("what its CLI has of the session is not what was recorded")
	errFirst       = errors.New("nothing was said before that in its session")
)

// Find returns which of the requests that a CLI has of the session is the one before which the place is. It fails when they are not those
// that were recorded, and when it is the first of them.
func (f *Fork) Find(requests []string) (int, error) {
	var found []int
	for i, text := range requests {
		if strings.TrimSpace(text) == strings.TrimSpace(f.Asked) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) != f.Of || f.Nth < 0 || f.Nth >= len(found):
		return 0, errElsewhere
	case found[f.Nth] == 0:
		return 0, errFirst
	}
	return found[f.Nth], nil
}

// CannotFork returns the report of a CLI that was not started, since it cannot go on from the place that its request names.
func CannotFork(why error) Report {
	return Report{Outcome: NoSession, Detail: fmt.Sprint(why)}
}
