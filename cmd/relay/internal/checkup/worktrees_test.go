package checkup

import (
	"errors"
	"testing"

	"relay/cmd/relay/internal/project"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		need, free       uint64
		unknown          error
		state, text, fix string
	}{
		{10 << 30, 20 << 30, nil, OK, "room for two", ""},
		{10 << 30, 11 << 30, nil, Warn, "there is hardly room for two", "make room"},
		{10 << 30, 10 << 30, nil, Fail, "there is no room for two", "make room"},
		{10 << 30, 1 << 30, nil, Fail, "there is no room for two", "make room"},
		{7, 0, errors.New("no such disk"), Warn, "it is not known whether there is room for two: no such disk", ""},
	} {
		if state, text, fix := roomFor("two", c.need, c.free, c.unknown); state != c.state || text != c.text || fix != c.fix {
			t.Errorf("got %s %q, %q; want %s %q, %q", state, text, fix, c.state, c.text, c.fix)
		}
	}
}

// A job checks and lets one reviewer after the other look, but not at once.
func TestCheckouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ jobs, reviewers, want int }{{1, 0, 3}, {4, 0, 9}, {4, 1, 9}, {4, 3, 17}} {
		if got := project.Checkouts(c.jobs, c.reviewers); got != c.want {
			t.Errorf("%d jobs and %d reviewers have %d checkouts, want %d", c.jobs, c.reviewers, got, c.want)
		}
	}
}
