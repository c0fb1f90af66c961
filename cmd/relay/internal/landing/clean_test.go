package landing

import (
	"bytes"
	"testing"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/git/finish"
	"relay/reanchor/git"
)

// Between the question and the answer a task's branch gets a commit.
func TestCleanKeepsWhatHasChangedSinceItAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repo2 := func(args ...string) {
		t.Helper()
		if _, err := git.Run(t.Context(), git.Call{Dir: dir, Writes: true, Args: append([]string{"-c", "user.name=A", "-c", "user.email=a@b"}, args...)}); err != nil {
			t.Fatal(err)
		}
	}
	repo2("init", "-q", "-b", "main")
	repo2("commit", "-q", "--allow-empty", "-m", "Begin")
	repo2("branch", "relay-tasks/20260101-x/T1")
	repo, err := git.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	yard := finish.Remains{Git: repo, Dir: dir + "/.agents-os/relay", Worktrees: dir + "/.agents-os/relay/worktrees"}
	found, err := yard.List(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	repo2("commit", "-q", "--allow-empty", "-m", "Work")
	repo2("branch", "-f", "relay-tasks/20260101-x/T1")
	repo2("reset", "-q", "--hard", "HEAD~")
	var said bytes.Buffer
	var answer cleaned[finish.Leftover]
	if (Clean{App: &cli.App{Err: terminal.NewWriter(&said)}}).remove(t.Context(), yard, found[0], &answer) {
		t.Error("it was removed")
	}
	const why = "commits that have neither landed nor been kept elsewhere: 1"
	if got, want := said.String(), "relay: warning: branch relay-tasks/20260101-x/T1 stays: "+why+"\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if len(answer.Kept) != 1 || answer.Kept[0].Why != why {
		t.Errorf("got %+v", answer)
	}
}
