package discussion

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"relay/attempts/internal/durable"
)

//go:embed actions.json
var actionSchemas []byte

// The five actions.
const (
	ActionAppend = "append_discussion"
	ActionLink   = "link_to_prior"
	ActionMark   = "mark_state"
	ActionOpen   = "extract_open_threads"
	ActionReplay = "replay_reasoning"
)

// Action is one of the five things that can be done with the ledger, for those who offer it to others.
type Action struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`  // JSON Schema of what [Ledger.Call] takes
	Output      json.RawMessage `json:"output"` // JSON Schema of what it answers
}

// Actions lists the five actions.
func Actions() ([]Action, error) {
	var list []Action
	return list, json.Unmarshal(actionSchemas, &list)
}

// InvalidError means that the input of an action does not meet its schema. Nothing was done.
type InvalidError struct {
	Action   string
	Problems []string // a sentence each
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("the input of %s is invalid: %s", e.Action, strings.Join(e.Problems, "; "))
}

func check(name string, input []byte) error {
	actions, err := Actions()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(actions, func(a Action) bool { return a.Name == name })
	if at < 0 {
		return fmt.Errorf("there is no action %q of discussions", name)
	}
	compiled, err := durable.CompileSchema(actions[at].Input)
	if err != nil {
		return err
	}
	if problems := compiled.Check(input); len(problems) > 0 {
		return &InvalidError{name, problems}
	}
	return nil
}
