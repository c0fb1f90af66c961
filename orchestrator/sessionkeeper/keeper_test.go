package sessionkeeper

import (
	"database/sql" //nolint:depguard // as another program has it open
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/attempts/sessions"
)

func startedEvent(seq uint64, f *attemptFacts) attempts.Event {
	return attempts.Event{
		Seq: seq, Run: f.run, Type: attempts.TypeAttemptStarted, Task: f.task, Attempt: f.number,
		Started: &attempts.Started{Runner: f.agent, CLI: f.kind, Dir: f.dir},
	}
}

// knows reports whether a session has rows.
func (k *Keeper) knows(t *testing.T, id string) bool {
	t.Helper()
	_, ok, err := k.w.db.Mark(t.Context(), "session/"+id)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func endedEvent(seq uint64, f *attemptFacts) attempts.Event {
	return attempts.Event{
		Seq: seq, Run: f.run, Type: attempts.TypeAttemptEnded, Task: f.task, Attempt: f.number,
		Ended: &attempts.Ended{Model: "gpt-9", Receipt: attempts.Receipt{Summary: "Did it."}},
	}
}

// TestRowsComeSoon: what an agent printed is in the ledger a second after the end of its attempt.
func TestRowsComeSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNight(t, "codex")
		k := New(Options{Enabled: true, Kind: noKind, Top: "/work/shop", Dir: n.dir, Run: n.facts.run, Warn: func(text string) { t.Error(text) }})
		k.Start(t.Context())
		dir := n.begin("", "do it")
		k.Add([]attempts.Event{startedEvent(1, n.facts)})
		n.say(dir, codexBegan+codexSays(0, "I begin."), time.Now().UnixMilli(), true)
		time.Sleep(time.Second) //nolint:forbidigo // fake time
		synctest.Wait()
		if mark, done, _ := k.w.db.Mark(t.Context(), n.facts.name()); done {
			t.Errorf("an attempt under way is done: %+v", mark)
		}
		k.Add([]attempts.Event{endedEvent(2, n.facts)})
		time.Sleep(time.Second) //nolint:forbidigo // fake time
		synctest.Wait()
		if mark, done, _ := k.w.db.Mark(t.Context(), n.facts.name()); !done || len(k.known.byID) != 0 || !k.knows(t, "th") {
			t.Errorf("an attempt that has ended is not done: %+v, %d under way", mark, len(k.known.byID))
		}
		ledger, err := sessions.OpenReadOnly(t.Context(), n.dir) // codex prints no model: relay has read it elsewhere
		if err != nil {
			t.Fatal(err)
		}
		defer ledger.Close()
		session, err := ledger.Find(t.Context(), "th")
		turn, failed := ledger.Turn(t.Context(), "th:0:item_0")
		if err != nil || failed != nil || session.Model != "gpt-9" || turn.Model != "gpt-9" {
			t.Errorf("session of %q, turn of %q: %v, %v", session.Model, turn.Model, err, failed)
		}
		k.Close(t.Context())
	})
}

// TestFirstKeepsID: of two attempts whose agents print the same id of a session, the one that has ended first keeps it.
func TestFirstKeepsID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNight(t, "codex")
		k := New(Options{Enabled: true, Kind: noKind, Top: "/work/shop", Dir: n.dir, Run: n.facts.run, Warn: func(text string) { t.Error(text) }})
		k.Start(t.Context())
		second := &night{t: t, dir: n.dir, attempt: n.attempt}
		facts := *n.facts
		facts.number = 2
		second.facts = &facts
		for i, one := range []*night{n, second} {
			k.Add([]attempts.Event{startedEvent(uint64(2*i+1), one.facts)})
			one.say(one.begin("", "do it"), codexBegan+codexSays(0, "I begin."), time.Now().UnixMilli(), true)
			k.Add([]attempts.Event{endedEvent(uint64(2*i+2), one.facts)})
		}
		time.Sleep(2*look + time.Millisecond) //nolint:forbidigo // fake time
		synctest.Wait()
		k.Close(t.Context())
		db, err := sessions.Open(t.Context(), n.dir, sessions.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if mark, _, _ := db.Mark(t.Context(), "session/th"); mark.State != "20261121T030000Z-abcd/T1/1" {
			t.Errorf("the session is that of %q", mark.State)
		}
	})
}

// TestLedgerInUseForAWhile: a ledger that another program has locked, when the run begins or later, has all rows once it lets go.
func TestLedgerInUseForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNight(t, "codex")
		other, err := sessions.Open(t.Context(), n.dir, sessions.Options{Epic: "other", Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		k := New(Options{Enabled: true, Kind: noKind, Top: "/work/shop", Dir: n.dir, Run: n.facts.run, Warn: func(text string) { t.Error(text) }})
		k.Start(t.Context())
		dir := n.begin("", "do it")
		k.Add([]attempts.Event{startedEvent(1, n.facts)})
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) //nolint:forbidigo // fake time
		synctest.Wait()
		db, err := sql.Open("sqlite", filepath.Join(n.dir, sessions.File)+"?_txlock=exclusive")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		n.say(dir, codexBegan+codexSays(0, "I begin."), time.Now().UnixMilli(), true)
		k.Add([]attempts.Event{endedEvent(2, n.facts)})
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) //nolint:forbidigo // fake time
		synctest.Wait()
		if !k.knows(t, "th") {
			t.Error("the row is missing")
		}
		k.Close(t.Context())
	})
}

// TestLedgerInUse: a run whose ledger is another's goes on, with one warning, and waits for nobody.
func TestLedgerInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		other, err := sessions.Open(t.Context(), dir, sessions.Options{Epic: "other", Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		var told []string
		k := New(Options{Enabled: true, Kind: noKind, Top: "/work/shop", Dir: dir, Run: "r", Warn: func(text string) { told = append(told, text) }})
		k.Start(t.Context())
		for seq := range uint64(100) {
			k.Add([]attempts.Event{startedEvent(seq+1, &attemptFacts{run: "r", task: "T1", number: 1})})
		}
		began := time.Now()
		k.Close(t.Context())
		if took := time.Since(began); took > time.Second || len(told) != 1 || !strings.Contains(told[0], "the agents ledger is not kept in this run") {
			t.Errorf("after %s: told %q", took, told)
		}
	})
}

// TestNoKeeper: without a ledger to keep nothing is done.
func TestNoKeeper(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	k.Start(t.Context())
	k.Add(nil)
	k.Close(t.Context())
}
