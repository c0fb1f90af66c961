package limits

import (
	"testing"
	"time"

	"relay/attempts"
)

// What a runner had answered before it failed others says nothing of it when the work lands after that.
func TestAnsweredBefore(t *testing.T) {
	t.Parallel()
	p := night("a")
	p.Ask("a", "X", at(0))
	p.Answered("a", "X", at(time.Minute))
	p.fails("a", "Y", attempts.Provider, time.Minute, 0)
	p.Answered("a", "X", at(61*time.Second))
	p.Release("X")
	if p.AllOpen("Z", []string{"a"}, at(61*time.Second)) {
		t.Error("an answer from before its last fault opens the runner")
	}
}

// A task whose failure was answered by its next attempt, while the last task failed again, does not hide that this one fails alone.
func TestLastAloneAfterOthersWereAnswered(t *testing.T) {
	t.Parallel()
	p := night("a")
	p.Answered("a", "earlier", at(0))
	p.fails("a", "X", attempts.Provider, time.Minute, 0)
	p.fails("a", "Poison", attempts.Provider, time.Minute, 0)
	p.Ask("a", "X", at(2*time.Minute))
	p.fails("a", "Poison", attempts.Provider, 3*time.Minute, 0)
	p.Answered("a", "X", at(4*time.Minute))
	p.Release("X")
	last := RunnerFault{Outcome: attempts.Provider, Alone: true, Last: true}
	for n := 1; n <= 3; n++ {
		now := at(time.Duration(n) * time.Hour)
		p.Ask("a", "Poison", now)
		if got := p.Fail("a", "Poison", last, now); got.Own != n || got.Barred != (n == 3) {
			t.Errorf("failure %d of the last task: %+v", n, got)
		}
	}
}
