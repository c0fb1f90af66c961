package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/terminal"
)

// remembered wants the agents ledger to be what an import makes of the files alone.
func (l *lab) remembered() {
	l.t.Helper()
	live := l.conversations()
	files, err := filepath.Glob(l.path(".agents-os/relay/agents-ledger*.db*"))
	if err != nil || len(files) < 2 {
		l.t.Fatalf("files of the agents ledger: %v, %v", files, err)
	}
	for _, name := range files {
		if err := os.Remove(name); err != nil {
			l.t.Fatal(err)
		}
	}
	l.run("sessions", "import").wants(l.t, terminal.OK)
	again := l.conversations()
	for i := range max(len(live), len(again)) {
		if i >= len(live) || i >= len(again) || live[i] != again[i] {
			l.t.Fatalf("%d rows and %d, row %d:\nthe agents ledger has\n%s\nand the files\n%s", len(live), len(again), i, live[min(i, len(live)-1)], again[min(i, len(again)-1)])
		}
	}
}

// conversations are all rows of the agents ledger, which is sound.
func (l *lab) conversations() (all []string) {
	l.t.Helper()
	r, err := sessions.OpenReadOnly(l.t.Context(), l.path(".agents-os/relay"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer r.Close()
	for _, query := range []string{
		"SELECT * FROM pragma_integrity_check", "SELECT * FROM pragma_foreign_key_check", "SELECT * FROM agent_sessions ORDER BY id", "SELECT * FROM agent_messages ORDER BY id",
		"SELECT * FROM agent_turns ORDER BY id", "SELECT * FROM agent_tool_calls ORDER BY id",
	} {
		table, err := r.SQL(l.t.Context(), query, sessions.Limits{Rows: 100_000, Time: time.Minute})
		if err != nil || table.More {
			l.t.Fatalf("%s: %v", query, err)
		}
		for _, row := range table.Rows {
			all = append(all, fmt.Sprintln(row...))
		}
	}
	if len(all) < 4 || all[0] != "ok\n" {
		l.t.Errorf("the agents ledger has %q", all)
	}
	return all
}
