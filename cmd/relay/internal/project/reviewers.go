package project

import (
	"fmt"
	"slices"

	"relay/cmd/relay/internal/exit"
	"relay/orchestrator/engine"
)

// AutoReviewer is the provider that stands for a reviewer of another vendor than the worker's.
const AutoReviewer = "auto"

// ReviewVendors returns the agents such a reviewer is looked for among, in this order.
func ReviewVendors() []string { return []string{"claude", "codex", "gemini", "opencode"} }

// Reviewers returns the names of those who judge each change; none when nobody does.
func (p *Project) Reviewers() []string {
	c := p.Config
	names := c.QualityGate.Reviewers
	if len(names) == 0 {
		names = []string{c.Relay.Review.Provider}
	}
	switch {
	case !c.Relay.Review.Enabled, names[0] == "none":
		return nil
	case names[0] == AutoReviewer:
		return otherVendor(p)
	}
	return names
}

// otherVendor returns the first agent whose program is there and that is of another type than any runner; none without.
func otherVendor(p *Project) []string {
	var ours []string
	for _, name := range p.Config.Relay.Runners {
		ours = append(ours, p.Config.Relay.Agents[name].Type)
	}
	for _, name := range ReviewVendors() {
		agent, ok := p.Config.Relay.Agents[name]
		if !ok || slices.Contains(ours, agent.Type) {
			continue
		}
		if _, err := p.Program(name); err == nil {
			return []string{name}
		}
	}
	return nil
}

// maxInstructions bounds what a user can tell a reviewer: it is cut to a part of that in the prompt.
const maxInstructions = 1 << 20

// Reviewer returns a reviewer with what the configuration says of it.
func (p *Project) Reviewer(name string) (engine.Reviewer, error) {
	r := engine.Reviewer{Name: name}
	agent, err := p.Agent(name)
	if err != nil {
		return r, err
	}
	r.Focus = agent.Focus
	if agent.Instructions == "" {
		return r, nil
	}
	text, err := ReadFile(p.fromRoot(agent.Instructions), maxInstructions)
	if err != nil {
		return r, &exit.Hinted{
			Err: fmt.Errorf("instructions of %s: %w", name, err), Code: exit.Invalid,
			Hint: "correct relay.agents." + name + ".instructions",
		}
	}
	r.Instructions = string(text)
	return r, nil
}
