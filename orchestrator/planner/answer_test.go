package planner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay/epic"
	"relay/epic/blueprint"
)

// TestDocument: of what an agent answers the blueprint is read, without the words before it and a fence around it.
func TestDocument(t *testing.T) {
	t.Parallel()
	const plan = "# Shop\n\n## Implementation Tasks\n\n##### T1: Sell\n- **Checks:** `make`"
	inner := plan + "\n\n```sh\nmake\n```"
	for name, c := range map[string]struct{ answer, want string }{
		"the plan alone":              {plan, plan},
		"with words before it":        {"Here is the plan.\n\n" + plan + "\n", plan},
		"in a fence":                  {"Here:\n```markdown\n" + plan + "\n```\nI hope it helps.", plan},
		"in a longer fence":           {"````\n" + inner + "\n````\n", inner},
		"a fence before, closed":      {"I ran\n```\nmake\n```\n" + inner, inner},
		"a fence that is not closed":  {"```markdown\n" + plan, plan},
		"lines that end as Windows's": {strings.ReplaceAll("```\n"+plan+"\n```", "\n", "\r\n"), plan},
		"no title":                    {"I cannot do that.", "I cannot do that."},
		"nothing":                     {" \n\n", ""},
	} {
		if got := document(c.answer); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// FuzzDocument: what is read of an answer is a part of it, and reading that again changes nothing.
func FuzzDocument(f *testing.F) {
	f.Add("Here:\n```markdown\n# Shop\n\n##### T1: Sell\n```\n")
	f.Add("````\n# a\n```\nx\n```\n````")
	f.Add("```\n```\n# a\n```")
	f.Fuzz(func(t *testing.T, answer string) {
		got := document(answer)
		if !strings.Contains(strings.ReplaceAll(answer, "\r\n", "\n"), got) {
			t.Errorf("%q became %q", answer, got)
		}
		if again := document(got); strings.HasPrefix(got, "# ") && again != got {
			t.Errorf("%q became %q, and that %q", answer, got, again)
		}
	})
}

func parsed(t *testing.T, markdown string) *epic.Epic {
	t.Helper()
	read, err := blueprint.Parse("plan.md", []byte(markdown), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return read.Epic
}

// TestFill: a plan gets the criteria and checks that it lacks, and nothing else of an answer.
func TestFill(t *testing.T) {
	t.Parallel()
	const head = "# Shop\n\n## Implementation Tasks\n\n"
	plan := parsed(t, head+"##### T1: Sell\n- **Checks:** `make sell`\n\n##### T2: Buy\n- **Depends on:** T1\n\n**Acceptance Criteria:**\n- [ ] it buys\n")
	answer := parsed(t, head+"##### T1: Sell everything\n- **Checks:** `true`\n\n**Acceptance Criteria:**\n- [ ] it sells\n\n"+
		"##### T2: Buy\n- **Checks:** `make buy`\n\n**Acceptance Criteria:**\n- [ ] another\n")
	filled, added, wrong := fill(plan, answer)
	if len(wrong) > 0 || len(added) != 2 {
		t.Fatalf("wrong %q, added %+v", wrong, added)
	}
	sell, buy := filled.Tasks[0], filled.Tasks[1]
	if sell.Title != "Sell" || sell.Checks[0].Run != "make sell" || sell.Criteria[0].Text != "it sells" {
		t.Errorf("T1 became %+v", sell)
	}
	if !slices.Equal(buy.DependsOn, []string{"T1"}) || buy.Checks[0].Run != "make buy" || len(buy.Criteria) != 1 || buy.Criteria[0].Text != "it buys" {
		t.Errorf("T2 became %+v", buy)
	}
	if len(plan.Tasks[0].Criteria) > 0 || len(plan.Tasks[1].Checks) > 0 {
		t.Error("the plan itself was changed")
	}

	_, _, wrong = fill(plan, parsed(t, head+"##### T1: Sell\n\nNothing to add.\n\n##### T7: Steal\n- **Checks:** `true`\n"))
	want := []string{"the plan has no task T7", "still lacking: T1 (Sell): Acceptance Criteria", "still lacking: T2 (Buy): Checks"}
	if !slices.Equal(wrong, want) {
		t.Errorf("wrong: %q, want %q", wrong, want)
	}
}

// TestUnwanted: a plan that an agent has made says neither how many tasks it likes nor who does them at what cost.
func TestUnwanted(t *testing.T) {
	t.Parallel()
	plan := &epic.Epic{Tasks: make([]epic.Task, MostTasks)}
	if wrong := unwanted(plan); len(wrong) > 0 {
		t.Errorf("%d tasks: %q", MostTasks, wrong)
	}
	plan.Tasks = append(plan.Tasks, epic.Task{ID: "T9", Runner: "codex"})
	if wrong := unwanted(plan); len(wrong) != 2 || !strings.HasPrefix(wrong[0], "the plan has 101 tasks") || !strings.HasPrefix(wrong[1], "T9 says by whom") {
		t.Errorf("%q", wrong)
	}
}
