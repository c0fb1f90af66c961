package sessionkeeper

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestHowLongCloseWaits: what agents said is written to its end when a run is over by itself, unless that takes minutes; a run that was
// asked to stop waits for seconds.
func TestHowLongCloseWaits(t *testing.T) {
	t.Parallel()
	const (
		never = time.Hour
		still = "what agents said is still being written to the agents ledger; Ctrl-C leaves the rest to the next run"
		left  = "the agents ledger is not complete yet: the next relay work goes on with it, or relay sessions import"
	)
	for name, c := range map[string]struct {
		takes, stopped time.Duration // the writing, and when the run is asked to stop
		want           time.Duration
		told           []string
	}{
		"soon":              {takes: time.Second, stopped: never, want: time.Second},
		"a minute":          {takes: time.Minute, stopped: never, want: time.Minute, told: []string{still}},
		"for ever":          {takes: never, stopped: never, want: mostWait, told: []string{still, left}},
		"stopped before":    {takes: time.Minute, want: closeWait, told: []string{left}},
		"stopped meanwhile": {takes: time.Minute, stopped: 20 * time.Second, want: 20 * time.Second, told: []string{still, left}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var told []string
				warn := func(words string) { told = append(told, words) }
				k := &Keeper{o: Options{Warn: warn}, end: make(chan struct{}), done: make(chan struct{}), stop: func() {}}
				writing := time.AfterFunc(c.takes, func() { close(k.done) })
				defer writing.Stop()
				ctx, cancel := context.WithTimeout(t.Context(), c.stopped)
				defer cancel()
				began := time.Now()
				k.Close(ctx)
				if took := time.Since(began); took != c.want || !slices.Equal(told, c.told) {
					t.Errorf("waited %s, told %q; want %s, %q", took, told, c.want, c.told)
				}
			})
		})
	}
}
