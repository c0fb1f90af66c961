package update_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/update"
)

const before = `# Shop

## Tasks

- [ ] Make the schema
- [ ] Show the cart
- [ ] Pay by card
`

func parse(t *testing.T, src string) *epic.Epic {
	t.Helper()
	p, err := blueprint.Parse("PLAN.md", []byte(src), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return p.Epic
}

func merge(t *testing.T, made, have *epic.Epic, src string, tried ...string) *update.Result {
	t.Helper()
	known := func(id string) bool { return slices.Contains(tried, id) }
	r := update.Merge(update.Input{Made: made, Have: have, Plan: parse(t, src), Taken: known, Tried: known, Gated: func(id string) bool { return known(id) && strings.HasPrefix(id, "G") }})
	text, err := r.Epic.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := epic.Read("epic.yml", text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}

func titles(e *epic.Epic) string {
	var list []string
	for _, t := range e.Tasks {
		list = append(list, t.ID+" "+t.Title)
	}
	return strings.Join(list, "; ")
}

func TestRenumbered(t *testing.T) {
	t.Parallel()
	old := parse(t, before)
	once := merge(t, old, old, strings.Replace(before, "- [ ] Show", "- [ ] Log in\n- [ ] Show", 1))
	if got, want := titles(once.Epic), "T1 Make the schema; T4 Log in; T2 Show the cart; T3 Pay by card"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	twice := merge(t, once.Made, once.Epic, strings.Replace(before, "- [ ] Show", "- [ ] Log in with a passkey\n- [ ] Show", 1))
	if got, want := titles(twice.Epic), "T1 Make the schema; T4 Log in with a passkey; T2 Show the cart; T3 Pay by card"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Of tasks with one title each keeps what is its own, whichever of them goes.
// TestRelabelled: a label that comes into a title, or goes out of it, makes no other task of it.
func TestRelabelled(t *testing.T) {
	t.Parallel()
	old := parse(t, before)
	once := merge(t, old, old, strings.NewReplacer("Make", "Phase 3 — Make", "Pay", "Phase 1 — Pay").Replace(before))
	if got, want := titles(once.Epic), "T1 Phase 3 — Make the schema; T2 Show the cart; T3 Phase 1 — Pay by card"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTwins(t *testing.T) {
	t.Parallel()
	const plan = "# Shop\n\n## Tasks\n\n- [ ] Make the schema\n- [ ] Write tests\n- [ ] Send mail\n- [ ] Write tests\n- [ ] Ship\n"
	old := parse(t, plan)
	first := merge(t, old, old, strings.Replace(plan, "schema\n- [ ] Write tests\n", "schema\n", 1))
	if got, want := titles(first.Epic), "T1 Make the schema; T3 Send mail; T4 Write tests; T5 Ship"; got != want {
		t.Errorf("without the first: %s, want %s", got, want)
	}
	last := merge(t, old, old, strings.Replace(plan, "mail\n- [ ] Write tests\n", "mail\n", 1))
	if got, want := titles(last.Epic), "T1 Make the schema; T2 Write tests; T3 Send mail; T5 Ship"; got != want {
		t.Errorf("without the second: %s, want %s", got, want)
	}
	const numbered = "# Shop\n\n## Tasks\n\n### T1: Write tests\nOf the cart.\n### T2: Write tests\nOf the mail.\n"
	old = parse(t, numbered)
	one := merge(t, old, old, "# Shop\n\n## Tasks\n\n### T1: Write tests\nOf the mail.\n", "T1")
	if got, want := titles(one.Epic), "T1 Write tests; T2 Write tests"; got != want || len(one.Kept) != 1 || one.Kept[0].ID != "T1" || len(one.Changed) != 0 {
		t.Errorf("%s, kept %v, changed %v; want %s, and T1 kept", got, one.Kept, one.Changed, want)
	}
}

// A task in the place of another is not the other, because both begin with the same verb or have what their siblings are told.
func TestAnother(t *testing.T) {
	t.Parallel()
	for is, same := range map[string]bool{
		"Add the login": false, "Add the shopping cart": true, "Show the cart": true, "Add a cart to the shop": true, "Remove it": false, "Add": true,
	} {
		old := parse(t, "# Shop\n\n## Tasks\n\n### T1: Add the cart\n### T2: Ship\n")
		got := merge(t, old, old, "# Shop\n\n## Tasks\n\n### T1: "+is+"\n### T2: Ship\n", "T1")
		if len(got.Changed) == 1 != same || len(got.Added) == 1 == same {
			t.Errorf("%s: changed %v, new %v", is, got.Changed, got.Added)
		}
	}
	const siblings = "# Shop\n\n## Tasks\n\n### T1: Routes\nPart of the API.\n### T2: Handlers\nPart of the API.\n"
	old := parse(t, siblings)
	got := merge(t, old, old, strings.Replace(siblings, "Routes", "Login", 1), "T1")
	if want := "T3 Login; T1 Routes; T2 Handlers"; titles(got.Epic) != want {
		t.Errorf("%s, want %s", titles(got.Epic), want)
	}
}

// New ids are in the manner of the plan's, and no other task's there.
func TestNewIDs(t *testing.T) {
	t.Parallel()
	made := &epic.Epic{ID: "shop", Tasks: []epic.Task{{ID: "T001", Title: "Make the schema"}, {ID: "T002", Title: "Pay by card"}}}
	plan := &epic.Epic{ID: "shop", Tasks: []epic.Task{
		{ID: "T001", Title: "Make the schema"}, {ID: "T002", Title: "Log in"}, {ID: "T003", Title: "Send mail"}, {ID: "T004", Title: "Pay by card"},
	}}
	none := func(string) bool { return false }
	got := update.Merge(update.Input{Made: made, Have: made, Plan: plan, Taken: none, Tried: none, Gated: none})
	if want := "T001 Make the schema; T004 Log in; T003 Send mail; T002 Pay by card"; titles(got.Epic) != want {
		t.Errorf("%s, want %s", titles(got.Epic), want)
	}
}

// What the plan gives no more stays, and is told once.
func TestLeft(t *testing.T) {
	t.Parallel()
	const plan = "# Shop\n\n- **Checks:** `make`\n\n## Context\n\nTouch nothing old.\n\n## Tasks\n\n### T1: Ship\n- **Checks:** `true`\n"
	const less = "# Shop\n\n- **Checks:** `make all`\n\n## Tasks\n\n### T1: Ship\n"
	old := parse(t, plan)
	first := merge(t, old, old, less)
	if len(first.Left) != 1 || first.Left[0].ID != "T1" || !slices.Equal(first.Left[0].Fields, []string{"checks"}) {
		t.Errorf("left of tasks: %+v", first.Left)
	}
	if !slices.Equal(first.LeftWhole, []string{"description", "checks"}) || len(first.Epic.Checks) != 2 || len(first.Epic.Tasks[0].Checks) != 1 {
		t.Errorf("left of the epic: %v, with %v", first.LeftWhole, first.Epic.Checks)
	}
	own := *first.Epic // a task of a person's, that is in the plan by now
	own.Tasks = append(slices.Clone(own.Tasks), epic.Task{ID: "D1", Title: "Tidy up", Description: "It is dusty.", Kind: epic.KindFeature})
	if both := merge(t, first.Made, &own, less+"### T2: Tidy up\n"); len(both.Added)+len(both.Left) > 0 {
		t.Errorf("new: %+v, left: %+v", both.Added, both.Left)
	}
	again := merge(t, first.Made, first.Epic, less)
	if len(again.Added)+len(again.Changed)+len(again.Removed)+len(again.Whole) > 0 || len(again.Left)+len(again.LeftWhole) > 0 {
		t.Errorf("told again: %+v, %v", again.Left, again.LeftWhole)
	}
}

// A gated task that left the plan goes, unless a person edited it in epic.yml; a completed one stays.
func TestGatedLeaves(t *testing.T) {
	t.Parallel()
	made := parse(t, "# Shop\n## Tasks\n### G1: Pay\n### G2: Ship\n### T3: Show\n**Depends on:** G1\n### T4: Sell\n")
	have := *made
	have.Tasks = slices.Clone(made.Tasks)
	have.Tasks[1].Description = "by mail"
	got := merge(t, made, &have, "# Shop\n## Tasks\n### T4: Sell\n", "G1", "G2", "T3")
	if want := "G2 Ship; T3 Show; T4 Sell"; titles(got.Epic) != want || len(got.Removed) != 1 || len(got.Epic.Tasks[1].DependsOn) > 0 {
		t.Errorf("%s, want %s; %v are gone", titles(got.Epic), want, got.Removed)
	}
}
