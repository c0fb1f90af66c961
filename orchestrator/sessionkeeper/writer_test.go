package sessionkeeper

import (
	"errors"
	"testing"
	"time"

	"relay/attempts/sessions"
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
		w := writer{ctx: t.Context(), db: db}
		a := newAttempt(n.o, n.facts)
		if err := errors.Join(w.settle(a), db.Commit()); err != nil {
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
	n.facts.ended = true
	k := New(Options{Enabled: true, Kind: noKind, Top: "/work/shop", Dir: n.dir})
	k.w, k.ended = writer{ctx: t.Context(), db: db}, []*attemptFacts{n.facts}
	if err := k.settle(false); err != nil {
		t.Errorf("a keeper: %v", err)
	}
	if _, done, err := db.Mark(t.Context(), n.facts.name()); err != nil || !done {
		t.Errorf("it has not written the attempt: %v", err)
	}
}
