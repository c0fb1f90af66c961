package adapter

import (
	"cmp"
	"slices"
	"strings"

	"relay/runners"
)

// Bounds of what is counted.
const (
	maxTools  = 100     // counted by name
	MaxCalls  = 1000    // at work that are remembered; one that is forgotten never ends
	otherTool = "other" // the name of all that come after these, and of those without one
)

type toolUse struct {
	runners.ToolUse
	denied int
}

// Tools counts how often an agent uses each of its tools, and how often in vain.
type Tools struct {
	uses map[string]*toolUse
	open map[string]*toolUse // calls that have not ended, by id
}

// Begin counts a call. It counts a call once that the CLI reports again before its end.
func (t *Tools) Begin(id, name JSONString) {
	key := id.Head(runners.MaxName)
	if t.open[key] != nil {
		return
	}
	use := t.use(name)
	use.Calls++
	if t.open == nil {
		t.open = map[string]*toolUse{}
	}
	if len(t.open) < MaxCalls && key != "" {
		t.open[key] = use
	}
}

// End records that a call has ended. It returns what Denied does; nil: nothing told that it began.
func (t *Tools) End(id JSONString, failed bool) *int {
	key := id.Head(runners.MaxName)
	use := t.open[key]
	if use == nil {
		return nil
	}
	if failed {
		use.Failed++
	}
	delete(t.open, key)
	return &use.denied
}

// Running returns how many calls are at work. While there are none, only the model can be what is missing.
func (t *Tools) Running() int { return len(t.open) }

// Denied returns a tool's count of the calls that were not allowed.
func (t *Tools) Denied(name JSONString) *int { return &t.use(name).denied }

// ToolName is an object that names a tool.
type ToolName struct {
	Name JSONString `json:"tool_name"`
}

// DeniedInAll counts the calls that were denied by a list of all of them, which repeats those that were counted before.
func (t *Tools) DeniedInAll(all []ToolName) {
	listed := map[*int]int{}
	for _, call := range all {
		n := t.Denied(call.Name)
		listed[n]++
		*n = max(*n, listed[n])
	}
}

// Withheld reports whether the agent never got a tool that it called.
func (t *Tools) Withheld() bool {
	for _, use := range t.uses {
		if use.denied > 0 && use.denied >= use.Calls {
			return true
		}
	}
	return false
}

// NotAllowed returns text that names the tools an agent was not allowed to use; "": none.
func (t *Tools) NotAllowed() string {
	var names []string
	for name, use := range t.uses {
		if use.denied > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "not allowed to use " + strings.Join(names, ", ")
}

// Ended records that a call has ended that the CLI may not have reported before.
func (t *Tools) Ended(id, name JSONString, failed bool) {
	if t.Begin(id, name); t.End(id, failed) == nil && failed {
		t.use(name).Failed++
	}
}

func (t *Tools) use(name JSONString) *toolUse {
	if use := t.uses[name.String()]; use != nil {
		return use
	}
	clean := runners.OneLine(name.Head(2*runners.MaxName), runners.MaxName)
	if clean == "" || len(t.uses) >= maxTools {
		clean = otherTool
	}
	use := t.uses[clean]
	if use == nil {
		use = &toolUse{ToolUse: runners.ToolUse{Name: clean}}
		if t.uses == nil {
			t.uses = map[string]*toolUse{}
		}
		t.uses[clean] = use
	}
	return use
}

// List returns what was counted, the most used first.
func (t *Tools) List() []runners.ToolUse {
	var list []runners.ToolUse
	for _, use := range t.uses {
		if use.Calls > 0 {
			list = append(list, use.ToolUse)
		}
	}
	slices.SortFunc(list, func(a, b runners.ToolUse) int {
		return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Name, b.Name))
	})
	return list
}
