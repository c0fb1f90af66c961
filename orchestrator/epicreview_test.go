package orchestrator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/review"
)

// A review of the whole epic waits for reviewers that may not be asked yet, but not for ever.
func TestAwaitPanel(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cool  map[string]time.Duration // from when on a reviewer may be asked
		until time.Duration
		drain time.Duration
		stop  time.Duration
		open  bool
		takes time.Duration
	}{
		"nobody is limited":    {open: true},
		"one is":               {cool: map[string]time.Duration{"ann": time.Hour}, open: true, takes: time.Hour},
		"two are":              {cool: map[string]time.Duration{"ann": time.Hour, "bob": 5 * time.Hour}, open: true, takes: 5 * time.Hour},
		"beyond the deadline":  {cool: map[string]time.Duration{"bob": 5 * time.Hour}, until: 4 * time.Hour},
		"before the deadline":  {cool: map[string]time.Duration{"bob": 5 * time.Hour}, until: 6 * time.Hour, open: true, takes: 5 * time.Hour},
		"the plan is reloaded": {cool: map[string]time.Duration{"bob": 5 * time.Hour}, drain: time.Hour, takes: time.Hour},
		"somebody stops it":    {cool: map[string]time.Duration{"bob": 5 * time.Hour}, stop: time.Minute, takes: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, g := planned(t)
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				drain := make(chan struct{})
				o := Options{
					LocalOptions: engine.LocalOptions{
						Options: engine.Options{
							Epic:      e,
							Dir:       dir,
							Run:       "20260101T220000Z-0000",
							Isolation: engine.IsolationWorktree,
							Review:    engine.Review{Reviewers: []engine.Reviewer{{Name: "ann"}, {Name: "bob"}}},
						},
						Graph: g,
					},
					Policy: decide.Policy{
						Drain: drain,
					},
				}
				if test.until > 0 {
					o.Until = time.Now().Add(test.until)
				}
				store, err := openedLedger(t, &o)
				if err != nil {
					t.Fatal(err)
				}
				waiting := func() (w *attempts.Waiting) {
					store.View(func(l *attempts.Ledger) { w = l.Waiting })
					return w
				}
				o.Notify = func(u decide.Update) {
					if waiting() == nil {
						t.Errorf("told before it is recorded: %+v", u)
					}
				}
				n := newRun(&o, store, abilities(&simulated{}))
				for who, off := range test.cool {
					n.state.Pool.Fail(who, "X", limits.RunnerFault{Outcome: attempts.Quota, Why: "limit", ResetAt: time.Now().Add(off)}, n.state.Instant())
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.drain > 0 {
					defer time.AfterFunc(test.drain, func() { close(drain) }).Stop()
				}
				if test.stop > 0 {
					defer time.AfterFunc(test.stop, cancel).Stop()
				}
				began := time.Now()
				open, err := n.epicReview.awaitPanel(ctx)
				if took := time.Since(began); err != nil || open != test.open || took != test.takes {
					t.Errorf("got %v, %v after %s, want %v after %s", open, err, took, test.open, test.takes)
				}
				if waits := waiting(); (waits != nil) != (test.takes > 0) {
					t.Errorf("the ledger says %+v", waits)
				}
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func planned(t *testing.T) (*epic.Epic, *epic.Graph) {
	t.Helper()
	e, err := epic.Read("epic.yml", []byte(threeInARow))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return e, g
}

// Why a run is over whose every task is completed.
func TestWholeReason(t *testing.T) {
	t.Parallel()
	panel := engine.Review{Epic: true, Reviewers: []engine.Reviewer{{Name: "ann"}}}
	said := func(d review.Decision, added ...string) *attempts.EpicReview {
		return &attempts.EpicReview{Decision: d, Summary: "Well.", Why: "limit", Added: added}
	}
	for name, test := range map[string]struct {
		review   engine.Review
		unjudged string
		last     *attempts.EpicReview
		want     decide.EndReason
		why      string
	}{
		"nobody reviews":        {want: decide.EpicComplete, last: said(review.Blocked)},
		"the epic is not asked": {review: engine.Review{Reviewers: panel.Reviewers}, want: decide.EpicComplete, last: said(review.Blocked)},
		"nothing has changed":   {review: panel, want: decide.EpicComplete},
		"approved":              {review: panel, last: said(review.Approved), want: decide.EpicComplete},
		"refused":               {review: panel, last: said(review.NeedsChanges), want: decide.EpicRefused, why: "the whole epic: NEEDS CHANGES: Well."},
		"blocked":               {review: panel, last: said(review.Blocked), want: decide.EpicRefused, why: "the whole epic: BLOCKED: Well."},
		"could not be":          {review: panel, last: said(""), want: decide.EpicUnjudged, why: "the whole epic: could not be reviewed: limit"},
		"tasks were added":      {review: panel, last: said(review.NeedsChanges, "R1"), want: decide.EpicUnjudged, why: "the whole epic: not reviewed since these were added: R1"},
		"no money is left":      {review: panel, last: said(review.Approved), unjudged: "want of money", want: decide.EpicUnjudged, why: "the whole epic: not reviewed, for want of money"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, g := planned(t)
			o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Epic: e, Dir: t.TempDir(), Run: "20260101T220000Z-0000", Review: test.review}, Graph: g}}
			store, err := openedLedger(t, &o)
			if err != nil {
				t.Fatal(err)
			}
			if test.last != nil {
				if err := store.Append(attempts.Event{Type: attempts.TypeEpicReviewed, EpicReviewed: test.last}); err != nil {
					t.Fatal(err)
				}
			}
			n := newRun(&o, store, abilities(&simulated{}))
			n.epicReview.unjudged = test.unjudged
			if got, why := n.epicReview.reason(); got != test.want || why != test.why {
				t.Errorf("got %s, %q, want %s, %q", got, why, test.want, test.why)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
