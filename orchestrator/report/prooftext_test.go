package report_test

import (
	"testing"

	"relay/epic"
	"relay/orchestrator/report"
	"relay/review"
)

func TestCriterionText(t *testing.T) {
	t.Parallel()
	checks := []epic.Check{{Name: "unit"}, {Name: "lint"}}
	for _, test := range []struct{ got, want string }{
		{report.CriterionText(epic.Criterion{Text: "it greets", Check: "unit"}, checks), "its check: unit"},
		{report.CriterionText(epic.Criterion{Text: "it greets"}, checks), "covered by the task's checks: unit, lint"},
		{
			report.CriterionText(epic.Criterion{Text: "it greets"}, nil),
			"no check proves it; write a command that does under the task's checks, as in - **Checks:** `COMMAND`",
		},
		{report.ProofText(review.Proof{By: review.Unproven}, []string{"unit"}), "covered by the task's checks: unit"},
		{
			report.ProofText(review.Proof{By: review.Unproven}, nil),
			"unproven: no check proves it; write a command that does under the task's checks, as in - **Checks:** `COMMAND`",
		},
	} {
		if test.got != test.want {
			t.Errorf("got  %s\nwant %s", test.got, test.want)
		}
	}
}
