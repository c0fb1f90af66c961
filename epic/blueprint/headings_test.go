package blueprint

import (
	"strings"
	"testing"
)

// Among the tasks a heading of any form is a task if fields follow, and keeps the id that it begins with.
func TestLooseHeadings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# A plan\n\n## Implementation Tasks\n\n##### T1: First\n- **Priority:** p1\n\n##### Notes\nOnly words.\n")
	for _, head := range []string{"feature/auth: Add login", "1.2: Do exports", "修复: fix crash", "[T5] do imports", "T6. do mails", "T7 Do logs"} {
		b.WriteString("\n##### " + head + "\n- **Priority:** p1\n- **Checks:** `test -f x`\n")
	}
	made, err := Parse("plan.md", []byte(b.String()), day())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range made.Epic.Tasks {
		got = append(got, task.ID+" "+task.Title)
	}
	want := "T1 First|T2 feature/auth: Add login|T3 1.2: Do exports|T4 修复: fix crash|T5 do imports|T6 do mails|T7 Do logs"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
}
