package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/configs"
	"relay/runners/kinds"
)

// TestTypesOfAgents fails when a type in the schema is not in package kinds or the other way around, and when relay lacks a fact of a
// CLI: without its variables an agent has no keys, without its folders no one compares its settings.
func TestTypesOfAgents(t *testing.T) {
	t.Parallel()
	type object struct {
		Properties map[string]object `json:"properties"`
		Any        json.RawMessage   `json:"additionalProperties"`
		Enum       []string          `json:"enum"`
	}
	var schema, agent object
	if err := json.Unmarshal(configs.ConfigSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(schema.Properties["relay"].Properties["agents"].Any, &agent); err != nil {
		t.Fatal(err)
	}
	want := append(kinds.Types(), kinds.Command, kinds.Scripted)
	if got := agent.Properties["type"].Enum; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("agents.schema.json has the types %v, kinds has %v", got, want)
	}
	defaults, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	logins, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "runners.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.Types() {
		if facts := kinds.FactsOf(kind); facts.Login == "" || len(facts.Variables) == 0 || len(facts.Steering) == 0 {
			t.Errorf("%s lacks facts: %+v", kind, facts)
		}
		if defaults.Relay.Agents[kind].Type != kind {
			t.Errorf("defaults.yml has no agent %s", kind)
		}
		if login, _, _ := strings.Cut(kinds.FactsOf(kind).Login, ","); !strings.Contains(string(logins), "`"+kind+login+"`") {
			t.Errorf("docs/runners.md does not say how to log in to %s", kind)
		}
	}
}
