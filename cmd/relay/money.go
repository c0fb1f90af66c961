package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/configs"
	"relay/epic"
	"relay/orchestrator"
)

const budgetKey = "relay.budget_usd"

// budget is what the configuration lets work cost.
func (p *place) budget() orchestrator.Budget {
	b := p.config.Relay.Budget
	return orchestrator.Budget{
		Run:     orchestrator.Cap{USD: b.USD, Tokens: b.Tokens},
		Epic:    orchestrator.Cap{USD: b.EpicUSD, Tokens: b.EpicTokens},
		Task:    orchestrator.Cap{USD: b.TaskUSD, Tokens: b.TaskTokens},
		Attempt: orchestrator.Cap{USD: b.AttemptUSD, Tokens: b.AttemptTokens},
		Unsaid:  !p.budgetChosen(),
	}
}

// budgetChosen reports whether somebody has chosen what a run may cost.
func (p *place) budgetChosen() bool {
	v, ok := p.config.Lookup(budgetKey)
	return ok && v.Origin != "default"
}

// hand is an agent that will be asked for something, with the model it will be asked for, by relay's configuration or by its
// CLI's own; "" is its own choice.
type hand struct{ name, model string }

// hands are the agents that a task may be given to, and its reviewer; nil: any task that names no agent.
func (p *place) hands(t *epic.Task) []hand {
	c := &p.config.Relay
	names, model := c.Runners, c.Model
	if t != nil && t.Runner != "" {
		names = []string{t.Runner}
	}
	if t != nil && t.Model != "" {
		model = t.Model
	}
	var all []hand
	add := func(name, model string) {
		if agent, err := p.agent(name); err == nil && model == "" {
			model = agent.Model
		}
		if model == "" {
			model = p.ownSettings(hand{name: name}).Model
		}
		all = append(all, hand{name, model})
	}
	for _, name := range names {
		add(name, model)
	}
	for _, name := range p.reviewers() {
		add(name, "")
	}
	return all
}

// everyHand are all agents that may be asked for something, each once.
func (p *place) everyHand(pl *plan) []hand {
	all := p.hands(nil)
	for i := range pl.epic.Tasks {
		if t := &pl.epic.Tasks[i]; t.Runner != "" || t.Model != "" {
			all = append(all, p.hands(t)...)
		}
	}
	var once []hand
	for _, h := range all {
		if !slices.Contains(once, h) {
			once = append(once, h)
		}
	}
	return once
}

// limit is a cap that somebody chose.
type limit struct {
	key   string // as it is told
	money bool   // else tokens
}

// limits are the caps of the configuration that somebody chose.
func (p *place) limits() []limit {
	b := p.config.Relay.Budget
	var all []limit
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
			all = append(all, limit{l.key, strings.HasSuffix(l.key, "_usd")})
		}
	}
	return all
}

// accountable refuses caps on agents of which nobody knows what they use: such a cap would hold nobody back.
func (p *place) accountable(pl *plan) error {
	var wrong []error
	for _, l := range p.limits() {
		for _, h := range p.everyHand(pl) {
			wrong = append(wrong, p.keeps(h, l))
		}
	}
	for i := range pl.epic.Tasks {
		t := &pl.epic.Tasks[i]
		if t.BudgetUSD <= 0 {
			continue
		}
		for _, h := range p.hands(t) {
			wrong = append(wrong, p.keeps(h, limit{"budget_usd of task " + t.ID, true}))
		}
	}
	for _, err := range wrong {
		if err != nil {
			return err // the others are of the same kind, and have the same remedy
		}
	}
	return nil
}

// keeps complains of a cap on an agent that does not tell what it would need.
func (p *place) keeps(h hand, l limit) error {
	switch {
	case p.capHeld(h, l.money) != notHeld:
		return nil
	case p.capHeld(h, false) == notHeld:
		return &hinted{err: fmt.Errorf("%s cannot be kept: agent %s does not say what it uses", l.key, h.name), code: exitInvalid,
			hint: "take the cap out, or use an agent that says what it uses"}
	case h.model == "":
		return &hinted{err: fmt.Errorf("%s cannot be kept: agent %s does not say what it costs, and chooses its model itself", l.key, h.name), code: exitInvalid,
			hint: fmt.Sprintf("in %s name the model, relay.agents.%s.model, and its price, relay.prices", configs.SharedFile, h.name)}
	}
	return &hinted{err: fmt.Errorf("%s cannot be kept: nobody knows what %s costs, the model of agent %s", l.key, line(h.model, 60), h.name), code: exitInvalid,
		hint: fmt.Sprintf("add its price to %s, in USD for a million tokens: relay: {prices: {%s: {input: 1.25, cached_input: 0.125, output: 10}}}", configs.SharedFile, quote(h.model))}
}

// uncounted warns of agents that the run's cap does not hold, when nobody has chosen that cap.
func (p *place) uncounted(pl *plan) []string {
	run := p.config.Relay.Budget.USD
	if run <= 0 || p.budgetChosen() {
		return nil
	}
	var names []string
	for _, h := range p.everyHand(pl) {
		if p.capHeld(h, true) == notHeld && !slices.Contains(names, h.name) {
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
	return []string{fmt.Sprintf("the run's budget of %.2f USD does not count %s: what %s is not known", run, some(names, 5), whose)}
}

// money looks at what a run may cost, and whether that can be kept.
func (c *checkup) money() {
	p := c.place
	if err := p.accountable(c.plan); err != nil {
		d := diagnose(err)
		c.points = append(c.points, point{Name: "budget", State: stateFail, Message: d.messages[0], Fix: d.hint, code: d.code})
		return
	}
	if view, err := p.view(c.plan); err == nil {
		if over := orchestrator.EpicSpent(p.budget(), view.Ledger); over != nil {
			c.fail("budget", &hinted{err: errors.New(over.Error()), hint: raiseEpic, code: exitStopped})
			return
		}
	}
	for _, text := range p.uncounted(c.plan) {
		c.add(stateWarn, "budget", text, "add their prices (relay.prices), or set relay.budget_usd: 0 to bound nothing")
	}
	c.add(stateOK, "budget", p.budgetText(), "")
	for _, text := range p.holdings(c.plan) {
		c.add(stateOK, "budget", text, "")
	}
}

const raiseEpic = "raise relay.epic_budget_usd or relay.epic_budget_tokens, then relay work"

// budgetText says what work may cost.
func (p *place) budgetText() string {
	b := p.budget()
	var all []string
	for _, c := range []struct {
		of  string
		cap orchestrator.Cap
	}{{"a run", b.Run}, {"the epic", b.Epic}, {"a task", b.Task}, {"an attempt", b.Attempt}} {
		if c.cap.USD > 0 {
			all = append(all, fmt.Sprintf("%s %.2f USD", c.of, c.cap.USD))
		}
		if c.cap.Tokens > 0 {
			all = append(all, fmt.Sprintf("%s %s tokens", c.of, amount(c.cap.Tokens)))
		}
	}
	if len(all) == 0 {
		return "nothing is capped"
	}
	return strings.Join(all, ", ")
}
