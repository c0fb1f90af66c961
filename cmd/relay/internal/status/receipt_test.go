package status

import (
	"strings"
	"testing"
	"time"

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
		{attempts.Receipt{ResultFrom: attempts.ResultAsked}, "result: given when the agent was asked for it once more"},
		{attempts.Receipt{AlreadyDone: true}, "already done: nothing had to change, and its checks pass on the commit that the attempt began from"},
	} {
		var b strings.Builder
		WriteReceipt(&b, &c.receipt, Printer{Now: time.Now(), Width: 200}, "")
		if got := strings.TrimSpace(b.String()); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.receipt, got, c.want)
		}
	}
}
