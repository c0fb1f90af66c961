package finish

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
	"relay/orchestrator/git/integration"
	"relay/reanchor/git/repotest"
)

func TestRemoteOfABranch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ set, remote, branch, url string }{
		"the only one":        {"git remote add up /up", "up", "main", "/up"},
		"origin of two":       {"git remote add up /up; git remote add origin /o", "origin", "main", "/o"},
		"the branch's own":    {"git remote add up /up; git remote add origin /o; git config branch.main.remote up; git config branch.main.merge refs/heads/trunk", "up", "trunk", "/up"},
		"one for pushes":      {"git remote add up /up; git remote add origin /o; git config branch.main.remote origin; git config branch.main.merge refs/heads/trunk; git config remote.pushDefault up", "up", "main", "/up"},
		"a branch for itself": {"git remote add up /up; git config branch.main.remote .; git config branch.main.merge refs/heads/other", "up", "main", "/up"},
	} {
		l := &lab{repotest.NewLanded(t)}
		l.Sh(c.set)
		f, err := l.plan("main", integration.Merge)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := f.Remote(t.Context()); err != nil || r.Name != c.remote || r.Branch != c.branch || r.URLs[0] != c.url {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
	for set, hint := range map[string]string{
		"true": "git remote add origin URL, then relay finish --pr",
		"git remote add up /up; git remote add fork /f": "git config branch.main.remote fork, or another of fork, up; then relay finish --pr",
	} {
		l := &lab{repotest.NewLanded(t)}
		l.Sh(set)
		f, err := l.plan("main", integration.Merge)
		if err != nil {
			t.Fatal(err)
		}
		var refused *attempts.RefusedError
		if _, err := f.Remote(t.Context()); !errors.As(err, &refused) || *refused != (attempts.RefusedError{Reason: "there is no remote that main belongs to", Hint: hint}) {
			t.Errorf("%s: %v", set, err)
		}
	}
}

func TestPushTakesTheIntegrationBranchOnly(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	bare := filepath.Join(t.TempDir(), "bare.git")
	l.Sh("git init -q --bare " + bare + "; git remote add origin " + bare + "; git push -q origin main; git update-ref refs/relay-tip/20260101-lab $(git commit-tree -p " + repotest.Landed + " -m T3 " + repotest.Landed + "^{tree})")
	hook := filepath.Join(l.Root, ".git", "hooks", "pre-push")
	l.Write(".git/hooks/pre-push", "#!/bin/sh\necho ran > ../hook-ran\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := l.plan("main", integration.Merge)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second push finds everything there
		if err := f.Push(t.Context(), "origin"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := l.Sh("git ls-remote origin | sort -k2"), f.Old+"\trefs/heads/main\n"+f.Tip+"\trefs/heads/"+repotest.Landed; got != want {
		t.Errorf("the remote has\n%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(l.Root, "..", "hook-ran")); err != nil {
		t.Error("the hook did not run, which uploads large files")
	}
	l.Sh(`git push -q -f origin $(git commit-tree -p main -m Foreign 'main^{tree}'):refs/heads/` + repotest.Landed)
	var refused *attempts.RefusedError
	err = f.Push(t.Context(), "origin")
	if !errors.As(err, &refused) {
		t.Fatalf("over somebody else's commits: %v", err)
	}
	said := strings.NewReplacer(repotest.Landed, "relay/x", f.Tip, "TIP").Replace(refused.Reason + " | " + refused.Hint)
	if said != "relay/x has other commits at origin: git push: ! [rejected] TIP -> relay/x (non-fast-forward)"+
		" | git switch relay/x && git pull --no-rebase origin relay/x merges them, then relay finish --pr\ngit push --force origin TIP:refs/heads/relay/x replaces them" {
		t.Errorf("it says %s", said)
	}
}

// Why a push was refused is said by hooks and hosts: git itself only knows that it was.
func TestPushSaysWhyItWasRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hook, want string }{
		"here":  {".git/hooks/pre-push", "git push: GH006: protected"},
		"there": {"../bare.git/hooks/pre-receive", "git push: remote: GH006: protected; ! [remote rejected] TIP -> relay/x (pre-receive hook declined)"},
	} {
		l := &lab{repotest.NewLanded(t)}
		l.Sh("git init -q --bare ../bare.git; git remote add origin ../bare.git")
		l.Write(c.hook, "#!/bin/sh\nprintf 'GH006: \\033[31mprotected\\n' >&2\nexit 1\n")
		l.Sh("chmod +x " + c.hook)
		f, err := l.plan("main", integration.Merge)
		if err != nil {
			t.Fatal(err)
		}
		var refused *attempts.RefusedError
		if err := f.Push(t.Context(), "origin"); !errors.As(err, &refused) {
			t.Fatalf("%s: %v", name, err)
		}
		if said := strings.NewReplacer(repotest.Landed, "relay/x", f.Tip, "TIP").Replace(refused.Reason); said != c.want {
			t.Errorf("%s: it says %q, want %q", name, said, c.want)
		}
		if refused.Hint != "what git asks for can be answered when you type it: "+f.PushCommand("origin") {
			t.Errorf("hint %q", refused.Hint)
		}
	}
}
