package playlist

import (
	"bytes"
	"errors"
	"path"
	"testing"

	"relay/epic"
)

// What is true of any text: no panic, problems have a place, and what was read names at least one file, none of them twice.
func FuzzParse(f *testing.F) {
	f.Add(ancestor(f))
	f.Add([]byte(head + "- file: a.yml\n- file: ../b.yml\n  status: completed\n  x: [1, {y: z}]\n"))
	f.Add([]byte("version: 1\na: &a {file: a}\nepics: [*a]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := Parse("p.yml", src)
		if err != nil {
			var problems epic.Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("error is %T", err)
			}
			for _, p := range problems {
				if p.File != "p.yml" || p.Line < 1 || p.Column < 1 || p.Message == "" {
					t.Errorf("problem without a place: %+v", p)
				}
			}
			return
		}
		seen := map[string]bool{}
		for _, e := range l.Epics {
			if e.File == "" || path.IsAbs(e.File) || seen[path.Clean(e.File)] || e.Line < 1 {
				t.Errorf("epic %+v", e)
			}
			seen[path.Clean(e.File)] = true
		}
		if len(l.Epics) == 0 {
			t.Error("a list without epics")
		}
	})
}

// Read, update, read: the states are as they were set, and all else is as it was.
func FuzzEdit(f *testing.F) {
	f.Add(ancestor(f), byte(1))
	f.Add([]byte(head+"- file: a.yml"), byte(2))
	f.Add([]byte("{version: 1, status: 'pending', epics: [{file: a.yml, status: failed}]}"), byte(3))
	f.Add([]byte("version: 1\r\nstatus: \"pend\\x69ng\" # x\r\nepics:\r\n-\r\n  status:\r\n  file: 'a''b'\r\n"), byte(4))
	f.Fuzz(func(t *testing.T, src []byte, how byte) {
		before, err := Parse("p.yml", src)
		if err != nil {
			return
		}
		change := func(l *List) {
			l.Status, l.Current, l.DurationMinutes = states[how%4], int(how), float64(how)/4
			l.StartedAt = at(int(how) % 24)
			e := &l.Epics[int(how)%len(l.Epics)]
			e.Status, e.CompletedAt = states[how/4%4], at(3)
		}
		out, err := Edit("p.yml", src, change)
		if err != nil {
			return // as of a list with anchors
		}
		now, err := Parse("p.yml", out)
		if err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		change(before)
		same := now.Status == before.Status && now.Current == before.Current && now.DurationMinutes == before.DurationMinutes
		if !same || now.Name != before.Name {
			t.Errorf("got %+v\nwant %+v", now, before)
		}
		for i, want := range before.Epics {
			got := now.Epics[i]
			if got.File != want.File || got.Status != want.Status || instant(got.CompletedAt) != instant(want.CompletedAt) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		}
		again, err := Edit("p.yml", out, change)
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("the same change again: %v\n%s\n%s", err, out, again)
		}
	})
}
