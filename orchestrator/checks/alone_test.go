package checks

import (
	"context"
	"testing"

	"relay/reanchor/git/repotest"
)

// Checks of two runs go side by side, but for one that is repeated alone: it waits for those of the other run, as long as it may.
func TestTurnsOfTwoRuns(t *testing.T) {
	t.Parallel()
	folder, ctx := t.TempDir(), t.Context()
	one, two := newTurns(0, folder), newTurns(0, folder)
	leave := repotest.Want[func() bool](t)(one.take(ctx, false))
	repotest.Want[func() bool](t)(two.take(ctx, false))()
	refused := func(t2 *turns, alone bool) bool {
		over, cancel := context.WithTimeout(ctx, 3*lockPause)
		defer cancel()
		_, err := t2.take(over, alone)
		return err != nil
	}
	if !refused(two, true) {
		t.Error("a check is alone beside one of another run")
	}
	repotest.Want[func() bool](t)(two.take(ctx, false))() // the failed turn holds nothing

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		alone, err := two.take(ctx, true)
		if err != nil {
			t.Error(err)
			return
		}
		if !refused(one, false) {
			t.Error("a check runs beside one that is alone")
		}
		alone()
	}()
	leave()
	<-ended

	for _, none := range []string{"", folder + "/none"} {
		repotest.Want[func() bool](t)(newTurns(1, none).take(ctx, true))()
	}
}
