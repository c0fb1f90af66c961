package agentlog

import (
	"bytes"
	"strings"
	"testing"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// A replayed task's own commits are in no branch, and git forgets them some day.
func TestDiffOfAnAttemptWhoseCommitsAreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repo2 := func(args ...string) string {
		t.Helper()
		out, err := git.Run(t.Context(), git.Call{Dir: dir, Writes: true, Args: append([]string{"-c", "user.name=A", "-c", "user.email=a@b"}, args...)})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	repo2("init", "-q")
	repo2("commit", "-q", "--allow-empty", "-m", "Begin")
	base := repo2("rev-parse", "HEAD")
	if err := project.ReplaceFile(dir+"/work.txt", []byte("work\n")); err != nil {
		t.Fatal(err)
	}
	repo2("add", "-A")
	repo2("commit", "-q", "-m", "T1: Work")
	repo, err := git.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &project.Project{Root: dir, Dir: dir, Git: repo}
	var out, said bytes.Buffer
	app := &cli.App{Err: terminal.NewWriter(&said)}
	at := &attempts.Attempt{ID: 1, Base: base, Head: strings.Repeat("1", 40), Landed: repo2("rev-parse", "HEAD")}
	if err := (&Attempt{"T1", at}).diff(t.Context(), &Viewer{app: app, project: p}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n+work\n") || !strings.Contains(said.String(), "relay: warning: the commits of attempt 1 are gone; this is the change that it landed with\n") {
		t.Errorf("got %s, said %s", &out, &said)
	}
}

// All refs are named that keep what an attempt has left.
func TestReceiptNamesWhatIsKept(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	kept := attempts.Receipt{Salvage: "refs/relay/20260101-lab/T1/1", Kept: []string{"refs/relay/20260101-lab/T1/1-branch"}}
	(&Task{Attempts: []attempts.Attempt{{Receipt: kept}}}).Write(&out, status.Printer{Width: 80})
	if got, want := out.String(), "  kept: refs/relay/20260101-lab/T1/1\n  kept, too: refs/relay/20260101-lab/T1/1-branch\n"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
