package worker

import (
	"strings"
	"testing"
	"time"

	"relay/orchestrator/engine"
)

// What a panel has left in the checkout of a killed run is kept and put away; what is a person's stays where it is.
func TestCleanAfterAKilledPanel(t *testing.T) {
	t.Parallel()
	const edits = "echo x > new.txt; git add new.txt; git commit -qm Mine; echo y > seed.txt; echo z > other.txt"
	for name, test := range map[string]struct {
		script, note string
		files        map[string]string
		kept         string // files of what is kept, in which commit
	}{
		"nothing": {script: "", files: map[string]string{"seed.txt": "seed\n", "own.txt": "own"}},
		"edits": {
			edits, "relay was killed while reviewers read or checks ran in this checkout: what was changed since is no part of the work; git log -p BASE..REF shows it",
			map[string]string{"seed.txt": "seed\n", "new.txt": "-", "other.txt": "-", "own.txt": "own"},
			"new.txt other.txt seed.txt in what reviewers left",
		},
		"a person's commit": {
			edits + "; GIT_COMMITTER_DATE=2099-01-01T00:00:00Z git commit -qam Theirs",
			"relay was killed while reviewers read or checks ran in this checkout: somebody has committed since, and it stays as it is; git log shows whether they have committed too",
			map[string]string{"seed.txt": "y\n", "new.txt": "x\n", "other.txt": "z\n", "own.txt": "own"},
			"",
		},
		"a history that does not follow": {
			"git commit -q --amend -m Begun", "relay was killed while reviewers read or checks ran in this checkout: somebody has committed since, and it stays as it is; git log shows whether they have committed too",
			map[string]string{"own.txt": "own"},
			"",
		},
		"another branch": {
			edits + "; git checkout -q -b elsewhere", "relay was killed while reviewers read or checks ran in this checkout: it is on another branch now, and stays as it is; git log shows whether they have committed",
			map[string]string{"seed.txt": "y\n", "new.txt": "x\n", "other.txt": "z\n"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "true")
			l.Write("own.txt", "own")
			l.begin()
			head := l.Git("rev-parse", "HEAD")
			a := engine.Attempt{Run: l.c.o.Run, Number: 1, Base: head}
			a.Task.ID = engine.WholeEpic
			end := ".agents-os/relay/runs/" + a.Run + "/_epic/1/review/ann/1/end.json"
			l.Write(end, "{}")
			if err := l.c.beginJudging(a, head); err != nil {
				t.Fatal(err)
			}
			l.Sh(test.script)
			l.Sh("touch -d '1 hour' " + end) // the reviewers did what they did before they ended
			l.open("true")
			if !l.c.Unclean() {
				t.Error("nothing is known of the panel")
			}
			notes, err := l.c.CleanAfter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ref := l.Git("for-each-ref", "--format=%(refname)", "refs/relay")
			said := ""
			for _, note := range notes {
				said += strings.NewReplacer(head, "BASE", "refs/relay/20260101-lab/_epic/1-"+a.Run, "REF").Replace(note.Text)
			}
			if said != test.note || l.c.Unclean() {
				t.Errorf("said %q, want %q", said, test.note)
			}
			l.Wants(test.files)
			kept := ""
			if ref != "" {
				kept = strings.ReplaceAll(l.Git("diff", "--name-only", head, ref), "\n", " ")
				kept += " in " + strings.TrimPrefix(l.Git("log", "-1", "--format=%s", ref), "_epic: ")
			}
			if kept != test.kept {
				t.Errorf("kept is %q, want %q", kept, test.kept)
			}
		})
	}
}

// The guardian of a killed run writes down a reviewer's end after it has ended the reviewer: until then the commit of one
// that had been silent for a second seems to be a person's.
func TestCleanAfterAnEndThatIsWrittenLate(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	l.begin()
	a := engine.Attempt{Run: l.c.o.Run, Number: 1, Base: l.Git("rev-parse", "HEAD")}
	a.Task.ID = engine.WholeEpic
	folder := ".agents-os/relay/runs/" + a.Run + "/_epic/1/review/ann/1/"
	l.Write(folder+"prompt.md", "Review this.")
	if err := l.c.beginJudging(a, a.Base); err != nil {
		t.Fatal(err)
	}
	l.Sh("find .agents-os/relay/runs -exec touch -d '1 hour ago' {} +; echo x > new.txt; git add new.txt; git commit -qm Mine")
	l.open("true")
	late := time.AfterFunc(100*time.Millisecond, func() { l.Write(folder+"end.json", "{}") })
	defer late.Stop()
	notes, err := l.c.CleanAfter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0].Text, "what was changed since is no part of the work") {
		t.Errorf("got notes %+v", notes)
	}
	l.Wants(map[string]string{"new.txt": "-"})
}
