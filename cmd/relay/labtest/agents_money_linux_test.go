package labtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// moneyRow is a row of the table of what was served and booked.
const moneyRow = "money: %-9s %-22s served %6d in (%d cached) %5d out, booked %6d in %5d out, %.5f USD%s"

// TestRealAgentsCount ends attempts of the real CLIs in every way that is no good end: what the model has served is in the
// ledger all the same, within a tenth. What a good end has used TestRealAgents knows.
func TestRealAgentsCount(t *testing.T) {
	t.Parallel()
	for _, c := range clis {
		if c.form {
			continue
		}
		for name, test := range map[string]func(*agentLab, agentCLI){
			"stopped at its tool":  countsStop(modelserver.Step{Shell: "tail -f /dev/null"}),
			"stopped as it waits":  countsStop(modelserver.Step{Fault: modelserver.Silent}),
			"stopped in an answer": countsStop(modelserver.Step{Fault: modelserver.Stalled}),
			"out of time":          countsTimeout,
			"limited":              countsLimit,
			"agent killed":         countsKilledAgent,
			"relay killed":         countsKilledRelay,
			"fails":                countsFailure,
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				if name == "stopped in an answer" && c.blurred {
					t.Skip(c.name + " tells nothing of half an answer: it is stopped as it waits")
				}
				l := newAgentLab(t, patient, c)
				test(l, c)
				l.counted(c, name)
			})
		}
	}
}

// twice is work that is done before what ends the attempt.
func twice(last ...modelserver.Step) []modelserver.Step {
	return append([]modelserver.Step{{Write: "a.txt", Text: "a\n"}, {Write: "b.txt", Text: "b\n"}}, last...)
}

// counted wants that the attempts have what was served, and logs a row of the table.
func (l *agentLab) counted(c agentCLI, what string) {
	l.t.Helper()
	served := l.model.Served(c.name)
	var a ledgerAttempt
	for _, one := range l.ledger().Attempts["T1"] {
		a.Usage.In += one.Usage.In
		a.Usage.Out += one.Usage.Out
		a.Usage.USD += one.Usage.USD
		a.Usage.Estimated = a.Usage.Estimated || one.Usage.Estimated
		a.Usage.Listed = a.Usage.Listed || one.Usage.Listed
	}
	estimated := ""
	if a.Usage.Listed {
		estimated = " by public prices"
	}
	if a.Usage.Estimated {
		estimated += ", estimated"
	}
	l.t.Logf(moneyRow, c.name, what, served.In, served.Cached, served.Out, a.Usage.In, a.Usage.Out, a.Usage.USD, estimated)
	near := func(got, want int) bool { return math.Abs(float64(got-want)) <= float64(want)/10 }
	if !near(a.Usage.In+a.Usage.Out, served.In+served.Out) {
		l.t.Errorf("%s: booked %d tokens in and %d out, served %d and %d\n%s", what, a.Usage.In, a.Usage.Out, served.In, served.Out, l.endings())
	}
	if a.Usage.USD <= 0 && served.In > 0 {
		l.t.Errorf("%s: it has cost nothing", what)
	}
}

// endings are how the attempts ended, and the last that their agents said.
func (l *agentLab) endings() string {
	l.t.Helper()
	var said strings.Builder
	found, _ := filepath.Glob(l.path(".agents-os/relay/runs/*/T1/*/*"))
	for _, path := range found {
		if data, err := os.ReadFile(path); err == nil && strings.Contains("end.json transcript.jsonl", filepath.Base(path)) {
			fmt.Fprintf(&said, "%s:\n%s\n", path, data[max(0, len(data)-6000):])
		}
	}
	return said.String()
}

// countsStop interrupts a run while the model, or a tool that it has called, is at a step.
func countsStop(at modelserver.Step) func(*agentLab, agentCLI) {
	return func(l *agentLab, c agentCLI) {
		l.model.Play(c.name, twice(at)...)
		r := l.start("work")
		l.reached(c, at)
		r.signal(l.t, syscall.SIGINT)
		l.end(r)
		r.wants(l.t, terminal.Interrupted)
	}
}

// reached waits until the third step is under way: its tool runs, or the model has been asked.
func (l *agentLab) reached(c agentCLI, at modelserver.Step) {
	l.t.Helper()
	l.await("the third step", func() bool { return len(l.model.Asked(c.name)) == 3 })
	if at.Shell == "" {
		return
	}
	l.await("the tool to be at work", func() bool {
		return len(l.alive(func(_ int, environ, args string) bool {
			return strings.HasPrefix(args, "tail\x00") && strings.Contains(environ, "\x00HOME="+l.home+"\x00")
		})) > 0
	})
}

// short is a time limit within which the CLI has begun to work.
func (l *agentLab) short(c agentCLI) string {
	return fmt.Sprintf("RELAY_TIMEOUT_MINUTES=%.2f", float64(cmp.Or(c.starting, 25))/60)
}

func countsTimeout(l *agentLab, c agentCLI) {
	l.model.Play(c.name, twice(modelserver.Step{Shell: "tail -f /dev/null"})...)
	l.env = append(l.env, l.short(c), "RELAY_MAX_ATTEMPTS_PER_TASK=1")
	l.end(l.start("work"))
}

func countsLimit(l *agentLab, c agentCLI) {
	l.model.Play(c.name, twice(modelserver.Step{Fault: modelserver.UsedUp, Reset: 3 * time.Hour})...)
	l.env = append(l.env, l.short(c), "RELAY_MAX_ATTEMPTS_PER_TASK=1", "RELAY_BACKOFF_SECONDS=60", "RELAY_BACKOFF_MAX_SECONDS=60")
	r := l.start("work")
	l.await("the limit", func() bool { return len(l.model.Asked(c.name)) >= 3 || r.over() })
	l.await("relay to wait", func() bool {
		var status struct{ Cooling []struct{} }
		_ = json.Unmarshal(l.run("status", "--json").stdout.Bytes(), &status)
		return len(status.Cooling) > 0 || r.over()
	})
	_ = r.cmd.Process.Signal(syscall.SIGINT) // it may be over
	l.end(r)
}

// over says whether it has ended by itself.
func (r *running) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func countsFailure(l *agentLab, c agentCLI) {
	l.model.Play(c.name, twice(modelserver.Step{Say: "I could not do it."})...)
	l.env = append(l.env, "RELAY_MAX_ATTEMPTS_PER_TASK=1")
	l.end(l.start("work"))
}

// countsKilledAgent kills the CLI itself, and all it has started, while its tool is at work.
func countsKilledAgent(l *agentLab, c agentCLI) {
	at := modelserver.Step{Shell: "tail -f /dev/null"}
	l.model.Play(c.name, twice(at)...)
	l.env = append(l.env, "RELAY_MAX_ATTEMPTS_PER_TASK=1")
	r := l.start("work")
	l.reached(c, at)
	for _, pid := range l.agents() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	l.end(r)
}

func countsKilledRelay(l *agentLab, c agentCLI) {
	at := modelserver.Step{Shell: "tail -f /dev/null"}
	l.model.Play(c.name, twice(at)...)
	r := l.start("work")
	l.reached(c, at)
	r.signal(l.t, syscall.SIGKILL)
	l.end(r)
	l.model.Play(c.name, helloTask...)
	l.end(l.start("work"))
}

// TestRealAgentsCap has the model call tools for ever: an agent is stopped when its requests pass a cap, with at most one more
// under way.
func TestRealAgentsCap(t *testing.T) {
	t.Parallel()
	const most = 0.0100
	for name, scopes := range map[string][]string{
		"claude": {"ATTEMPT_BUDGET", "BUDGET"}, "codex": {"ATTEMPT_BUDGET"}, "gemini": {"ATTEMPT_BUDGET"}, "opencode": {"ATTEMPT_BUDGET"},
	} {
		for _, scope := range scopes {
			t.Run(name+"/"+scope, func(t *testing.T) {
				t.Parallel()
				c := cliNamed(t, name)
				l := newAgentLab(t, patient, c)
				l.env = append(l.env, fmt.Sprintf("RELAY_%s_USD=%v", scope, most), "RELAY_MAX_ATTEMPTS_PER_TASK=1")
				var script []modelserver.Step
				for i := range 20 { // each another one: the same again and again some notice
					script = append(script, modelserver.Step{Shell: fmt.Sprintf("echo %d", i), Takes: 700 * time.Millisecond})
				}
				l.model.Play(c.name, append(script, helloTask...)...)
				l.end(l.start("work"))
				a := l.ledger().Attempts["T1"][0]
				requests := l.model.Served(c.name).In / 1000
				each := a.Usage.USD / float64(a.Usage.In) * 1000
				served := each * float64(requests)
				t.Logf("cap: %-9s %-14s %.4f USD, served %2d requests, %.4f USD, booked %.4f USD: %s", c.name, scope, most, requests, served, a.Usage.USD, a.Receipt.ErrorSummary)
				if a.Outcome != "budget" || served <= most || served > most+2*each {
					t.Errorf("%s, served %.4f USD in requests of %.4f, want a little more than %.4f", a.Outcome, served, each, most)
				}
			})
		}
	}
}
