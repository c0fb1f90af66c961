package labtest

import (
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// TestRealAgentsReview has one CLI judge what another one made: what it finds goes back to the session that did the work,
// and is judged again.
func TestRealAgentsReview(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"claude", "codex"}, {"codex", "claude"}, {"claude", "gemini"}, {"codex", "opencode"}} {
		worker, judge := pair[0], pair[1]
		t.Run(worker+"-by-"+judge, func(t *testing.T) {
			t.Parallel()
			l := newAgentLab(t, patient, cliNamed(t, worker), cliNamed(t, judge))
			l.env = append(l.env, "RELAY_ISOLATION=worktree", "RELAY_REVIEW_PROVIDER="+judge)
			l.model.Play(worker, modelserver.Step{Shell: "if test -e hello.txt; then echo there >> hello.txt; else echo hello > hello.txt; fi"}, modelserver.Step{Claim: "Did it."})
			l.model.Play(judge, modelserver.Step{Answer: []byte(`{"verdict":"NEEDS CHANGES","summary":"Nobody is there.","findings":[{"severity":"high","file":"hello.txt","line":1,"issue":"nobody is named","fix":"name somebody"}]}`)})
			r := l.start("work")
			l.await("the first review", func() bool { return len(l.model.Asked(judge)) > 0 })
			l.model.Play(judge, modelserver.Step{Answer: []byte(`{"verdict":"APPROVED","summary":"Fine.","findings":[]}`)})
			l.end(r)
			r.wants(t, terminal.OK)
			r.says(t, "T1 fixing what reviewers found: round 1 of 2")
			if list := l.done(""); len(list) != 1 {
				t.Errorf("attempts %+v, want one", list)
			}
			l.answered(worker, "shell", "claim", "shell", "claim")
			l.answered(judge, "answer", "answer")
			if got := l.git("show", "relay/20260101-agents:hello.txt"); got != "hello\nthere" {
				t.Errorf("hello.txt on the branch is %q", got)
			}
			if said := l.run("show", "T1", "--review").stdout.String(); !strings.Contains(said, "APPROVED, after 1 round of fixes") {
				t.Errorf("relay show --review says %s", said)
			}
		})
	}
}
