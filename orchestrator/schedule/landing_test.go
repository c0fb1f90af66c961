package schedule_test

import (
	"testing"
	"time"

	"relay/orchestrator/schedule"
)

func TestLandTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		checked []time.Duration
		want    int
	}{
		{nil, 0},
		{[]time.Duration{time.Hour}, 1},
		{[]time.Duration{time.Second, 9 * time.Second}, 1},
		{[]time.Duration{time.Second, 9*time.Second + 1}, 2},
		{[]time.Duration{0, 0, time.Minute}, 3},
	} {
		if got := schedule.LandTogether(c.checked, 5*time.Second); got != c.want {
			t.Errorf("%v: %d, want %d", c.checked, got, c.want)
		}
	}
	if got := schedule.LandFewer(5); got != 2 {
		t.Errorf("got %d", got)
	}
}
