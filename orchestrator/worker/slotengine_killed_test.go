package worker

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
)

// killed carries an attempt to where its agent, a script, was at work when relay was killed, and says how it is adopted.
// rounds are the fix rounds it was given; the first turn is an agent's unless its work only waited for a review.
func (y *slotLab) killed(a engine.Attempt, script string, rounds int) engine.Attempt {
	y.Helper()
	base, err := y.l.Prepare(y.Context(), a)
	if err != nil {
		y.Fatal(err)
	}
	a.Base = base
	w := y.l.attempt(a)
	for _, part := range []verdict.Part{verdict.Readied, verdict.Base} {
		if err := w.gather(y.Context(), part); err != nil || !verdict.Stands(&w.ev) {
			y.Fatal(part, err)
		}
	}
	if _, err := w.agent.resumeWork(y.Context()); err != nil {
		y.Fatal(err)
	}
	turn := w.files.Round(rounds)
	if rounds == 0 {
		turn = w.files
	}
	for _, file := range []string{turn.Brief, turn.Transcript, turn.Stderr} {
		y.Write(strings.TrimPrefix(file, y.Root+"/"), "")
	}
	agent := exec.CommandContext(y.Context(), "sh", "-ec", script)
	agent.Dir, agent.Env = w.c.repo.Root(), append(os.Environ(), "RELAY_PROMPT="+turn.Brief)
	if said, err := agent.CombinedOutput(); err != nil {
		y.Fatalf("%s: %v", said, err)
	}
	a.Ended = true
	return a
}

// adopted is what the next run makes of an attempt that was cut short, and that run.
func (y *slotLab) adopted(a engine.Attempt) (*slotLab, engine.Result) {
	y.Helper()
	next := y.again()
	f, err := next.l.Run(y.Context(), a)
	if err != nil {
		y.Fatal(err)
	}
	if f.Outcome != attempts.Stopped {
		y.Errorf("got %s (%s)", f.Outcome, f.Receipt.ErrorSummary)
	}
	return next, f
}

// Whatever an agent has removed of its own files or made of its worktree: its work is kept when relay is killed.
func TestSlotsKeepWorkWhenKilled(t *testing.T) {
	t.Parallel()
	const work = "echo precious > work; "
	for name, script := range map[string]string{
		"as it should be":         work,
		"its prompt is gone":      work + `rm "$RELAY_PROMPT"`,
		"on a branch of its own":  "git switch -q -c mine; git commit -q --allow-empty -m mine; " + work,
		"on none":                 "git commit -q --allow-empty -m one; git switch -q --detach HEAD^; " + work,
		"what was there, as well": work + `rm "$RELAY_PROMPT" "$(dirname "$RELAY_PROMPT")/untracked"`,
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t)
			a := y.killed(engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Number: 1, Runner: "true"}, script, 0)
			next, f := y.adopted(a)
			if got := y.Git("show", "refs/relay/20260101-lab/T1/1:work"); got != "precious" || f.Receipt.Salvage == "" {
				t.Errorf("kept is %q, %+v", got, f.Notes)
			}
			if stay, err := next.life.Close(t.Context()); err != nil || len(stay) > 0 {
				t.Errorf("stays: %q, %v", stay, err)
			}
		})
	}
}

// Work that only waited for its review gets a fix round as any other. Cut short there, all of it is kept, and what the
// reviewers have found is told to the next one.
func TestSlotsKeepFixRoundOfWaitingWork(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	before := y.does("T1", "echo 1 > work; exit 3")
	waits := attempts.Attempt{
		ID: 1, Result: attempts.ResultFailure, Outcome: attempts.Environment,
		Base: before.Attempt.Base, Head: before.Result.Head, Receipt: before.Result.Receipt,
	}
	waits.Receipt.Review = &attempts.Reviewed{Missing: []attempts.Missing{{Reviewer: "bob", Why: "no verdict"}}}
	a := before.Attempt
	a.Number, a.Previous = 2, waits
	if !waits.AwaitsReview() {
		t.Fatal("it waits for nothing")
	}
	a = y.killed(a, `echo 2 > fix; rm "$RELAY_PROMPT"`, 1)
	a.ReviewProgress = &attempts.ReviewProgress{Rounds: []attempts.Round{{Number: 1, Verdict: "NEEDS CHANGES"}}}
	next, f := y.adopted(a)
	if got := y.Git("show", "refs/relay/20260101-lab/T1/2:work", "refs/relay/20260101-lab/T1/2:fix"); got != "1\n2" {
		t.Errorf("kept is %q", got)
	}
	if f.Receipt.Verdict != "NEEDS CHANGES" || f.Receipt.ErrorSummary != "relay ended while the agent worked" {
		t.Errorf("it is told as %q, with the verdict %q", f.Receipt.ErrorSummary, f.Receipt.Verdict)
	}
	if stay, err := next.life.Close(t.Context()); err != nil || len(stay) > 0 {
		t.Errorf("stays: %q, %v", stay, err)
	}
	if _, err := os.Lstat(filepath.Join(next.l.run.o.Worktree.Dir, "1")); err == nil {
		t.Error("the worktree is there")
	}
}

// Work that waited for its landing when relay was killed has left its worktree to another task: that one has it still.
func TestSlotsKnowWhoseAWorktreeIs(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	waits := y.proved("T1", "echo 1 > one")
	a := y.killed(engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T2", Title: "Two"}, Number: 1, Runner: "true"}, "git switch -q --detach; echo 2 > two", 0)
	if _, err := os.Lstat(filepath.Join(y.l.run.o.Worktree.Dir, "2")); err == nil {
		t.Fatal("they had a worktree each")
	}
	waits.Attempt.Ended = true
	f, err := y.again().l.Run(t.Context(), waits.Attempt)
	if err != nil || f.Outcome != attempts.Success || y.Git("diff", "--name-only", "main", f.Head) != "one" {
		t.Errorf("T1: %s (%s), %v", f.Outcome, f.Receipt.ErrorSummary, err)
	}
	y.adopted(a)
	if got := y.Git("diff", "--name-only", "main", "refs/relay/20260101-lab/T2/1"); got != "two" {
		t.Errorf("of T2 there is kept %q", got)
	}
}

// What git cannot collect stays for a person, in a worktree that no later attempt changes.
func TestSlotsKeepWhatCannotBeCollected(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	a := y.killed(engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Number: 1, Runner: "true"}, "echo 1 > one; git add one; git commit -qm one; echo odd > odd", 0)
	next := y.again()
	left := next.l.attempt(a)
	if err := next.l.abandon(t.Context(), left); err != nil || left.f.Receipt.Salvage == "" {
		t.Errorf("kept in %q, %v", left.f.Receipt.Salvage, err)
	}
	if got := next.step(next.proved("T1", "echo 2 > one")); got != "T1 success" {
		t.Error(got)
	}
	if got := y.Git("-C", ".agents-os/relay/worktrees/1", "status", "--porcelain", "--branch"); got != "## relay-tasks/20260101-lab/T1\n?? odd" {
		t.Errorf("git status there says %q", got)
	}
	if got := y.Git("for-each-ref", "refs/heads/relay-tasks"); got != "" {
		t.Errorf("left is %s", got)
	}
}

// A slot that cannot be opened again costs its own attempt, uncharged, and not the run; what was committed on the task's
// branch is not lost.
func TestSlotsThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	a := y.killed(engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Number: 1, Runner: "true"}, "echo 1 > one", 0)
	if err := os.WriteFile(filepath.Join(relayfiles.Of(y.l.run.o.Dir, a).Folder, relayfiles.SlotFile), []byte("no name\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	next := y.again()
	f, err := next.l.Run(t.Context(), a)
	if err != nil || f.Outcome != attempts.Environment || f.Gate != "" || !strings.Contains(f.Receipt.ErrorSummary, "not a name") {
		t.Errorf("got %s, gate %q (%s), %v", f.Outcome, f.Gate, f.Receipt.ErrorSummary, err)
	}
	if got := next.step(next.proved("T1", "echo 2 > one")); got != "T1 success" {
		t.Error(got)
	}
	if got := y.Sh("cat .agents-os/relay/worktrees/1/one"); got != "1" {
		t.Errorf("what the agent left has %q", got)
	}
}

// An attempt to which no agent came says so, and what was made ready for it is removed.
func TestSlotsEndedBeforeTheAgent(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	a := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Number: 1, Runner: "true", Base: y.Git("rev-parse", "HEAD")}
	if err := y.l.attempt(a).gather(t.Context(), verdict.Readied); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(relayfiles.Of(y.l.run.o.Dir, a).Folder, relayfiles.UntrackedName) // which is written last
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	y.Write(".agents-os/relay/worktrees/1/made-ready", "x")
	a.Ended = true
	next, f := y.adopted(a)
	if f.Receipt.ErrorSummary != "relay ended before the agent began" || f.Receipt.Salvage != "" {
		t.Errorf("got %q, kept in %q", f.Receipt.ErrorSummary, f.Receipt.Salvage)
	}
	if stay, err := next.life.Close(t.Context()); err != nil || len(stay) > 0 {
		t.Errorf("stays: %q, %v", stay, err)
	}
}

// A worktree that was being made for an attempt which had lost its own, when relay was killed again, is no work.
func TestSlotsRemoveHalfRecovery(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	a := y.killed(engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Number: 1, Runner: "true"}, `echo 1 > one; git add one; git commit -qm one; rm -rf "$PWD"`, 0)
	if err := (&slotPlace{e: y.l}).recover(t.Context(), y.l.attempt(a), a.Base); err != nil {
		t.Fatal(err)
	}
	y.Sh("rm -r .agents-os/relay/worktrees/recovery-1/.git/index .agents-os/relay/worktrees/recovery-1/seed.txt")
	for file, name := range map[string]string{relayfiles.SlotFile: "1", relayfiles.MakingFile: "recovery-1"} {
		if err := relayfiles.Of(y.l.run.o.Dir, a).Note(y.l.run.o.Dir, file, name); err != nil {
			t.Fatal(err)
		}
	}
	next, f := y.adopted(a)
	if f.Receipt.Salvage != "" {
		t.Errorf("half a checkout is kept as work: %s", f.Receipt.DiffStat)
	}
	if stay, err := next.life.Close(t.Context()); err != nil || len(stay) > 0 {
		t.Errorf("stays: %q, %v", stay, err)
	}
}
