package status

import (
	"strings"
	"testing"

	"relay/attempts"
)

// What is told of a receipt whose agent gave no result in relay's form, or had nothing to do.
func TestTellReceipt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		receipt attempts.Receipt
		want    string
	}{
		{attempts.Receipt{}, ""},
		{attempts.Receipt{ResultFrom: attempts.ResultLoose}, "result: from a block of the agent's last message without relay's mark"},
		{attempts.Receipt{ResultFrom: attempts.ResultChecks}, "result: the agent gave none; the task's checks decided"},
		{attempts.Receipt{ResultFrom: attempts.ResultReviewers}, "result: the agent gave none when it had fixed what reviewers found; the reviewers decided"},
		{attempts.Receipt{ResultFrom: attempts.ResultAsked}, "result: given when relay asked the agent again"},
		{
			attempts.Receipt{Statement: attempts.Statement{
				Decisions: map[string]string{"b": "2", "a": "\x1b[31m1"}, Questions: []string{"why?"}, Discovered: []attempts.Discovery{{Title: "x", Why: "it leaks"}, {Title: "y"}}, Confident: new(bool),
				Bugfix: &attempts.Bugfix{RootCause: "c", Fix: "f"},
			}},
			"decided: a: \\u001b[31m1\ndecided: b: 2\ncause: c\nfix: f\nasks: why?\nfound, and left: x: it leaks\nfound, and left: y\nthe agent is not sure of it",
		},
		{
			attempts.Receipt{Statement: attempts.Statement{
				Implementation: &attempts.Implementation{DesignDecisions: []string{"d"}, BreakingChanges: []string{"b"}},
				Inspection: &attempts.Inspection{
					Scope: []string{"a.go"}, Assessment: "fair", Findings: []attempts.InspectionFinding{{Severity: "low", Location: "a.go:1", Issue: "i", Recommendation: "r"}},
				},
			}},
			"built so: d\nbreaks: b\nlooked at: a.go\nfinding: low a.go:1: i: r\nassessment: fair",
		},
		{attempts.Receipt{AlreadyDone: true}, "already done: nothing had to change, and its checks pass on the commit that the attempt began from"},
	} {
		var b strings.Builder
		Printer{Width: 200}.Print(&b, "", "receipt", indented{&attempts.Attempt{Receipt: c.receipt}, ""})
		if got := strings.TrimSpace(b.String()); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.receipt, got, c.want)
		}
	}
}
