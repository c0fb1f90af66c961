package claude_test

import (
	"context"
	"errors"
	"testing"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/process"
	"relay/runners/runnertest"
)

const million = `{"type":"assistant","message":{"id":"a","content":[],"usage":{"input_tokens":400000,"cache_read_input_tokens":600000,"output_tokens":0}}}`

// What an agent uses is told while it works, and what one used that was stopped is in its report.
func TestUsageOfStoppedAgent(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, initLine, million, "")
	req.Env = append(req.Env, "STAYS=1")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("it has cost enough")
	req.Observe = func(e runners.Event) {
		if e.Kind == runners.EventUsage && e.Usage.CostUSD == 2 {
			cancel(enough)
		}
	}
	table := runners.Prices{"m*": {Input: 5}}
	claude := claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)})
	r, err := runners.WithPrices(claude, runners.Pricing{Prices: table}).Run(ctx, req)
	want := runners.Usage{InputTokens: 1_000_000, CachedTokens: 600_000, CostUSD: 2, Priced: true}
	if err != nil || r.Outcome != runners.Stopped || r.Detail != "stopped: "+enough.Error() || r.Usage != want {
		t.Errorf("got %+v, %v, want %+v", r, err, want)
	}
}

// What the final result says of the cost is in the report: to be told of it, somebody might stop an agent for it that has
// ended.
func TestNoUsageAfterTheResult(t *testing.T) {
	t.Parallel()
	var last runners.EventKind
	req := runnertest.Prints(t, initLine, million, doneLine)
	req.Observe = func(e runners.Event) { last = e.Kind }
	runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}), req)
	if last != runners.EventResult {
		t.Errorf("the last that was told is %s", last)
	}
}
