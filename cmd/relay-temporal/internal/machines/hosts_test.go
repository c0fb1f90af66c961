package machines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay/cmd/relay-temporal/internal/settings"
)

// Jobs go where most are free; a host that has failed rests, longer each time, until every host has failed too often.
func TestHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts([]settings.Host{{Name: "a", Jobs: 2}, {Name: "b", Jobs: 1}})
		take := func(wanted string) string {
			t.Helper()
			name, err := h.take(t.Context(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			return name
		}
		if got := take("") + take("") + take(""); got != "aab" && got != "aba" {
			t.Errorf("got %s", got)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if name, err := h.take(ctx, ""); name != "" || err == nil {
			t.Errorf("got %s, %v, where none is free", name, err)
		}
		h.give("b", nil)
		if got := take("b"); got != "b" {
			t.Errorf("got %s, want the host with the session", got)
		}
		h.drains("a")
		h.give("a", nil)
		h.give("a", nil)
		h.give("b", nil)
		if got := take(""); got != "b" {
			t.Errorf("got %s, want the host that does not drain", got)
		}
		h.give("b", nil)
		if got := take("a"); got != "a" {
			t.Errorf("got %s, want the host that has drained", got)
		}
		h.give("a", nil)
		began := time.Now()
		for range mostFailures {
			for _, name := range []string{"a", "b"} {
				if got := take(name); got != name {
					t.Errorf("got %s, want %s", got, name)
				}
				h.give(name, fmt.Errorf("%w: it burns", ErrRefused))
			}
		}
		if waited := time.Since(began); waited < 75*time.Second || waited > 80*time.Second {
			t.Errorf("the hosts rested for %s", waited)
		}
		_, err := h.take(t.Context(), "")
		if _, err := (&Engine{}).apart(t.Context(), err); err == nil || !strings.Contains(err.Error(), "b has failed 5 times in a row: the host refuses") {
			t.Errorf("got %v, want what ends the run", err)
		}
	})
}

// A host that fails keeps back only the tasks that need its labels.
func TestHostsWithLabels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts([]settings.Host{{Name: "a", Jobs: 1}, {Name: "b", Jobs: 1, Labels: []string{"gpu"}}})
		for range mostFailures {
			if name, err := h.take(t.Context(), "", "gpu"); name != "b" || err != nil {
				t.Fatalf("got %s, %v", name, err)
			}
			h.give("b", errors.New("it burns"))
		}
		_, err := h.take(t.Context(), "", "gpu")
		if !errors.Is(err, errUnfit) || err.Error() != "no host that serves has the labels gpu: b has failed 5 times in a row: it burns" {
			t.Errorf("got %v", err)
		}
		if _, err := h.take(t.Context(), "", "gpu", "codex"); !errors.Is(err, errUnfit) {
			t.Errorf("got %v", err)
		}
		if name, err := h.take(t.Context(), ""); name != "a" || err != nil {
			t.Errorf("got %s, %v, want the host that serves", name, err)
		}
	})
}
