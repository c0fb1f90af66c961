package labtest

import (
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

const walledPlan = `version: 2
id: 20260101-agents
title: Real agents
tasks:
  T1: {title: Begin, checks: ["grep -q line hello.txt"]}
  T2: {title: Continue, depends_on: [T1], checks: ["grep -q line hello.txt"]}
  T3: {title: End, depends_on: [T2], checks: ["grep -q line hello.txt"]}
`

// TestRealAgentsWalled has each CLI do an epic of three tasks in the sandbox: with a review by another CLI, a round of fixes in the resumed
// session, and relay's MCP server for those that can have it. codex has a sandbox of its own, which starts in bubblewrap only.
func TestRealAgentsWalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wall, worker, judge string }{
		{"bubblewrap", "claude", "codex"},
		{"bubblewrap", "codex", "claude"},
		{"bubblewrap", "gemini", "claude"},
		{"bubblewrap", "opencode", "gemini"},
		{"Landlock", "claude", "gemini"},
		{"Landlock", "gemini", "claude"},
		{"Landlock", "opencode", "claude"},
	} {
		t.Run(c.worker+"-in-"+c.wall, func(t *testing.T) {
			t.Parallel()
			worker := cliNamed(t, c.worker)
			worker.mcp = c.worker == "claude" || c.worker == "codex"
			l := newAgentLab(t, patient, worker, cliNamed(t, c.judge))
			l.walled(c.wall)
			l.write(".agents-os/relay/epic.yml", walledPlan)
			l.env = append(l.env, "RELAY_ISOLATION=worktree", "RELAY_REVIEW_PROVIDER="+c.judge)
			steps := []modelserver.Step{{Shell: "echo line >> hello.txt"}, {Claim: "Did it."}}
			if worker.mcp {
				steps = []modelserver.Step{steps[0], {Tool: "report_progress", With: map[string]any{"message": "half way"}}, steps[1]}
			}
			l.model.Play(c.worker, steps...)
			l.model.Play(c.judge, modelserver.Step{Answer: []byte(`{"verdict":"NEEDS CHANGES","summary":"Too short.","findings":[{"severity":"high","file":"hello.txt","line":1,"issue":"too short","fix":"write more"}]}`)})
			r := l.start("work")
			l.await("the first review", func() bool { return len(l.model.Asked(c.judge)) > 0 })
			l.model.Play(c.judge, modelserver.Step{Answer: []byte(`{"verdict":"APPROVED","summary":"Fine.","findings":[]}`)})
			l.end(r)
			r.wants(t, terminal.OK)
			r.says(t, "note: sandbox: "+c.wall)
			r.says(t, "T1 fixing what reviewers found: round 1 of 2")
			for id, list := range l.ledger().Attempts {
				if len(list) != 1 {
					t.Errorf("%s has the attempts %+v, want one", id, list)
				}
			}
			if got := l.git("show", "relay/20260101-agents:hello.txt"); got != "line\nline\nline\nline" {
				t.Errorf("hello.txt on the branch is %q", got)
			}
			if said := l.run("show", "T2").stdout.String(); worker.mcp && !strings.Contains(said, "it said: half way") {
				t.Errorf("relay show says %s", said)
			}
		})
	}
}
