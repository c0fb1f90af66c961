package eventstream

import (
	"cmp"
	"slices"
	"strings"

	"relay/runners"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/jsonline"
)

// Bounds of what is counted.
const (
	maxTools  = 100     // counted by name
	MaxCalls  = 1000    // at work that are remembered; one that is forgotten never ends
	otherTool = "other" // the name of all that come after these, and of those without one
)

// Tools counts how often an agent uses each of its tools, and how often in vain.
type Tools struct {
	uses map[string]*runners.ToolUse
	open map[string]*runners.ToolUse // calls that have not ended, by id
}

// Begin counts a call. One that is told again before it has ended is counted once.
func (t *Tools) Begin(id, name jsonline.String) {
	key := id.Head(cleantext.MaxName)
	if t.open[key] != nil {
		return
	}
	use := t.use(name)
	use.Calls++
	if t.open == nil {
		t.open = map[string]*runners.ToolUse{}
	}
	if len(t.open) < MaxCalls && key != "" {
		t.open[key] = use
	}
}

// End records that a call has ended. It returns the name of its tool; "": nothing told that it began.
func (t *Tools) End(id jsonline.String, failed bool) string {
	key := id.Head(cleantext.MaxName)
	use := t.open[key]
	if use == nil {
		return ""
	}
	if failed {
		use.Failed++
	}
	delete(t.open, key)
	return use.Name
}

// Running returns how many calls are at work. While there are none, only the model can be what is missing.
func (t *Tools) Running() int { return len(t.open) }

// Calls returns how often a tool was called.
func (t *Tools) Calls(name string) int {
	if use := t.uses[name]; use != nil {
		return use.Calls
	}
	return 0
}

// Ended records that a call has ended of which nothing may have been told before.
func (t *Tools) Ended(id, name jsonline.String, failed bool) {
	if t.Begin(id, name); t.End(id, failed) == "" && failed {
		t.use(name).Failed++
	}
}

func (t *Tools) use(name jsonline.String) *runners.ToolUse {
	if use := t.uses[name.String()]; use != nil {
		return use
	}
	clean := cleantext.OneLine(name.Head(2*cleantext.MaxName), cleantext.MaxName)
	if clean == "" || len(t.uses) >= maxTools {
		clean = otherTool
	}
	use := t.uses[clean]
	if use == nil {
		use = &runners.ToolUse{Name: clean}
		if t.uses == nil {
			t.uses = map[string]*runners.ToolUse{}
		}
		t.uses[clean] = use
	}
	return use
}

// List returns what was counted, the most used first.
func (t *Tools) List() []runners.ToolUse {
	if len(t.uses) == 0 {
		return nil
	}
	var list []runners.ToolUse
	for _, use := range t.uses {
		list = append(list, *use)
	}
	slices.SortFunc(list, func(a, b runners.ToolUse) int {
		return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Name, b.Name))
	})
	return list
}
