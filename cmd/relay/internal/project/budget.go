package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/limits"
	"relay/runners"
	"relay/runners/kinds"
)

const budgetKey = "relay.budget_usd"

// Budget returns the caps of a configuration.
func Budget(c *configs.Config) limits.Caps {
	b := c.Relay.Budget
	return limits.Caps{
		Run:     limits.Cap{USD: b.USD, Tokens: b.Tokens},
		Epic:    limits.Cap{USD: b.EpicUSD, Tokens: b.EpicTokens},
		Task:    limits.Cap{USD: b.TaskUSD, Tokens: b.TaskTokens},
		Attempt: limits.Cap{USD: b.AttemptUSD, Tokens: b.AttemptTokens},
		Default: !budgetChosen(c),
	}
}

// budgetChosen reports whether somebody has chosen what a run may cost.
func budgetChosen(c *configs.Config) bool {
	v, ok := c.Lookup(budgetKey)
	return ok && v.Origin != "default"
}

// Caps are the budgets of a configuration on the agents that a plan may use.
type Caps struct {
	Agents *Agents
	Plan   *Plan
}

// withModels returns agents, each once, with the models that they will be asked for, by relay's configuration or by their CLI's own; "" is
// its own choice.
func (c *Caps) withModels(list []Asked) []Asked {
	return each.Added(nil, each.Of(list, func(one Asked) Asked {
		return Asked{Name: one.Name, Model: cmp.Or(one.Model, c.Agents.ownSettings(one).Model)}
	})...)
}

// allAgents returns all agents that may be asked for something, each once.
func (c *Caps) allAgents() []Asked { return c.withModels(c.Agents.AllAsked(c.Plan.Epic.Tasks)) }

// budgetCap is a cap that somebody chose.
type budgetCap struct {
	key   string // as messages name it
	money bool   // else tokens
}

// list returns the caps of the configuration that somebody chose.
func (c *Caps) list() []budgetCap {
	var money, tokens []budgetCap
	for _, s := range scopes(Budget(c.Agents.config)) {
		if s.most.USD > 0 && (s.key != "" || budgetChosen(c.Agents.config)) {
			money = append(money, budgetCap{"relay." + s.key + "budget_usd", true})
		}
		if s.most.Tokens > 0 {
			tokens = append(tokens, budgetCap{"relay." + s.key + "budget_tokens", false})
		}
	}
	return append(money, tokens...)
}

// scope is what one cap is about.
type scope struct {
	key, of string // before its setting, and in words
	most    limits.Cap
}

func scopes(b limits.Caps) []scope {
	return []scope{{"", "a run", b.Run}, {"epic_", "the epic", b.Epic}, {"task_", "a task", b.Task}, {"attempt_", "an attempt", b.Attempt}}
}

// Check fails when a cap applies to an agent that does not tell its usage, or whose price is unknown: the cap could not be kept.
func (c *Caps) Check() error {
	for _, l := range c.list() {
		for _, h := range c.allAgents() {
			if err := c.check(h, l); err != nil {
				return err // others are of the same kind, and have the same remedy
			}
		}
	}
	for i := range c.Plan.Epic.Tasks {
		t := &c.Plan.Epic.Tasks[i]
		if t.BudgetUSD <= 0 {
			continue
		}
		for _, h := range c.withModels(c.Agents.AskedFor(t)) {
			if err := c.check(h, budgetCap{"budget_usd of task " + t.ID, true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// check complains of a cap on an agent that does not tell what it would need.
func (c *Caps) check(h Asked, l budgetCap) error {
	var why, hint string
	switch {
	case c.accuracyOn(h, l.money) != notHeld:
		return nil
	case c.accuracyOn(h, false) == notHeld:
		why, hint = "agent "+h.Name+" does not report its usage", "remove the cap, or use an agent that reports its usage"
	case h.Model == "":
		why = "agent " + h.Name + " does not report its cost, and chooses its model itself"
		hint = fmt.Sprintf("in %s name the model, relay.agents.%s.model, and its price, relay.prices", configs.SharedFile, h.Name)
	default:
		why = fmt.Sprintf("the price of %s, the model of agent %s, is not known", plaintext.Fit(h.Model, 60), h.Name)
		hint = fmt.Sprintf("add its price to %s, in USD for a million tokens: relay: {prices: {%s: {input: 1.25, cached_input: 0.125, output: 10}}}", configs.SharedFile, terminal.Quote(h.Model))
	}
	return &terminal.Hinted{Err: fmt.Errorf("%s cannot be enforced: %s", l.key, why), Code: terminal.Invalid, Hint: hint}
}

// UncountedWarning warns of agents that the run's cap does not hold, when that cap is the default.
func (c *Caps) UncountedWarning() []string {
	run := c.Agents.config.Relay.Budget.USD
	if run <= 0 || budgetChosen(c.Agents.config) {
		return nil
	}
	uncounted := each.Where(c.allAgents(), func(h Asked) (string, bool) { return h.Name, c.accuracyOn(h, true) == notHeld })
	names := each.Added(nil, uncounted...)
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the run's budget of %.2f USD does not count %s: what %s is not known",
		run, plaintext.Some(names, 5), plaintext.Verb(len(names), "it costs", "they cost"))}
}

// RaiseEpicBudget is the hint for an epic whose budget is used up.
const RaiseEpicBudget = "raise relay.epic_budget_usd or relay.epic_budget_tokens, then relay work"

// Text returns text that says what work may cost.
func (c *Caps) Text() string {
	var all []string
	for _, s := range scopes(Budget(c.Agents.config)) {
		if s.most.USD > 0 {
			all = append(all, fmt.Sprintf("%s %.2f USD", s.of, s.most.USD))
		}
		if s.most.Tokens > 0 {
			all = append(all, fmt.Sprintf("%s %s tokens", s.of, plaintext.Amount(s.most.Tokens)))
		}
	}
	if len(all) == 0 {
		return "no caps"
	}
	return strings.Join(all, ", ")
}

// accuracy says how exactly a cap is kept on an agent.
type accuracy string

const (
	perRequest accuracy = "enforced to within one request"
	atItsEnd   accuracy = "enforced at the end of an attempt only"
	notHeld    accuracy = "cannot be enforced"
)

// accuracyOn reports how well a cap in money, or in tokens, is held on an agent. A scripted agent uses nothing.
func (c *Caps) accuracyOn(h Asked, money bool) accuracy {
	agent, err := c.Agents.Named(h.Name)
	if _, missing := c.Agents.Program(h.Name); err != nil || missing != nil {
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

// priceSource names the prices by which an agent's cost is known; "": it is unknown.
func (c *Caps) priceSource(h Asked) string {
	agent, err := c.Agents.Named(h.Name)
	if err != nil {
		return ""
	}
	if _, ok := c.Agents.prices().Of(h.Model); ok {
		return "relay.prices"
	}
	if c.Agents.ownSettings(h).Priced {
		return "its own prices"
	}
	unknown := unknownModel(agent.Type, h.Model)
	if _, ok := runners.ListPrice(cmp.Or(h.Model, unknown)); ok || unknown != "" {
		public := "public prices of " + runners.ListPricesAsOf + ", estimated"
		if kinds.FactsOf(agent.Type).TellsPrices {
			return public + ", until it tells its own"
		}
		return public
	}
	return ""
}

// Reports say of each agent how well caps are held on it, except those that are not.
func (c *Caps) Reports() []string {
	caps := c.list()
	if b := c.Agents.config.Relay.Budget.USD; b > 0 && !budgetChosen(c.Agents.config) {
		caps = append([]budgetCap{{budgetKey, true}}, caps...)
	}
	if slices.ContainsFunc(c.Plan.Epic.Tasks, func(t epic.Task) bool { return t.BudgetUSD > 0 }) {
		caps = append(caps, budgetCap{"budget_usd of tasks", true})
	}
	var all []string
	for _, h := range c.allAgents() {
		held := each.Where(caps, func(l budgetCap) (string, bool) { return l.key, c.accuracyOn(h, l.money) != notHeld })
		if _, missing := c.Agents.Program(h.Name); missing != nil || len(held) == 0 {
			continue
		}
		name := strings.TrimSpace(h.Name + " " + plaintext.Fit(h.Model, 60))
		text := fmt.Sprintf("%s: %s: %s", name, c.accuracyOn(h, false), strings.Join(held, ", "))
		if by := c.priceSource(h); by != "" && slices.ContainsFunc(caps, func(l budgetCap) bool { return l.money }) {
			text += " (money by " + by + ")"
		}
		all = append(all, text)
	}
	return all
}

// Deadline returns when a run that begins now ends: at the next such time of day, or after such a duration. The
// configuration has refused everything else; "" is no deadline.
func Deadline(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if of, err := time.Parse("15:04", text); err == nil {
		now = now.Local()
		at := time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), 0, 0, time.Local)
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, of.Hour(), of.Minute(), 0, 0, time.Local)
		}
		return at, nil
	}
	rest, err := time.ParseDuration(text)
	return now.Add(rest), err
}

// CheckNight fails for a relay work that begins between times of day, and now is not between them, as on a machine that slept.
func CheckNight(from, until string, now time.Time) error {
	for _, text := range []string{from, until} {
		if _, err := time.Parse("15:04", text); err != nil {
			return &terminal.UsageError{Message: "a night needs two times of day, such as 22:00 and 07:00, not " + terminal.Quote(text), Hint: "--from 22:00 --until 07:00"}
		}
	}
	begin, _ := Deadline(from, now)
	if end, _ := Deadline(until, now); end.Before(begin) {
		return nil
	}
	return &terminal.Hinted{
		Err: fmt.Errorf("it is %s, and the night is from %s to %s", now.Local().Format("15:04 MST"), from, until), Hint: "relay work begins now", Code: terminal.Stopped,
	}
}
