package adapter

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"relay/runners"
)

func text(s string) JSONString { return JSONString(fmt.Sprintf("%q", s)) }

func TestTools(t *testing.T) {
	t.Parallel()
	var u Tools
	if got := u.List(); got != nil {
		t.Errorf("of none: %v", got)
	}
	u.Begin(text("1"), text("Bash"))
	u.Begin(text("1"), text("Bash")) // told again
	u.End(text("1"), true)
	u.End(text("1"), true) // of a call that has ended
	u.End(text("9"), true) // of one that nobody has told of
	u.Begin(text("2"), text("Read"))
	u.Begin(text("3"), text("Bash"))
	u.Ended(text("3"), text("Bash"), false)
	u.Ended(text("4"), text("Edit"), true)
	u.Ended(nil, nil, true)
	want := []runners.ToolUse{
		{Name: "Bash", Calls: 2, Failed: 1}, {Name: "Edit", Calls: 1, Failed: 1}, {Name: "Read", Calls: 1}, {Name: "other", Calls: 1, Failed: 1},
	}
	if got := u.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What an agent may call its tools, and how many it may have, takes no more room than this.
func TestToolsAreBounded(t *testing.T) {
	t.Parallel()
	var u Tools
	for i := range 5000 {
		u.Begin(text(fmt.Sprint(i)), text(fmt.Sprint("tool", i)))
	}
	u.Begin(text("c"), text("a\x00\x1b[31mb"+strings.Repeat("x", 10<<20)))
	if len(u.uses) > maxTools+1 || len(u.open) > MaxCalls {
		t.Errorf("%d tools, %d calls", len(u.uses), len(u.open))
	}
	for _, use := range u.List() {
		if len(use.Name) > runners.MaxName || strings.ContainsAny(use.Name, "\x00\x1b") {
			t.Errorf("a tool is called %q", use.Name)
		}
	}
	if first := u.List()[0]; first.Name != otherTool || first.Calls != 5001-maxTools {
		t.Errorf("got %v", first)
	}
}
