package status

import (
	"testing"

	"relay/attempts"
)

func TestEventText(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]attempts.Event{
		"briefed T1 attempt 2": {Type: attempts.TypeBriefed, Task: "T1", Attempt: 2, Briefed: &attempts.Briefed{Bytes: 4096}},
		"briefed T1 attempt 1": {
			Type: attempts.TypeBriefed, Task: "T1", Attempt: 1, Briefed: &attempts.Briefed{Bytes: 1, Continues: true, Cut: []string{"epic", "paths"}},
		},
		"pull_request": {
			Type: attempts.TypePullRequest, PullRequest: &attempts.PullRequest{URL: "https://example.com/1", Branch: "relay/x"},
		},
		"later T1": {Type: "later", Task: "T1"},
	} {
		if got := EventText(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
