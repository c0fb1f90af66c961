package main

import (
	"fmt"
	"slices"

	"relay/orchestrator"
)

// anotherVendor is the provider that stands for a reviewer of another vendor than the worker's.
const anotherVendor = "auto"

// vendors are the agents such a reviewer is looked for among, in this order.
func vendors() []string { return []string{"claude", "codex", "gemini", "opencode"} }

// reviewers are the names of those who judge each change; none when nobody does.
func (p *place) reviewers() []string {
	c := p.config
	names := c.QualityGate.Reviewers
	if len(names) == 0 {
		names = []string{c.Relay.Review.Provider}
	}
	switch {
	case !c.Relay.Review.Enabled, names[0] == "none":
		return nil
	case names[0] == anotherVendor:
		return p.anotherVendor()
	}
	return names
}

// anotherVendor is the first agent whose program is there and that is of another type than any runner; none without.
func (p *place) anotherVendor() []string {
	var ours []string
	for _, name := range p.config.Relay.Runners {
		ours = append(ours, p.config.Relay.Agents[name].Type)
	}
	for _, name := range vendors() {
		agent, known := p.config.Relay.Agents[name]
		if !known || slices.Contains(ours, agent.Type) {
			continue
		}
		if _, err := p.program(name); err == nil {
			return []string{name}
		}
	}
	return nil
}

// maxInstructions bounds what a user can tell a reviewer: it is cut to a part of that in the prompt.
const maxInstructions = 1 << 20

// reviewer is a reviewer with what the configuration says of it.
func (p *place) reviewer(name string) (orchestrator.Reviewer, error) {
	r := orchestrator.Reviewer{Name: name}
	agent, err := p.agent(name)
	if err != nil {
		return r, err
	}
	r.Focus = agent.Focus
	if agent.Instructions == "" {
		return r, nil
	}
	text, err := readFile(p.inRoot(agent.Instructions), maxInstructions)
	if err != nil {
		return r, &hinted{err: fmt.Errorf("instructions of %s: %w", name, err), code: exitInvalid,
			hint: "correct relay.agents." + name + ".instructions"}
	}
	r.Instructions = string(text)
	return r, nil
}
