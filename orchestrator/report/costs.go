package report

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/orchestrator/text"
)

// costs writes who has used what, and what is left of the caps.
func (p *page) costs(r *Report) {
	if r.EpicUsage == (attempts.Usage{}) && len(r.Caps) == 0 {
		return
	}
	p.say("\n## Cost\n")
	if len(r.Agents) > 0 {
		p.say("\nWhat reviewers used counts with the attempt that they reviewed.\n")
		p.shares("agent", r.Agents)
		p.shares("model", r.Models)
	}
	if r.EpicUsage != r.Usage {
		p.say("\nThe epic, over all its runs: %s\n", text.Usage(r.EpicUsage))
	}
	if len(r.Caps) > 0 {
		p.say("\nCaps, as the configuration has them now:\n\n")
	}
	for i := range r.Caps {
		p.say("- %s: %s\n", r.Caps[i].Scope, capText(&r.Caps[i]))
	}
}

func (p *page) shares(of string, list []Share) {
	p.say("\n| %s | attempts | USD | tokens in | from the cache | tokens out |\n|---|---|---|---|---|---|\n", of)
	for _, s := range list {
		who := cell(s.Name, 80)
		if who == "" {
			who = "not known"
		}
		usd := fmt.Sprintf("%.2f", s.CostUSD)
		if s.EstimatedCost() {
			usd += " (estimated)"
		}
		if s.Unpriced > 0 {
			usd += fmt.Sprintf(", and %s without a price", text.Count(s.Unpriced, "attempt"))
		}
		p.say("| %s | %d | %s | %s | %s | %s |\n", who, s.Attempts, usd, text.Amount(s.InputTokens), text.Amount(s.CachedTokens), text.Amount(s.OutputTokens))
	}
}

// capText returns text that says what of a cap is gone and what remains.
func capText(c *Cap) string {
	var parts []string
	if b := c.USD; b != nil && b.unknown {
		parts = append(parts, fmt.Sprintf("how much of %.2f USD is spent is not known", b.Cap))
	} else if b != nil {
		parts = append(parts, fmt.Sprintf("%.2f of %.2f USD spent, %.2f left%s", b.Spent, b.Cap, b.Left, estimated(b.estimated)))
	}
	if b := c.Tokens; b != nil {
		parts = append(parts, fmt.Sprintf("%s of %s tokens used, %s left%s", text.Amount(b.Spent), text.Amount(b.Cap), text.Amount(b.Left), estimated(b.estimated)))
	}
	return strings.Join(parts, "; ")
}

func estimated(so bool) string {
	if so {
		return ", estimated"
	}
	return ""
}

// waits lists when nothing could start, and who was not asked.
func (p *page) waits(r *Report) {
	for i, w := range r.Waits {
		switch {
		case i == 0:
			p.say("\n## Waits\n\n")
		case i == mostListed:
			p.say("- and %d more: `relay ledger log`\n", len(r.Waits)-i)
			return
		}
		p.say("- %s: %s%s\n", p.timeText(w.At), p.wait(&w), text.After(code(w.Why, columnsWide)))
	}
}

func (p *page) wait(w *Wait) string {
	who := name(w.For)
	switch w.Kind {
	case RunWaits:
		return "nothing could start before " + p.timeText(w.Until) + ", for " + who
	case AgentFree:
		return who + " may be asked again"
	default:
		return who + " is not asked before " + p.timeText(w.Until)
	}
}

// notes lists what happened besides.
func (p *page) notes(title string, list []Note) {
	for i, n := range list {
		switch {
		case i == 0:
			p.say("\n## %s\n\n", title)
		case i == mostListed:
			p.say("- and %d more: `relay ledger log`\n", len(list)-i)
			return
		}
		who := ""
		if n.Task != "" {
			who = " " + name(n.Task)
		}
		if n.Attempt > 0 {
			who += fmt.Sprintf(" attempt %d", n.Attempt)
		}
		p.say("- %s%s, %s: %s\n", p.timeText(n.At), who, name(n.Kind), code(n.Text, 1000))
	}
}
