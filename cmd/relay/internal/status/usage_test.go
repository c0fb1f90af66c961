package status

import (
	"encoding/json"
	"strings"
	"testing"

	"relay/attempts"
)

// Where several agents or models have worked each has a line, and what nobody has a price for is not passed over.
func TestSpenders(t *testing.T) {
	t.Parallel()
	used := func(runner, model string, u attempts.Usage) attempts.Attempt {
		return attempts.Attempt{Runner: runner, Model: model, Usage: &u}
	}
	spend := func(s *Report, list ...attempts.Attempt) {
		for i := range list {
			if u := list[i].Usage; u != nil {
				s.Usage.Add(*u)
			}
			s.Spenders.Add(&list[i])
		}
	}
	s := &Report{}
	spend(s,
		used("claude", "opus", attempts.Usage{InputTokens: 2_000_000, CachedTokens: 1_500_000, OutputTokens: 9000, CostUSD: 4}),
		used("claude", "haiku", attempts.Usage{InputTokens: 1000, OutputTokens: 10, CostUSD: 0.25}),
		attempts.Attempt{Runner: "mute"},
		used("claude", "opus", attempts.Usage{InputTokens: 500, CostUSD: 1}),
		used("codex", "", attempts.Usage{InputTokens: 7000, OutputTokens: 70}))
	s.Spenders.Rank()
	var out strings.Builder
	Printer{}.Print(&out, "", "cost", s)
	want := `cost   5.25 USD, 2.0M tokens in (1.5M from the cache), 9k out
       claude opus: 5.00 USD, 2.0M tokens in (1.5M from the cache), 9k out, 2 attempts
       claude haiku: 0.25 USD, 1k tokens in, 10 out, 1 attempt
       codex: 7k tokens in, 70 out, 1 attempt
       excludes 1 attempt of unknown cost
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	text, err := json.Marshal(s.Spenders[2])
	if err != nil || string(text) != `{"runner":"codex","attempts":1,"unpriced":1,"input_tokens":7000,"output_tokens":70,"seconds":0}` {
		t.Errorf("%v: an unknown cost is written: %s", err, text)
	}
	one := &Report{}
	spend(one, used("claude", "opus", attempts.Usage{InputTokens: 1, CostUSD: 1}))
	for verbose, want := range map[bool]int{false: 1, true: 2} {
		out.Reset()
		Printer{Verbose: verbose}.Print(&out, "", "cost", one)
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Errorf("verbose %v: %q", verbose, out.String())
		}
	}
}
