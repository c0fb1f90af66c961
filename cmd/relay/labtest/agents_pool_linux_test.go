package labtest

import (
	"encoding/json"
	"slices"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

const poisonPlan = `version: 2
id: 20260101-agents
title: Real agents
tasks:
  T1: {title: One, description: A sour apple.}
  T2: {title: Two}
  T3: {title: Three}
`

// agentPoison has a provider fail one task alone: the others are done first and cost nothing more, and it is gated.
func agentPoison(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.write(".agents-os/relay/epic.yml", poisonPlan)
	l.model.Play(c.name, modelserver.Step{When: "sour apple", Fault: modelserver.Overloaded},
		modelserver.Step{Shell: `echo done > "$RELAY_TASK.txt"`}, modelserver.Step{Claim: "Wrote it."})
	r := l.work(terminal.Gated)
	r.says(t, "T1 gated: not the agent's failure: "+c.name+" failed 3 times on this task alone, and served others")
	f := l.ledger()
	if len(f.Attempts["T1"]) != 3 || len(f.Attempts["T2"]) != 1 || len(f.Attempts["T3"]) != 1 {
		t.Errorf("attempts are %+v, want 3 of T1 and one of each other", f.Attempts)
	}
	for _, a := range f.Attempts["T1"] {
		if a.Outcome != "provider" || a.Charged {
			t.Errorf("attempt %+v, want it uncharged, with outcome provider", a)
		}
	}
	l.quiet()
}

// agentLoggedOutBriefly has a provider refuse the login for a while, as when a token is renewed: the run goes on.
func agentLoggedOutBriefly(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.model.Play(c.name, modelserver.Step{Fault: modelserver.Unauthorized})
	r := l.start("work")
	l.await(c.name+" to be refused", func() bool {
		var status struct {
			Refused []struct{ Runner, Fix string }
		}
		_ = json.Unmarshal(l.run("status", "--json").stdout.Bytes(), &status)
		return len(status.Refused) > 0 && status.Refused[0].Runner == c.name && status.Refused[0].Fix != ""
	})
	l.model.Play(c.name, helloTask...)
	l.end(r)
	r.wants(t, terminal.OK)
	list := l.done("auth")
	if len(list) < 2 {
		t.Errorf("%d attempts, want one that was refused", len(list))
	}
	if got := l.model.Asked(c.name); !slices.Equal(got[max(len(got)-2, 0):], []string{"write", "claim"}) {
		t.Errorf("it was answered %v, want a write and a claim in the end", got)
	}
}
