package planner

import (
	"strings"
	"testing"

	"relay/epic"
)

// TestFindings: an answer has findings with places that exist, and each one that has not is named.
func TestFindings(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{Tasks: []epic.Task{{ID: "T1"}}}
	for name, c := range map[string]struct{ answer, want string }{
		"prose":           {"All is well.", "has no JSON object"},
		"half an object":  {`{"findings": [}`, "is not an object"},
		"no list":         {`{"found": []}`, "has no list of findings"},
		"none":            {`{"findings": []}`, ""},
		"in a fence":      {"Here:\n```json\n{\"findings\": [{\"kind\": \"text\", \"line\": 3, \"task\": \"T1\", \"says\": \"x\"}]}\n```", ""},
		"an unknown kind": {`{"findings": [{"kind": "odd", "line": 1, "says": "x"}]}`, `finding 1: the kind "odd"`},
		"no line":         {`{"findings": [{"kind": "missing", "says": "x"}]}`, "no line 0"},
		"beyond the end":  {`{"findings": [{"kind": "missing", "line": 4, "says": "x"}]}`, "no line 4"},
		"an unknown task": {`{"findings": [{"kind": "order", "line": 1, "task": "T2", "says": "x"}]}`, `no task "T2"`},
		"unwanted what":   {`{"findings": [{"kind": "unwanted", "line": 1, "says": "x"}]}`, `no task ""`},
		"nothing said":    {`{"findings": [{"kind": "check", "line": 1, "task": "T1", "says": " "}]}`, "says is empty"},
	} {
		_, wrong := findings(c.answer, "# A\n\n- [ ] b\n", e)
		if got := strings.Join(wrong, "; "); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	list, _ := findings(`{"findings": [{"kind": "text", "line": 2, "says": "later"}, {"kind": "missing", "line": 1, "says": "a\nb"}]}`, "a\nb", e)
	if len(list) != 2 || list[0].Says != "a b" || list[1].Says != "later" {
		t.Errorf("got %+v", list)
	}
}
