package attempts

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The two formats, byte by byte. A change here is a change for everybody who has an epic on disk.
func TestFormats(t *testing.T) {
	t.Parallel()
	e, g := plan(t, 7)
	stop := failed("T2", 2, "same again")
	stop.Ended.Gate = &Gate{Reason: MaxAttempts, Detail: "2 of 2 attempts failed"}
	stop.Ended.Receipt.Checks = []CheckRun{{Name: "go test ./...", ExitCode: 1, Seconds: 3.25, Log: "runs/x/T2/2/checks/1.log", Tail: "--- FAIL: TestA\nFAIL\n", Phase: "task"}}
	stop.Ended.Receipt.Suggestion = "Run db:migrate first"
	stop.Ended.Receipt.Kept = []string{"refs/relay/x/T1/1-branch", "refs/relay/x/stash/a: b"}
	stop.Ended.Receipt.Contested = []string{"db/schema.rb", "go.mod"}
	stop.Ended.Receipt.PatternTags = []string{"migration", "yes"}
	lands := landing("T5", 1)
	lands.Landing.Receipt.Checks[0].Attribution = FixedByTask
	lands.Landing.Receipt.ResultFrom, lands.Landing.Receipt.AlreadyDone = ResultAsked, true
	lands.Landing.Receipt.WeakerTests = []string{"sum_test.py proves less than before"}
	lands.Landing.Receipt.Looks = []Look{{Cause: "done already", Text: "nothing was changed"}}
	lands.Landing.Receipt.Statement = everythingSaid()
	lands.Landing.Changes = []FileChange{{Path: "a.go", Kind: FileAdded, Added: 3}, {Path: "c.go", Kind: FileRenamed, From: "b.go", Added: 1, Deleted: 2}}
	lands.Landing.Tools = []ToolUse{{Name: "Edit", Calls: 7, Failed: 2}}
	seal := started("T5", 1)
	seal.Started.Sealed = "5ea1ed"
	seal.Started.CLI, seal.Started.Version, seal.Started.Dir, seal.Started.Session = "claude", "2.1.3", "/tmp/slot 1", "5e55"
	briefed := Event{Type: TypeBriefed, Task: "T5", Attempt: 1, Briefed: &Briefed{
		Bytes: 4096, Handoff: "790226e1-ffff-4333-b969-dcb00083c973", Entries: 2, Documents: []string{"docs/rules.md"}, Files: []string{"a.go"},
		Unclear: []string{"which database?"}, Continues: true, Cut: []string{"log"},
	}}
	events := []Event{
		{Type: TypeRunStarted, RunStarted: &RunStarted{
			Version: LogVersion, EpicID: e.ID, PID: 42, Jobs: 2, Settings: Settings{MaxAttemptsPerTask: 2, TimeoutMinutes: 15, Review: ReviewSettings{Enabled: true, Provider: "repoprompt"}},
			Integration: "relay/" + e.ID, Branch: "main", Base: "abc123", Sealed: "a11",
		}},
		started("T1", 1), succeeded("T1", 1), started("T2", 1), failed("T2", 1, "exit 1: \"quoted\"\nsecond line"), started("T2", 2), stop,
		{Type: TypeNote, Note: &Note{Kind: "wait", Text: "usage limit until 03:00"}},
		{Type: TypeGated, Task: "T4", Gate: &Gate{Reason: UserBlocked, Detail: "later"}},
		{Type: TypeUngated, Task: "T4"},
		{Type: TypeApproved, Task: "T4", Note: &Note{Kind: "approved", Text: "as wanted"}},
		{Type: TypeAnswered, Task: "T4", Answer: &Answer{Question: "Which port?\nAnd: which host?", Text: "8080"}},
		{Type: TypeWritten, Written: &Written{SHA256: "00ff", Size: 10, Seq: 10}},
		{Type: TypeRunStopped, RunStopped: &RunStopped{ExitCode: 3, Reason: "no_runnable_tasks"}},
		started("T3", 1),
		landing("T4", 1),
		{Type: TypeAttemptEnded, Task: "T4", Attempt: 1, Ended: landing("T4", 1).Landing},
		seal, briefed, lands,
		{Type: TypePullRequest, PullRequest: &PullRequest{URL: "https://example.org/pull/7", Branch: "relay/" + e.ID, Into: "main"}},
	}
	f, now := newFold(g, nil), clock()
	var log []byte
	for i, ev := range events {
		ev.Seq, ev.Run, ev.At = uint64(i+1), run1, now().Add(time.Duration(i)*time.Millisecond)
		var back Event
		var err error
		log, back, err = encode(log, ev)
		must(t, err)
		f.apply(&back)
	}
	text, err := rendered(f)
	must(t, err)
	golden(t, "events.jsonl", log)
	golden(t, "attempt-ledger.yml", []byte(text))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// everythingSaid is a statement with each of its fields.
func everythingSaid() Statement {
	sure := false
	return Statement{
		Decisions: map[string]string{"which store": "SQLite: one file", "yes": "1.0"}, Questions: []string{"keep the old key?"},
		Discovered: []Discovery{{Title: "flaky test", Why: "it sleeps"}, {Title: "no docs"}}, Confident: &sure,
		Implementation: &Implementation{DesignDecisions: []string{"one table"}, BreakingChanges: []string{"--old is gone"}},
		Bugfix:         &Bugfix{Symptom: "it hangs", RootCause: "a lock", Fix: "released", RegressionRisk: "low: 1 caller"},
		Inspection: &Inspection{
			Scope: []string{"db/"}, Findings: []InspectionFinding{{Severity: "high", Location: "db/a.go:3", Issue: "leak", Recommendation: "close it"}},
			Assessment: "sound",
		},
	}
}
