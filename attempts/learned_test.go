package attempts

import (
	"slices"
	"testing"
)

// The last tasks that have told a learning are known however the ledger came about, in the order of the plan.
func TestLearned(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 5)
	f := newFold(g, nil)
	if got := f.tasks.lastLearned(2); got == nil || len(got) != 0 {
		t.Errorf("before anything is said: got %#v", got)
	}
	said := func(task string, n int, learning string) {
		begun, ended := started(task, n), failed(task, n, "no")
		ended.Ended.Receipt.Learning = learning
		f.apply(&begun)
		f.apply(&ended)
	}
	said("T5", 1, "The port is 80.")
	said("T2", 1, "")
	said("T4", 1, "The port is 81.")
	said("T1", 1, "The port is 82.")
	said("T5", 2, "The port is 83.")
	if got := f.tasks.lastLearned(2); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("the last two: got %v", got)
	}
	if got := newFold(g, f.ledger).tasks.lastLearned(9); !slices.Equal(got, []int{0, 3, 4}) {
		t.Errorf("all, as read from a ledger: got %v", got)
	}
}
