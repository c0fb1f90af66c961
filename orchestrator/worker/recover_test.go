package worker

import (
	"os"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/merge"
	"relay/orchestrator/relayfiles"
)

// A run is killed at any moment of an attempt's end; the next one finds what is there and comes to the same end.
func TestRecovery(t *testing.T) {
	t.Parallel()
	const claimed, unseen = `{"code":0}`, ""
	failing := epic.Task{ID: "T1", Title: "One", Checks: []epic.Check{{Name: "check", Run: "exit 1"}}}
	plain := epic.Task{ID: "T1", Title: "One"}
	commit := func(l *lab) { // relay's own commit of what the agent left
		message := merge.LeftMessage(l.c.run.o, engine.Attempt{Task: plain, Number: 1})
		if _, err := l.c.c.tree.CommitLeftovers(l.Context(), message, nil); err != nil {
			l.Fatal(err)
		}
	}
	keep := func(l *lab) {
		a := engine.Attempt{Run: l.c.run.o.Run, Task: plain, Number: 1, Base: l.Git("rev-parse", "HEAD~1")}
		t := l.c.attempt(a)
		t.f.Head = l.Git("rev-parse", "HEAD")
		if err := t.work.Keep(l.Context()); err != nil {
			l.Fatal(err)
		}
	}
	reset := func(l *lab) { l.Git("reset", "-q", "--hard", "HEAD~1") }
	user := func(l *lab) {
		l.Sh("echo own > own.txt; git add own.txt; GIT_COMMITTER_DATE=2099-01-01T00:00:00Z git commit -qm Own")
	}
	move := func(l *lab) { l.Sh("git stash -qu; git checkout -q --orphan else; git commit -qm Else") }
	for name, c := range map[string]struct {
		end     string
		task    epic.Task
		steps   []func(*lab)
		outcome attempts.Outcome
		log     string // of the branch afterwards
		work    string // what work.txt has in it
	}{
		"the agent had ended":           {claimed, plain, nil, attempts.Success, "T1: One Begin", "x\n"},
		"it had, and was committed":     {claimed, plain, []func(*lab){commit}, attempts.Success, "T1: One Begin", "x\n"},
		"it had failed":                 {`{"code":3}`, plain, nil, attempts.Agent, "Begin", "-"},
		"it had failed, committed":      {`{"code":3}`, plain, []func(*lab){commit}, attempts.Agent, "Begin", "-"},
		"its check fails":               {claimed, failing, nil, attempts.Check, "Begin", "-"},
		"its check fails, committed":    {claimed, failing, []func(*lab){commit}, attempts.Check, "Begin", "-"},
		"its check fails, kept":         {claimed, failing, []func(*lab){commit, keep}, attempts.Check, "Begin", "-"},
		"its check fails, set aside":    {claimed, failing, []func(*lab){commit, keep, reset}, attempts.Check, "Begin", "-"},
		"set aside before it was known": {claimed, plain, []func(*lab){commit, keep, reset}, attempts.Success, "T1: One Begin", "x\n"},
		"nobody saw the end":            {unseen, plain, nil, attempts.Stopped, "Begin", "-"},
		"nobody saw it, committed":      {unseen, plain, []func(*lab){commit}, attempts.Stopped, "Begin", "-"},
		"nobody saw it, set aside":      {unseen, plain, []func(*lab){commit, keep, reset}, attempts.Stopped, "Begin", "-"},
		"stopped":                       {`{"code":-1,"stopped":true}`, plain, nil, attempts.Stopped, "Begin", "-"},
		"cut end file":                  {`{"co`, plain, nil, attempts.Stopped, "Begin", "-"},
		"own commit since":              {unseen, plain, []func(*lab){user}, attempts.Stopped, "Own Begin", "-"},
		"own commit, two crashes":       {unseen, plain, []func(*lab){user, commit}, attempts.Stopped, "Own Begin", "-"},
		"own commit, check fails":       {claimed, failing, []func(*lab){user}, attempts.Stopped, "Own Begin", "-"},
		"own commit, success":           {claimed, plain, []func(*lab){user}, attempts.Success, "T1: One Own Begin", "x\n"},
		"another history":               {claimed, plain, []func(*lab){move}, attempts.Stopped, "Else", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			l := newLab(t, "exit 99")
			l.Write("mine.txt", "mine\n")
			l.begin()
			base := l.Git("rev-parse", "HEAD")
			a := engine.Attempt{Run: l.c.run.o.Run, Task: c.task, Number: 1, Runner: "sh", Base: base, Ended: true}
			p := relayfiles.Of(l.c.run.o.Dir, a)
			l.Write(strings.TrimPrefix(p.Brief, l.Root+"/"), "brief")
			l.Write(strings.TrimPrefix(p.Transcript, l.Root+"/"), "")
			l.Write(strings.TrimPrefix(p.Stderr, l.Root+"/"), "")
			l.Write("work.txt", "x\n")
			if c.end != unseen {
				l.Write(strings.TrimPrefix(p.End, l.Root+"/"), c.end)
			}
			early := time.Now().Add(-time.Hour) // all that was committed after the crash is later than what the agent wrote
			for _, file := range []string{p.Brief, p.Transcript, p.Stderr, p.End} {
				_ = os.Chtimes(file, early, early)
			}
			for _, step := range c.steps {
				step(l)
			}
			if name == "another history" {
				l.c.c.tree.Branch = "refs/heads/else" // the next run begins where the user is now
			}
			if err := l.c.c.tree.User.Load(t.Context(), l.c.c.tree.Runner(), untrackedBefore(l.c.run.o, a.Run)); err != nil {
				t.Fatal(err)
			}
			f := l.try(c.task, func(to *engine.Attempt) { *to = a })
			if f.Outcome != c.outcome {
				t.Errorf("got %s (%s), want %s", f.Outcome, f.Receipt.ErrorSummary, c.outcome)
			}
			if got := strings.Join(strings.Split(l.Git("log", "--format=%s"), "\n"), " "); got != c.log {
				t.Errorf("the branch has %q, want %q", got, c.log)
			}
			l.Wants(map[string]string{"work.txt": c.work})
			if name != "another history" {
				l.Wants(map[string]string{"mine.txt": "mine\n"})
				if c.outcome != attempts.Success && l.Git("show", f.Receipt.Salvage+":work.txt") != "x" {
					t.Error("the work is not kept")
				}
			}
			if got := l.Git("status", "--porcelain", "--untracked-files=no"); got != "" {
				t.Errorf("status is %s", got)
			}
		})
	}
}

// What another ledger of the epic has kept under an attempt's name is no work of that attempt, and is not lost to it.
func TestAnotherLife(t *testing.T) {
	t.Parallel()
	l := newLab(t, "echo mine > work.txt; exit 1").begin()
	ref := collect.Ref("20260101-lab", engine.Attempt{Task: epic.Task{ID: "T1"}, Number: 1})
	theirs := l.Sh("git commit-tree -p HEAD -m Theirs 'HEAD^{tree}'")
	l.Git("update-ref", ref, theirs)
	p := relayfiles.Of(l.c.run.o.Dir, engine.Attempt{Run: l.c.run.o.Run, Task: epic.Task{ID: "T1"}, Number: 1})
	l.Write(strings.TrimPrefix(p.Brief, l.Root+"/"), "brief")
	base := l.Git("rev-parse", "HEAD")
	killed := l.try(epic.Task{}, func(a *engine.Attempt) { a.Base, a.Ended = base, true })
	if killed.Head != base || killed.Receipt.Salvage != "" || killed.Outcome != attempts.Stopped {
		t.Errorf("killed before it had done anything: got %+v", killed)
	}
	f := l.try(epic.Task{}, nil)
	if f.Receipt.Salvage != ref || l.Git("show", ref+":work.txt") != "mine" {
		t.Errorf("its own work is not kept: %+v", f)
	}
	want := ref + " was there from elsewhere: what it led to is kept as refs/relay-moved/" + theirs
	if len(f.Notes) != 1 || f.Notes[0].Text != want || l.Git("rev-parse", "refs/relay-moved/"+theirs) != theirs {
		t.Errorf("got %+v, want %q", f.Notes, want)
	}
}

// A checkout with somebody's changes in it, or in the middle of something, is refused.
func TestSettled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent string
		fine  bool
	}{
		"clean":     {"true", true},
		"untracked": {"echo x > new", true},
		"changed":   {"echo x > seed.txt", false},
		"staged":    {"echo x > new; git add new", false},
		"deleted":   {"rm seed.txt", false},
		"merging":   {"git rev-parse HEAD > .git/MERGE_HEAD", false},
	} {
		l := newLab(t, "")
		l.Sh(c.agent)
		if err := l.c.CheckReady(t.Context()); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
	if run, task, attempt := engine.CutMark("r/T1/2"); run != "r" || task != "T1" || attempt != "2" {
		t.Errorf("the mark has %s, %s, %s", run, task, attempt)
	}
}
