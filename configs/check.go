package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reviewers are the providers a review may name without an entry under relay.agents.
var reviewers = []string{"auto", "repoprompt", "none", "command"}

// checkWhole finds the mistakes that no single value shows.
func checkWhole(l *loader, c *Config) {
	agents := slices.Sorted(maps.Keys(c.Relay.Agents))
	checkNames(l, "relay.runners", c.Relay.Runners, agents)
	names := append(slices.Clone(reviewers), agents...)
	checkNames(l, "relay.review.provider", []string{c.Relay.Review.Provider}, names)
	checkNames(l, "quality_gate.reviewers", c.QualityGate.Reviewers, names)
	for _, name := range agents {
		if !l.broken[agentsKey+"."+name] {
			checkAgent(l, name, c.Relay.Agents[name])
		}
	}
	for name, r := range c.Relay.Notify {
		checkReceiver(l, name, r)
	}
	if c.Relay.BackoffMax < c.Relay.Backoff {
		s := l.settings["relay.backoff_seconds"]
		if s.origin == defaultOrigin { // then a layer lowered the maximum
			s = l.settings["relay.backoff_max_seconds"]
		}
		l.problem(s.position, "relay.backoff_seconds is more than relay.backoff_max_seconds", "change one of the two")
	}
	if n := c.Relay.SandboxNetwork; c.Relay.Sandbox == "off" && (Hosts(n.Checks) != nil || Hosts(n.Agents) != nil) {
		l.warnings = append(l.warnings, "relay.sandbox_network restricts nothing, as relay.sandbox is off")
	}
	if c.Relay.Jobs > 1 && c.Relay.Isolation == "none" {
		l.warnings = append(l.warnings, fmt.Sprintf(
			"relay.jobs is %d, but relay.isolation none runs one task at a time", c.Relay.Jobs))
	}
}

// checkNames complains of names that nothing has, and of names given twice.
func checkNames(l *loader, key string, names, allowed []string) {
	s := l.settings[key]
	for i, name := range names {
		at := s.position
		if i < len(s.items) {
			at = s.items[i]
		}
		switch {
		case !slices.Contains(allowed, name):
			l.problem(at, fmt.Sprintf("%s: there is no agent %q", key, name), didYouMean(name, allowed))
		case slices.Index(names, name) < i:
			l.problem(at, fmt.Sprintf("%s: %q is named twice", key, name), "")
		}
	}
}

// checkAgent complains of what a type of agent lacks, and of what it would silently ignore.
func checkAgent(l *loader, name string, a Agent) {
	section := agentsKey + "." + name
	lacks := func(what, hint string) { l.problem(l.names[agentsKey][name], section+" "+what, hint) }
	switch {
	case a.Type == "":
		last := len(agentTypes) - 1
		lacks("has no type", "add type: "+strings.Join(agentTypes[:last], ", ")+" or "+agentTypes[last])
		return
	case len(a.Argv) > 0 && a.Argv[0] == "":
		lacks("has an empty program", "name a program first in argv")
	case a.Type == "command" && len(a.Argv) == 0:
		lacks("has no program to run", "add argv: [program, argument]")
	case a.Type == "scripted" && a.Script == "":
		lacks("has no script to play", "add script: FILE")
	}
	for _, f := range fields {
		s, set := l.settings[strings.Replace(f.key, "*", name, 1)]
		if set && f.only != nil && !slices.Contains(f.only, a.Type) && s.origin != defaultOrigin && s.value != "" && s.value != false {
			l.problem(s.position, fmt.Sprintf("%s is only for type %s", s.key, strings.Join(f.only, ", ")), "")
		}
	}
}

// checkReceiver complains of a receiver that gets nothing, or cannot get it.
func checkReceiver(l *loader, name string, r Receiver) {
	section := notifyKey + "." + name
	lacks := func(what, hint string) { l.problem(l.names[notifyKey][name], section+" "+what, hint) }
	ways := 0
	for _, given := range []bool{len(r.Argv) > 0, r.URL != "", r.Desktop} {
		if given {
			ways++
		}
	}
	switch {
	case l.broken[section]:
	case len(r.On) == 0:
		lacks("has no events", "add on: [ended, question]")
	case ways != 1:
		lacks("needs one of argv, url and desktop", "add url: ADDRESS, argv: [PROGRAM, ARGUMENT] or desktop: true")
	case len(r.Argv) > 0 && r.Argv[0] == "":
		lacks("has an empty program", "name a program first in argv")
	}
}
