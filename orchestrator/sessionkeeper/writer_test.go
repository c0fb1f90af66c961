package sessionkeeper

import (
	"path/filepath"
	"testing"
	"time"

	"relay/attempts/sessions"
	"relay/runners/conversation"
	"relay/runners/kinds"
)

// TestSessionOfAnother: an agent that prints the id of another conversation's session, or of a message there, changes nothing of that: it
// gets ids of relay's own, the same ones each time.
func TestSessionOfAnother(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Claude)
	say := func(name, session, message, text string) {
		line := `{"type":"system","subtype":"init","session_id":"` + session + `"}` + "\n" +
			`{"type":"assistant","message":{"id":"` + message + `","content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
		n.say(n.begin(name, "do it"), line, began, true)
	}
	say("", "s1", "m1", "I am the first.")
	say("review/a/1", "s2", "m2", "A reviewer.")
	say("review/a/2", "s1", "m3", "I say that I am the first.")
	say("review/b/1", "s3", "m1", "I take its message.")
	db, err := sessions.Open(t.Context(), n.dir, sessions.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var first []string
	for range 2 {
		a := newAttempt(n.place, n.facts, true)
		w := writer{ctx: t.Context(), db: db}
		if err := w.settle(a); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, talk := range a.talks {
			ids = append(ids, talk.rows.Sessions()...)
			if talk.about.Qualified != (len(ids) > 2) {
				t.Errorf("%s: ids of its own: %t", talk.about.Key, talk.about.Qualified)
			}
		}
		if len(ids) != 4 || ids[0] != "s1" || ids[1] != "s2" || ids[2] == "s1" || ids[3] == "s3" {
			t.Errorf("sessions: %q", ids)
		}
		if first != nil {
			equal(t, "the second time", ids, first)
		}
		first = ids
		for i, id := range ids {
			if mark, ok, err := db.Mark(t.Context(), "session/"+id); err != nil || !ok || mark.State != a.talks[i].about.Key {
				t.Errorf("session %s is that of %q, %v", id, mark.State, err)
			}
		}
	}
}

// TestCapRows: rows of the middle of a stream that were written while it grew go when that middle does.
func TestCapRows(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	n.cap = 1000
	dir := n.begin("", "do it")
	db, err := sessions.Open(t.Context(), n.dir, sessions.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := writer{ctx: t.Context(), db: db}
	look := func(ended bool) {
		t.Helper()
		if err := w.writeAll(func() ([]sessions.Mark, error) { return nil, n.read(&w, looked{ended: ended}) }); err != nil {
			t.Fatal(err)
		}
	}
	n.say(dir, codexBegan+codexSays(0, "one")+codexSays(1, "two"), began, false)
	look(false)
	text := codexBegan + "[relay: 2000 bytes dropped]\n" + codexSays(9, "ten")
	n.write(filepath.Join(dir, conversation.TimesFile), string(conversation.TimesLine(2500, began+9, true)))
	replace(t, filepath.Join(dir, conversation.Transcript), text)
	look(true)
	_, messages, _ := n.talks[0].rows.Count()
	if messages != 3 {
		t.Errorf("%d messages, want what was asked, the hole and the last", messages)
	}
	ledger, err := sessions.OpenReadOnly(t.Context(), n.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	if s, err := ledger.Find(t.Context(), "th"); err != nil || s.MessageCount != 3 {
		t.Errorf("%d messages in the ledger, %v", s.MessageCount, err)
	}
}
