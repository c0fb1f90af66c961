package runview

import (
	"os"
	"strings"
	"testing"
	"time"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic"
)

// Whoever saves epic.yml in an editor while relay init --append asks does not lose that.
func TestAddLeavesAnEditedPlanAlone(t *testing.T) {
	t.Parallel()
	const before, mine = "version: 2\nid: 20260101-x\ntitle: X\ntasks:\n  T1: {title: A}\n", "# mine, just now\n"
	p := &project.Project{Root: t.TempDir(), Config: &configs.Config{}, Session: project.Session{Now: time.Now}}
	p.Dir = p.Root
	path := p.File("epic.yml")
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	pl, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	store, err := p.Open(pl)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := os.WriteFile(path, []byte(before+mine), 0o600); err != nil {
		t.Fatal(err)
	}
	found := Proposal{Tasks: []epic.Task{{ID: "R1", Title: "B", Kind: epic.KindBugfix}}}
	if ids, err := AddProposed(p, store, pl, found); err == nil || !strings.Contains(err.Error(), "changed meanwhile") || terminal.Diagnose(err).Hint != "relay init --append" {
		t.Errorf("got %v and %v", ids, err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != before+mine {
		t.Errorf("epic.yml is %q, %v", now, err)
	}
	if pl, err = p.Plan(); err != nil {
		t.Fatal(err)
	}
	if _, err := AddProposed(p, store, pl, found); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); !strings.Contains(string(now), "R1:") || !strings.Contains(string(now), mine) {
		t.Errorf("epic.yml is %q", now)
	}
}
