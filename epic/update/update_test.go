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
	r := update.Merge(update.Input{Made: made, Have: have, Plan: parse(t, src), Taken: known, Tried: known})
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
