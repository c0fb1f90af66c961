package limits

import (
	"testing"
	"time"

	"relay/attempts"
)

func TestTurn(t *testing.T) {
	t.Parallel()
	for want, happened := range map[string]func(*Pool) (from, to string){
		"from a to b: a is not asked before 23:00: why": func(p *Pool) (string, string) {
			p.fails("a", "X", attempts.Quota, 0, time.Hour)
			return "a", "b"
		},
		"from a to b: a: why":                    func(p *Pool) (string, string) { p.refuseAll("a", -10*time.Second); return "a", "b" },
		"from b to z":                            func(*Pool) (string, string) { return "b", "z" },
		"back from b to a: a may be asked again": func(*Pool) (string, string) { return "b", "a" },
	} {
		p := night("a", "b")
		from, to := happened(p)
		if got := p.SwitchReason(from, to, at(0), func(t time.Time) string { return t.Format("15:04") }); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
