package checks

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"relay/reanchor/git/repotest"
)

// Checks of two runs go side by side, but for one that is repeated alone: it waits for those of the other run, and they for it, half a
// minute at most.
func TestTurnsOfTwoRuns(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{t.TempDir(), "", t.TempDir() + "/none"} {
		synctest.Test(t, func(t *testing.T) {
			one, two := newTurns(0, folder), newTurns(0, folder)
			// take returns how long one waits for a turn while another has one until it ends after a time.
			take := func(alone, otherAlone bool, after time.Duration) time.Duration {
				began := time.Now()
				leave := repotest.Want[func() bool](t)(one.take(t.Context(), t.Context(), otherAlone))
				time.AfterFunc(after, func() { leave() })
				repotest.Want[func() bool](t)(two.take(t.Context(), t.Context(), alone))()
				waited := time.Since(began)
				<-time.After(after) // on the clock of the test
				return waited
			}
			free := folder == "" || folder[len(folder)-1] == 'e'
			for _, c := range []struct {
				alone, otherAlone  bool
				after, least, most time.Duration
			}{
				{false, false, time.Hour, 0, 0},
				{true, false, time.Second, time.Second, 2 * time.Second},
				{false, true, time.Second, time.Second, 2 * time.Second},
				{true, false, time.Hour, lockWait, lockWait + time.Second},
				{false, true, time.Hour, lockWait, lockWait + time.Second},
			} {
				waited := take(c.alone, c.otherAlone, c.after)
				if free && waited > 0 || !free && (waited < c.least || waited > c.most) {
					t.Errorf("%q, %+v: waited %s", folder, c, waited)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			leave := repotest.Want[func() bool](t)(one.take(t.Context(), t.Context(), true))
			cancel()
			began := time.Now()
			if _, err := two.take(ctx, t.Context(), false); err != nil || time.Since(began) > lockPause {
				t.Errorf("a run that is stopped waits %s (%v)", time.Since(began), err)
			}
			leave()
		})
	}
}
