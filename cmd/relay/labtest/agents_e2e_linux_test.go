package labtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// patient is how long a CLI may wait for its first answer, in minutes, where it gets one.
const patient = 2.0

// helloTask is what a model does that does the task.
var helloTask = []modelserver.Step{{Write: "hello.txt", Text: "hello\n"}, {Claim: "Wrote it."}}

// TestRealAgents has the real CLIs work, whatever their provider does: nobody pays for a fault of the provider's, and
// nothing of an agent is left behind.
func TestRealAgents(t *testing.T) {
	t.Parallel()
	for _, c := range clis {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for name, test := range map[string]func(*testing.T, agentCLI){
				"works":                   agentWorks,
				"pushes":                  agentPushes,
				"says no result":          agentWithoutResult,
				"asked for a result":      agentAsked,
				"leaves a process":        agentLeavesProcess,
				"usage limit":             agentUsedUp,
				"limit that passes":       agentUsedUpBriefly,
				"throttled":               agentFault(modelserver.Throttled),
				"overloaded":              agentFault(modelserver.Overloaded),
				"cut off":                 agentFault(modelserver.Cut),
				"no answer":               agentFault(modelserver.Silent),
				"half an answer":          agentFault(modelserver.Stalled),
				"broken after a tool":     agentFaultAfterTool(modelserver.Broken),
				"unfinished after a tool": agentFaultAfterTool(modelserver.Unfinished),
				"empty after a tool":      agentFaultAfterTool(modelserver.Empty),
				"overloaded after a tool": agentFaultAfterTool(modelserver.Overloaded),
				"not logged in":           agentLoggedOut,
				"login comes back":        agentLoggedOutBriefly,
				"poison task":             agentPoison,
				"stopped by Ctrl-C":       agentInterrupted,
				"stopped at work":         agentStoppedAtWork,
			} {
				if c.form && name != "works" {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, c)
				})
			}
		})
	}
}

func agentWorks(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.model.Play(c.name, helloTask...)
	r := l.work(terminal.OK)
	r.says(t, "T1 completed")
	list := l.done("")
	l.answered(c.name, "write", "claim")
	if got := l.git("show", "relay/20260101-agents:hello.txt"); got != "hello" {
		t.Errorf("hello.txt on the branch is %q", got)
	}
	a := list[0]
	if a.Usage.In != 2000 || a.Usage.Out != 100 || a.Usage.USD <= 0 {
		t.Errorf("the ledger has %+v, want 2000 tokens in and 100 out, and what they cost", a.Usage)
	}
	if a.Receipt.Summary != "Wrote it." || !slices.Equal(a.Receipt.Files, []string{"hello.txt"}) {
		t.Errorf("the receipt is %+v", a.Receipt)
	}
	l.kept(c)
}

// kept wants the conversation with a CLI in the agents ledger: what it was asked, what it said, and the tool that it wrote the file with.
func (l *agentLab) kept(c agentCLI) {
	l.t.Helper()
	var list []struct {
		ID       string
		Source   string
		Messages int `json:"message_count"`
	}
	var tools []sessions.ToolUse
	for command, to := range map[string]any{"list": &list, "tools": &tools} {
		r := l.run("sessions", command, "--json")
		r.wants(l.t, terminal.OK)
		if err := json.Unmarshal(r.stdout.Bytes(), to); err != nil {
			l.t.Fatalf("%v: %s", err, r.stdout.String())
		}
	}
	program, _, _ := strings.Cut(c.name, "-")
	if len(list) != 1 || !strings.HasPrefix(list[0].Source, program) || list[0].Messages < 3 {
		l.t.Errorf("the agents ledger has the sessions %+v, want one of %s with what was asked and said", list, c.name)
	}
	if !slices.ContainsFunc(tools, func(u sessions.ToolUse) bool { return u.Tool == c.writes && u.Completed == 1 }) {
		l.t.Errorf("the agents ledger has the tools %+v, want one call of %s", tools, c.writes)
	}
	l.remembered()
}

// A push from an agent's shell fails there, and says why.
func agentPushes(t *testing.T, c agentCLI) {
	t.Helper()
	c.open = true // codex shows its commands no repository
	l := newAgentLab(t, patient, c)
	remote := l.inHome("remote.git")
	l.git("init", "-q", "--bare", remote)
	l.git("remote", "add", "origin", remote)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.model.Play(c.name, append([]modelserver.Step{{Shell: "git push origin HEAD:refs/heads/side > said.txt 2>&1; git fetch origin && echo fetched >> said.txt"}}, helloTask...)...)
	l.work(terminal.OK)
	l.done("")
	said := l.git("show", "relay/20260101-agents:said.txt")
	if !strings.Contains(said, "relay does not let agents push") || !strings.HasSuffix(said, "fetched") {
		t.Errorf("git says %q", said)
	}
	if refs := l.git("-C", remote, "for-each-ref"); refs != "" {
		t.Errorf("the remote has %s", refs)
	}
}

// An agent that does its task and says so in its own words has done it, when the task's checks say so.
func agentWithoutResult(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.model.Play(c.name, helloTask[0], modelserver.Step{Say: "I wrote it."})
	l.work(terminal.OK)
	if list := l.done(""); len(list) != 1 || list[0].Receipt.ResultFrom != "checks" {
		t.Errorf("attempts %+v, want one, decided by the checks", list)
	}
}

// Where there are no checks its session is asked for the result, and what that costs is counted.
func agentAsked(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.write(".agents-os/relay/epic.yml", strings.Replace(agentPlan, `, checks: ["grep -qx hello hello.txt"]`, "", 1))
	l.model.Play(c.name, helloTask[0], modelserver.Step{Say: "I wrote it."}, modelserver.Step{Claim: "Wrote it.", When: "You ended without a result"})
	l.work(terminal.OK)
	list := l.done("")
	if len(list) != 1 || list[0].Receipt.ResultFrom != "asked" || list[0].Receipt.Summary != "Wrote it." {
		t.Errorf("attempts %+v, want one, decided by what the agent said when it was asked", list)
	}
	if asked := l.model.Asked(c.name); len(list) == 1 && list[0].Usage.In != 1000*len(asked) {
		t.Errorf("the ledger has %+v for %v", list[0].Usage, asked)
	}
}

// A server that an agent's shell tool has started ends with the agent, and costs it nothing.
func agentLeavesProcess(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.model.Play(c.name, append([]modelserver.Step{{Shell: cmp.Or(c.server, "tail -f /dev/null & echo it is up")}}, helloTask...)...)
	r := l.work(terminal.OK)
	list := l.done("")
	l.answered(c.name, "shell", "write", "claim")
	if !c.tidy {
		r.says(t, "the agent had left behind")
	}
	if exit := l.ending(list[0]); exit.Stopped {
		t.Errorf("the agent ended as %+v, want it to have ended by itself", exit)
	}
}

// A usage limit is waited for until the time that the CLI tells, by nobody else's cost, unless a person says otherwise.
func agentUsedUp(t *testing.T, c agentCLI) {
	t.Helper()
	if c.limit == "nothing" { // it sleeps until then: all that relay sees is that no answer comes
		agentFault(modelserver.UsedUp)(t, c)
		return
	}
	l := newAgentLab(t, patient, c)
	const window = 3 * time.Hour
	l.model.Play(c.name, modelserver.Step{Fault: modelserver.UsedUp, Reset: window})
	begun := time.Now()
	r := l.start("work")
	var until time.Time
	l.await("relay to wait for "+c.name, func() bool {
		var status struct {
			Cooling []struct {
				Runner string
				Until  time.Time
			}
		}
		if json.Unmarshal(l.run("status", "--json").stdout.Bytes(), &status) != nil || len(status.Cooling) == 0 {
			return false
		}
		until = status.Cooling[0].Until
		return status.Cooling[0].Runner == c.name
	})
	r.signal(t, syscall.SIGINT)
	l.end(r)
	r.wants(t, terminal.Interrupted)
	const latest = time.Minute + window/100 + 30*time.Second // rounded up, spread by a hundredth, and asked for after begun
	if off := until.Sub(begun.Add(window)); c.limit != "" && (off < -time.Second || off > latest) {
		t.Errorf("it waits until %s, %s later than the limit ends", until, off)
	}
	l.answered(c.name, "used up")
	l.model.Play(c.name, helloTask...)
	l.run("work", "--ask-now").wants(t, terminal.OK)
	l.done("quota")
	l.answered(c.name, "used up", "write", "claim")
}

// A limit is waited out, and nobody is asked meanwhile.
func agentUsedUpBriefly(t *testing.T, c agentCLI) {
	t.Helper()
	if c.limit != "to the second" {
		t.Skip(c.name + " does not tell to the second when a limit ends")
	}
	l := newAgentLab(t, patient, c)
	l.model.Play(c.name, append([]modelserver.Step{{Fault: modelserver.UsedUp, Times: 1, Reset: 4 * time.Second}}, helloTask...)...)
	r := l.work(terminal.OK)
	list := l.done("quota")
	l.answered(c.name, "used up", "write", "claim")
	r.says(t, "T1 ended uncharged")
	r.says(t, "waiting until")
	if len(list) != 2 {
		t.Errorf("%d attempts, want one that met the limit and one that came after it", len(list))
	}
}

// agentFault is a provider's fault that outlasts the CLI's own patience, so that relay's next attempt meets it too.
func agentFault(fault modelserver.Fault) func(*testing.T, agentCLI) {
	return func(t *testing.T, c agentCLI) {
		t.Helper()
		if fault == modelserver.Stalled && c.blurred {
			t.Skip("half an answer of " + c.name + "'s looks like a tool at work")
		}
		wait, times := patient, c.patience+1
		if fault == modelserver.Silent || fault == modelserver.Stalled || fault == modelserver.UsedUp {
			wait, times = float64(cmp.Or(c.starting, 25))/60, 1
		}
		reset := time.Second
		if fault == modelserver.UsedUp {
			reset = 3 * time.Hour
		}
		l := newAgentLab(t, wait, c)
		l.model.Play(c.name, append([]modelserver.Step{{Fault: fault, Times: times, Reset: reset}}, helloTask...)...)
		r := l.work(terminal.OK)
		list := l.done("provider")
		l.answered(c.name, append(slices.Repeat([]string{string(fault)}, times), "write", "claim")...)
		if times == 1 && wait == patient { // it has asked again by itself
			return
		}
		if len(list) == 1 {
			t.Error("one attempt, want one more that met the fault")
		}
		r.says(t, "T1 attempt 1/3 started")
		r.says(t, "T1 ended uncharged, will be tried again")
	}
}

// agentFaultAfterTool is a provider's fault in the middle of the work, which costs nobody anything: whoever is asked next
// goes on from what is there.
func agentFaultAfterTool(fault modelserver.Fault) func(*testing.T, agentCLI) {
	return func(t *testing.T, c agentCLI) {
		t.Helper()
		if fault != modelserver.Broken && (c.name == "claude" || c.name == "codex") {
			t.Skip("one of these is enough for what ends with an error")
		}
		l := newAgentLab(t, patient, c)
		times := 1 // what its CLI may take for an answer
		if fault == modelserver.Overloaded {
			times = c.patience + 1
		}
		l.model.Play(c.name, modelserver.Step{Shell: "echo I look"}, modelserver.Step{Fault: fault, Times: times}, helloTask[0], helloTask[1])
		l.work(terminal.OK)
		l.done("provider")
	}
}

// A refused login is asked for again, and ends the run when nobody is left.
func agentLoggedOut(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.model.Play(c.name, modelserver.Step{Fault: modelserver.Unauthorized})
	l.env = append(l.env, "RELAY_OUT_AFTER_FAILURES=2", "RELAY_OUT_AFTER_MINUTES=0")
	r := l.work(terminal.NoRunner)
	r.says(t, "no usable runner: "+c.name+": ")
	r.says(t, "; then relay work continues")
	if list := l.ledger().Attempts["T1"]; len(list) != 2 || list[0].Outcome != "auth" || list[0].Charged || list[1].Outcome != "auth" {
		t.Errorf("attempts %+v, want two, uncharged, with outcome auth", list)
	}
	if got := len(l.model.Asked(c.name)); got > 8 {
		t.Errorf("it asked %d times", got)
	}
	l.quiet()
}

// An agent that waits for its model ends when it is asked to, long before it would be killed; the next run does the task.
func agentInterrupted(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.model.Play(c.name, modelserver.Step{Fault: modelserver.Silent})
	r := l.start("work")
	l.await("the agent to ask", func() bool { return len(l.model.Asked(c.name)) > 0 })
	if len(l.agents()) == 0 {
		t.Error("no process has the mark of the attempt")
	}
	l.stops(r, c)
}

// So does one whose tool is at work, and what the tool has started ends with it.
func agentStoppedAtWork(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.model.Play(c.name, modelserver.Step{Shell: "tail -f /dev/null & tail -f /dev/null"}, modelserver.Step{Say: "Done."})
	r := l.start("work")
	l.await("the tool to be at work", func() bool {
		return len(l.alive(func(_ int, environ, args string) bool {
			return strings.HasPrefix(args, "tail\x00") && strings.Contains(environ, "\x00HOME="+l.home+"\x00")
		})) == 2
	})
	l.stops(r, c)
}

// stops interrupts a run, and wants that its agent ends without being killed, that nothing is left of it, and that the
// next run does the task.
func (l *agentLab) stops(r *running, c agentCLI) {
	l.t.Helper()
	r.signal(l.t, syscall.SIGINT)
	l.end(r)
	r.wants(l.t, terminal.Interrupted)
	l.quiet()
	if exit := l.ending(l.last("T1")); exit.Killed || !exit.Stopped {
		l.t.Errorf("the agent ended as %+v, want it stopped and not killed", exit)
	}
	l.model.Play(c.name, helloTask...)
	l.work(terminal.OK)
	l.done("stopped")
}

// A usage limit of hours hands the same attempt over to the next CLI, and the first one is left alone.
func TestRealAgentsHandOver(t *testing.T) {
	t.Parallel()
	claude, codex := cliNamed(t, "claude"), cliNamed(t, "codex")
	l := newAgentLab(t, patient, claude, codex)
	l.model.Play("claude", modelserver.Step{Fault: modelserver.UsedUp, Reset: 3 * time.Hour})
	l.model.Play("codex", helloTask...)
	r := l.work(terminal.OK)
	r.says(t, "T1 attempt 1/3 started (claude)")
	r.says(t, "T1 attempt 2 (counts as 1/3) started (codex)")
	l.answered("claude", "used up")
	l.answered("codex", "write", "claim")
	if list := l.done("quota"); len(list) != 2 || list[0].Runner != "claude" || list[1].Runner != "codex" {
		t.Errorf("attempts %+v, want one of claude's and one of codex's", list)
	}
}
