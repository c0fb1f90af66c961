package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/report"
	"relay/orchestrator/verdict"
)

// Refusal is a runner that would not work when it was last asked.
type Refusal struct {
	Runner  string           `json:"runner"`
	Outcome attempts.Outcome `json:"outcome"`
	Why     string           `json:"why,omitempty"`
	Since   time.Time        `json:"since"`
	Fix     string           `json:"fix"` // what to type

	what string // what is wrong, in words
}

// login has, by type of agent, what the user types after the name of the program to log in.
var login = map[string]string{
	"claude":   ", then /login (or %s setup-token)",
	"codex":    " login",
	"gemini":   ", then /auth",
	"opencode": " auth login",
}

// LoginFix returns text that says what to type for a runner that would not work.
func LoginFix(p *project.Project, name string, o attempts.Outcome) string {
	agent := p.Config.Relay.Agents[name]
	how, ok := login[agent.Type]
	switch {
	case !verdict.ClassOf(o).Login:
		return "relay check"
	case !ok:
		return "relay config relay.agents." + name
	}
	program := cmp.Or(strings.Join(agent.Argv, " "), agent.Type)
	return program + strings.ReplaceAll(how, "%s", program)
}

// Refusing returns the runners of this configuration that would not work when they were last asked.
func Refusing(p *project.Project, pl *project.Plan, l *attempts.Ledger) []Refusal {
	used := append(slices.Clone(p.Config.Relay.Runners), p.Reviewers()...)
	for i := range pl.Epic.Tasks {
		used = append(used, pl.Epic.Tasks[i].Runner)
	}
	var list []Refusal
	for _, r := range l.Refusing() {
		if !slices.Contains(used, r.Runner) {
			continue
		}
		what := r.Runner + " is not logged in, or may not be used"
		if !verdict.ClassOf(r.Outcome).Login {
			what = r.Runner + " could not be started"
		}
		list = append(list, Refusal{r.Runner, r.Outcome, r.Why, r.Since, LoginFix(p, r.Runner, r.Outcome), what})
	}
	return list
}

// ForReport returns the same as a report has them.
func ForReport(list []Refusal) []report.Refused {
	var all []report.Refused
	for _, r := range list {
		all = append(all, report.Refused{Runner: r.Runner, What: r.what, Why: r.Why, Since: r.Since, Type: r.Fix})
	}
	return all
}
