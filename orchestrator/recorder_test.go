package orchestrator

import (
	"slices"
	"testing"

	"relay/attempts"
	"relay/orchestrator/updates"
)

// A task that lacked something, and passes after one other task has landed, has that dependency offered.
func TestMissingEdgeIsOffered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why  string
		want []string
	}{
		"it lacked a name":      {"undefined: Open", []string{"lacked something, and passes now that B has landed: if it needs that, write depends_on: [B] for it in epic.yml"}},
		"it failed in some way": {"want 2, got 3", nil},
	} {
		var got []string
		o := Options{Notify: func(u updates.Update) {
			if u.Kind == updates.Note && u.Task == "A" {
				got = append(got, u.Text)
			}
		}}
		script := map[string][]step{"A": {{outcome: attempts.Check, why: c.why}}}
		const plan = "version: 2\nid: 20260101-night\ntitle: night\ntasks:\n  A: {title: a, points: 2}\n  B: {title: b}\n"
		simulate(t, plan, o, script, func(_ *simulated, store *attempts.Store, err error) {
			if err != nil || store.Counts()[attempts.Completed] != 2 || !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q (%v), %v, want %q", name, got, err, store.Counts(), c.want)
			}
		})
	}
}
