package project

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"relay/epic"
	"relay/orchestrator/text"
	"relay/runners"
	"relay/runners/kinds"
	"relay/runners/process"
)

// Runner makes the runner of a name in relay.agents, with the prices of models whose CLI has none.
func (p *Project) Runner(ctx context.Context, name string, sup process.Supervisor) (runners.Runner, error) {
	r, err := bareRunner(ctx, p, name, sup)
	if err != nil {
		return nil, err
	}
	agent := p.Config.Relay.Agents[name]
	pricing := runners.Pricing{Prices: prices(p), Model: cmp.Or(agent.Model, ownSettings(p, agentModel{name: name, model: agent.Model}).Model)}
	pricing.Unknown = unknownModel(agent.Type, pricing.Model)
	return runners.WithPrices(r, pricing), nil
}

// unknownModel returns the model whose price stands in for one that has no price; "" for none. Claude Code itself counts so, and
// codex and gemini choose a model of their own vendor when nobody names one.
func unknownModel(kind, model string) string {
	switch {
	case kind == "claude":
		return "claude"
	case kind == "codex" && model == "":
		return "gpt-"
	case kind == "gemini" && model == "":
		return "gemini"
	}
	return ""
}

// ownSettings reads the model and its price from the settings of an agent's CLI.
func ownSettings(p *Project, h agentModel) runners.OwnSettings {
	agent, err := p.Agent(h.name)
	if err != nil {
		return runners.OwnSettings{}
	}
	env := append(CommonEnvironment(p.Session.Environ, p.Config.Relay.Env), agent.Env...)
	return kinds.OwnSettings(agent.Type, env, p.Root, h.model)
}

func prices(p *Project) runners.Prices {
	prices := make(runners.Prices, len(p.Config.Relay.Prices))
	for glob, price := range p.Config.Relay.Prices {
		prices[glob] = runners.Price{Input: price.Input, CachedInput: price.CachedInput, Output: price.Output}
	}
	return prices
}

// accuracy says how exactly a cap is kept on an agent.
type accuracy string

const (
	perRequest accuracy = "enforced to within one request"
	atItsEnd   accuracy = "enforced at the end of an attempt only"
	notHeld    accuracy = "cannot be enforced"
)

// accuracyOn reports how well a cap in money, or in tokens, is held on an agent. A scripted agent uses nothing.
func (c *Caps) accuracyOn(h agentModel, money bool) accuracy {
	agent, err := c.project.Agent(h.name)
	if _, missing := c.project.Program(h.name); err != nil || missing != nil {
		return perRequest // it is said elsewhere that it is not there
	}
	switch {
	case agent.Type == "scripted":
		return perRequest
	case agent.Type == "command", money && c.priceSource(h) == "":
		return notHeld
	case agent.Type == "codex" && slices.Contains(agent.Argv, "--ephemeral"): // it keeps no file of its session
		return atItsEnd
	}
	return perRequest
}

// priceSource returns text that says by whose prices an agent's cost is known; "": by nobody's.
func (c *Caps) priceSource(h agentModel) string {
	agent, err := c.project.Agent(h.name)
	if err != nil {
		return ""
	}
	if _, ok := prices(c.project).Of(h.model); ok {
		return "relay.prices"
	}
	if agent.Type == "opencode" && ownSettings(c.project, h).Priced {
		return "its own prices"
	}
	if _, ok := runners.ListPrice(cmp.Or(h.model, unknownModel(agent.Type, h.model))); ok || agent.Type == "claude" {
		public := "public prices of " + runners.ListPricesAsOf + ", estimated"
		if agent.Type == "claude" || agent.Type == "opencode" {
			return public + ", until it tells its own"
		}
		return public
	}
	return ""
}

// Reports say of each agent how well each cap is held on it.
func (c *Caps) Reports() []string {
	caps := c.list()
	if b := c.project.Config.Relay.Budget.USD; b > 0 && !c.project.budgetChosen() {
		caps = append([]budgetCap{{budgetKey, true}}, caps...)
	}
	if slices.ContainsFunc(c.plan.Epic.Tasks, func(t epic.Task) bool { return t.BudgetUSD > 0 }) {
		caps = append(caps, budgetCap{"budget_usd of tasks", true})
	}
	var all []string
	for _, h := range c.allAgents() {
		if _, missing := c.project.Program(h.name); missing != nil {
			continue
		}
		held := map[accuracy][]string{}
		for _, l := range caps {
			held[c.accuracyOn(h, l.money)] = append(held[c.accuracyOn(h, l.money)], l.key)
		}
		var parts []string
		for _, how := range []accuracy{perRequest, atItsEnd, notHeld} {
			if keys := held[how]; len(keys) > 0 {
				parts = append(parts, string(how)+": "+strings.Join(keys, ", "))
			}
		}
		if len(parts) == 0 {
			continue
		}
		text := strings.TrimSpace(h.name+" "+text.Line(h.model, 60)) + ": " + strings.Join(parts, "; ")
		if by := c.priceSource(h); by != "" && slices.ContainsFunc(caps, func(l budgetCap) bool { return l.money }) {
			text += " (money by " + by + ")"
		}
		all = append(all, text)
	}
	return all
}
