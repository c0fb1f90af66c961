package blueprint

import (
	"fmt"
	"strings"
	"testing"
)

// Among the tasks a heading of any form is a task if fields follow, and keeps the id that it begins with.
func TestLooseHeadings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# A plan\n\n## Implementation Tasks\n\n##### T1: First\n- **Priority:** p1\n\n##### Notes\nOnly words.\n")
	for _, head := range []string{"feature/auth: Add login", "1.2: Do exports", "修复: fix crash", "[T5] do imports", "T6. do mails", "PR-7.1a · Do logs"} {
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
	want := "T1 First|T2 feature/auth: Add login|T1-2 Do exports|T3 修复: fix crash|T5 do imports|T6 do mails|PR-7-1a Do logs"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
	if len(made.Told) != 1 || made.Told[0].Why != `the heading "Notes" is not a task, and its text is part of the description of the epic` {
		t.Errorf("told %+v", made.Told)
	}
}

// Numbered headings may have dotted numbers, which are ids and references.
func TestDottedHeadings(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"1.%d: %s", "1.%d %s", "Task 1.%d: %s", "Task 1.%d %s", "1.%d. %s"} {
		text := "# A plan\n\n## Tasks\n\n### " + fmt.Sprintf(form, 1, "Log in") + "\n- **Checks:** `true`\n\n### " +
			fmt.Sprintf(form, 2, "Log out") + "\n- **Depends on:** Task 1.1\n\n### " + fmt.Sprintf(form, 3, "Forget") + "\nDepends on: 1.1 and 1.2\n"
		made, err := Parse("plan.md", []byte(text), day())
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		var got []string
		for _, task := range made.Epic.Tasks {
			got = append(got, task.ID+" "+task.Title+" "+strings.Join(task.DependsOn, ","))
		}
		if got := strings.Join(got, "|"); got != "T1-1 Log in |T1-2 Log out T1-1|T1-3 Forget T1-1,T1-2" {
			t.Errorf("%s: %s", form, got)
		}
	}
}
