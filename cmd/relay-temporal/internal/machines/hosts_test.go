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
		waits := ""
		tell := func(what string) { waits = what }
		take := func(wanted string) string {
			t.Helper()
			name, err := h.take(t.Context(), need{wanted: wanted, tell: tell})
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
		if name, err := h.take(ctx, need{tell: tell}); name != "" || err == nil || waits != "waits for a host" {
			t.Errorf("got %s, %v, %s, where none is free", name, err, waits)
		}
		h.give("b", nil)
		if got := take("b"); got != "b" {
			t.Errorf("got %s, want the host with the session", got)
		}
		h.give("a", nil)
		ctx, stop = context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if name, err := h.take(ctx, need{wanted: "b", tell: tell}); name != "" || err == nil || waits != "waits for b" {
			t.Errorf("got %s, %v, %s, where the host with the session is busy", name, err, waits)
		}
		h.give("a", errDrained)
		h.give("b", nil)
		if got := take("a"); got != "b" {
			t.Errorf("got %s, want the host that does not drain", got)
		}
		if got := take(""); got != "a" {
			t.Errorf("got %s, want the host that may have begun again", got)
		}
		h.give("b", nil)
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
		_, err := h.take(t.Context(), need{})
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
			if name, err := h.take(t.Context(), need{labels: []string{"gpu"}, tell: func(string) {}}); name != "b" || err != nil {
				t.Fatalf("got %s, %v", name, err)
			}
			h.give("b", errors.New("it burns"))
		}
		_, err := h.take(t.Context(), need{labels: []string{"gpu"}, tell: func(string) {}})
		if !errors.Is(err, errUnfit) || err.Error() != "no host that serves has the labels gpu: b has failed 5 times in a row: it burns" {
			t.Errorf("got %v", err)
		}
		if _, err := h.take(t.Context(), need{labels: []string{"gpu", "codex"}}); !errors.Is(err, errUnfit) {
			t.Errorf("got %v", err)
		}
		if name, err := h.take(t.Context(), need{}); name != "a" || err != nil {
			t.Errorf("got %s, %v, want the host that serves", name, err)
		}
	})
}

// A limit belongs to an account and a runner. When it holds on every host that serves, the run decides; until it does, hosts with other
// accounts work.
func TestHostsWithLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts([]settings.Host{{Name: "a", Jobs: 9, Account: "team"}, {Name: "b", Jobs: 8, Account: "team"}, {Name: "c", Jobs: 1, Account: "c"}})
		asks := func(runners ...string) need { return need{asked: runners, tell: func(string) {}} }
		take := func(n need, want string) {
			t.Helper()
			if got, err := h.take(t.Context(), n); got != want || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		}
		began := time.Now()
		late, early := began.Add(2*time.Hour), began.Add(time.Hour)
		if opens := h.limit("b", "claude", late, asks("claude")); !opens.IsZero() {
			t.Errorf("opens at %s, and c may be asked", opens)
		}
		take(asks("claude"), "c")
		take(asks("codex"), "a")
		h.give("c", nil)
		take(asks("codex", "claude"), "c")
		h.give("c", nil)
		if opens := h.limit("c", "claude", early, asks("codex", "claude")); opens != early {
			t.Errorf("opens at %s, want %s", opens, early)
		}
		take(asks("claude"), "a") // none may be asked: the run knows, and asks all the same
		h.give("c", errors.New("it burns"))
		<-time.After(time.Until(early))
		take(asks("claude"), "c")
		for range mostFailures {
			h.give("c", errors.New("it burns"))
		}
		if opens := h.limit("a", "claude", late, asks("claude")); opens != late {
			t.Errorf("opens at %s, and no host that serves may be asked", opens)
		}
	})
}

// A limit that is over, and hit again, is for the run to judge, unless the runner has answered meanwhile. Others are not asked on a host
// that has drained.
func TestHostsWithLimitsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts([]settings.Host{{Name: "a", Jobs: 2, Account: "a"}, {Name: "b", Jobs: 1, Account: "b"}})
		n := need{wanted: "a", asked: []string{"claude"}, tell: func(string) {}}
		limited := func(name string, want bool) {
			t.Helper()
			until := time.Now().Add(4 * time.Second)
			if opens := h.limit(name, "claude", until, n); opens.IsZero() == want {
				t.Errorf("opens at %s, want a limit of the run: %t", opens, want)
			}
		}
		limited("a", false)
		limited("a", false) // side by side
		if got, err := h.take(t.Context(), n); got != "b" || err != nil {
			t.Errorf("got %s, %v, want the host that may be asked", got, err)
		}
		<-time.After(5 * time.Second)
		limited("b", false)
		limited("a", true)
		h.answered("a", n.asked) // it answers what was asked before
		<-time.After(5 * time.Second)
		limited("a", true)
		<-time.After(5 * time.Second)
		h.answered("a", n.asked)
		h.answered("b", n.asked)
		limited("a", false)
		h.give("b", errDrained)
		limited("a", true)
		n.wanted = "b"
		began := time.Now()
		if got, err := h.take(t.Context(), n); got != "a" || err != nil || time.Since(began) > 0 {
			t.Errorf("got %s, %v after %s, want the host that has not drained: the run has decided to ask", got, err, time.Since(began))
		}
		<-time.After(2 * longestRest)
		h.answered("a", n.asked)
		limited("a", true)
	})
}
