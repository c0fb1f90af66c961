package runnerpool

import (
	"testing"
	"time"

	"relay/attempts"
)

// From the moment at which an attempt seems to have failed until it has come to its end, nobody else asks its runner.
func TestSuspect(t *testing.T) {
	t.Parallel()
	p := night("a")
	p.Ask("a", "X", at(0))
	p.Ask("a", "Y", at(0))
	p.MarkSuspect("a", "X", at(time.Second))
	p.MarkSuspect("a", "never asked", at(2*time.Second))
	if _, _, ok := p.Pick("Z", "", at(3*time.Second)); ok || p.Begin("a", "Y", at(3*time.Second)) != 28*time.Second {
		t.Error("somebody asks a runner that seems to have failed another")
	}
	if name, opens := p.Opens("Z", "", nil, at(3*time.Second)); name != "a" || opens.Rest(at(3*time.Second)) != 28*time.Second {
		t.Errorf("waits %s for %q", opens.Rest(at(3*time.Second)), name)
	}
	if !p.Open("a", "Z", at(31*time.Second)) {
		t.Error("an attempt that does not come to its end holds others up for longer than a back-off")
	}
	p.Release("X")
	if !p.Open("a", "Z", at(4*time.Second)) || p.Begin("a", "Y", at(4*time.Second)) > 0 {
		t.Error("the attempt has come to its end, and others wait all the same")
	}
}

// What a runner had answered before it failed others says nothing of it when the work lands after that.
func TestAnsweredBefore(t *testing.T) {
	t.Parallel()
	p := night("a")
	p.Ask("a", "X", at(0))
	p.Answered("a", "X", at(time.Minute))
	p.fails("a", "Y", attempts.Provider, time.Minute, 0)
	p.Answered("a", "X", at(61*time.Second))
	p.Release("X")
	if p.Open("a", "Z", at(61*time.Second)) {
		t.Error("an answer from before its last fault opens the runner")
	}
}
