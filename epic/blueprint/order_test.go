package blueprint

import (
	"strings"
	"testing"
)

// Tasks wait for what ids and ranges name, and not for what words in brackets do.
func TestOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"## Tasks\n### T1: a\n**Depends on:** None, but blocks T3\n### T2: b\n### T3: c\n**Depends on:** T1–T2\n":                                                 "T1<|T2<|T3<T1 T2",
		"## Tasks\n### T-01 — a\n- **Where:**\n  - x\n**Depends on:** —\n### T-02: b\n**Depends on:** T01 (not T-03)\n### T-03: c\n**Depends on:** T1–T2 green\n": "T-01<|T-02<T-01|T-03<T-01 T-02",
	} {
		made, err := Parse("plan.md", []byte("# A plan\n\n"+text), day())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, task := range made.Epic.Tasks {
			got = append(got, task.ID+"<"+strings.Join(task.DependsOn, " "))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: got %s, want %s", text, strings.Join(got, "|"), want)
		}
	}
}
