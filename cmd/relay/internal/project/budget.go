package project

import (
	"fmt"
	"slices"
	"strings"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic"
	"relay/orchestrator"
	"relay/orchestrator/words"
)

const budgetKey = "relay.budget_usd"

// Budget is what the configuration lets work cost.
func (p *Project) Budget() orchestrator.Budget {
	b := p.Config.Relay.Budget
	return orchestrator.Budget{
		Run:     orchestrator.Cap{USD: b.USD, Tokens: b.Tokens},
		Epic:    orchestrator.Cap{USD: b.EpicUSD, Tokens: b.EpicTokens},
		Task:    orchestrator.Cap{USD: b.TaskUSD, Tokens: b.TaskTokens},
		Attempt: orchestrator.Cap{USD: b.AttemptUSD, Tokens: b.AttemptTokens},
		Unsaid:  !p.budgetChosen(),
	}
}

// budgetChosen reports whether somebody has chosen what a run may cost.
func (p *Project) budgetChosen() bool {
	v, ok := p.Config.Lookup(budgetKey)
	return ok && v.Origin != "default"
}

// agentModel is an agent that will be asked for something, with the model it will be asked for, by relay's configuration or by its
// CLI's own; "" is its own choice.
type agentModel struct{ name, model string }

// agentsFor are the agents that a task may be given to, and its reviewer; nil: any task that names no agent.
func (p *Project) agentsFor(t *epic.Task) []agentModel {
	c := &p.Config.Relay
	names, model := c.Runners, c.Model
	if t != nil && t.Runner != "" {
		names = []string{t.Runner}
	}
	if t != nil && t.Model != "" {
		model = t.Model
	}
	var all []agentModel
	add := func(name, model string) {
		if agent, err := p.Agent(name); err == nil && model == "" {
			model = agent.Model
		}
		if model == "" {
			model = p.ownSettings(agentModel{name: name}).Model
		}
		all = append(all, agentModel{name, model})
	}
	for _, name := range names {
		add(name, model)
	}
	for _, name := range p.Reviewers() {
		add(name, "")
	}
	return all
}

// allAgents are all agents that may be asked for something, each once.
func (p *Project) allAgents(pl *Plan) []agentModel {
	all := p.agentsFor(nil)
	for i := range pl.Epic.Tasks {
		if t := &pl.Epic.Tasks[i]; t.Runner != "" || t.Model != "" {
			all = append(all, p.agentsFor(t)...)
		}
	}
	var once []agentModel
	for _, h := range all {
		if !slices.Contains(once, h) {
			once = append(once, h)
		}
	}
	return once
}

// cap is a cap that somebody chose.
type cap struct {
	key   string // as it is told
	money bool   // else tokens
}

// caps are the caps of the configuration that somebody chose.
func (p *Project) caps() []cap {
	b := p.Config.Relay.Budget
	var all []cap
	for _, l := range []struct {
		key string
		on  bool
	}{
		{budgetKey, b.USD > 0 && p.budgetChosen()}, {"relay.epic_budget_usd", b.EpicUSD > 0},
		{"relay.task_budget_usd", b.TaskUSD > 0}, {"relay.attempt_budget_usd", b.AttemptUSD > 0},
		{"relay.budget_tokens", b.Tokens > 0}, {"relay.epic_budget_tokens", b.EpicTokens > 0},
		{"relay.task_budget_tokens", b.TaskTokens > 0}, {"relay.attempt_budget_tokens", b.AttemptTokens > 0},
	} {
		if l.on {
			all = append(all, cap{l.key, strings.HasSuffix(l.key, "_usd")})
		}
	}
	return all
}

// CheckCaps refuses caps on agents of which nobody knows what they use: such a cap would hold nobody back.
func (p *Project) CheckCaps(pl *Plan) error {
	var wrong []error
	for _, l := range p.caps() {
		for _, h := range p.allAgents(pl) {
			wrong = append(wrong, p.checkCap(h, l))
		}
	}
	for i := range pl.Epic.Tasks {
		t := &pl.Epic.Tasks[i]
		if t.BudgetUSD <= 0 {
			continue
		}
		for _, h := range p.agentsFor(t) {
			wrong = append(wrong, p.checkCap(h, cap{"budget_usd of task " + t.ID, true}))
		}
	}
	for _, err := range wrong {
		if err != nil {
			return err // the others are of the same kind, and have the same remedy
		}
	}
	return nil
}

// checkCap complains of a cap on an agent that does not tell what it would need.
func (p *Project) checkCap(h agentModel, l cap) error {
	switch {
	case p.capAccuracy(h, l.money) != notHeld:
		return nil
	case p.capAccuracy(h, false) == notHeld:
		return &exit.Hinted{Err: fmt.Errorf("%s cannot be kept: agent %s does not say what it uses", l.key, h.name), Code: exit.Invalid,
			Hint: "take the cap out, or use an agent that says what it uses"}
	case h.model == "":
		return &exit.Hinted{Err: fmt.Errorf("%s cannot be kept: agent %s does not say what it costs, and chooses its model itself", l.key, h.name), Code: exit.Invalid,
			Hint: fmt.Sprintf("in %s name the model, relay.agents.%s.model, and its price, relay.prices", configs.SharedFile, h.name)}
	}
	return &exit.Hinted{Err: fmt.Errorf("%s cannot be kept: nobody knows what %s costs, the model of agent %s", l.key, words.Line(h.model, 60), h.name), Code: exit.Invalid,
		Hint: fmt.Sprintf("add its price to %s, in USD for a million tokens: relay: {prices: {%s: {input: 1.25, cached_input: 0.125, output: 10}}}", configs.SharedFile, terminal.Quote(h.model))}
}

// UncountedWarning warns of agents that the run's cap does not hold, when nobody has chosen that cap.
func (p *Project) UncountedWarning(pl *Plan) []string {
	run := p.Config.Relay.Budget.USD
	if run <= 0 || p.budgetChosen() {
		return nil
	}
	var names []string
	for _, h := range p.allAgents(pl) {
		if p.capAccuracy(h, true) == notHeld && !slices.Contains(names, h.name) {
			names = append(names, h.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	whose := "it costs"
	if len(names) > 1 {
		whose = "they cost"
	}
	return []string{fmt.Sprintf("the run's budget of %.2f USD does not count %s: what %s is not known", run, words.Some(names, 5), whose)}
}

// RaiseEpicBudget is the hint for an epic whose budget is used up.
const RaiseEpicBudget = "raise relay.epic_budget_usd or relay.epic_budget_tokens, then relay work"

// BudgetText says what work may cost.
func (p *Project) BudgetText() string {
	b := p.Budget()
	var all []string
	for _, c := range []struct {
		of  string
		cap orchestrator.Cap
	}{{"a run", b.Run}, {"the epic", b.Epic}, {"a task", b.Task}, {"an attempt", b.Attempt}} {
		if c.cap.USD > 0 {
			all = append(all, fmt.Sprintf("%s %.2f USD", c.of, c.cap.USD))
		}
		if c.cap.Tokens > 0 {
			all = append(all, fmt.Sprintf("%s %s tokens", c.of, words.Amount(c.cap.Tokens)))
		}
	}
	if len(all) == 0 {
		return "nothing is capped"
	}
	return strings.Join(all, ", ")
}
