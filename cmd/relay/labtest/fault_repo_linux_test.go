package labtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// An agent that works as most do: it writes a file and commits everything there is.
const committing = `
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
git add -A && git commit -qm "$RELAY_TASK: by the agent"
ok
`

// A checkout in which no attempt could work is refused before anything starts, with what to type.
func TestFaultRefusedRepositories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(l *lab)
		says  []string
	}{
		"changed file": {func(l *lab) { l.write("seed.txt", "changed\n") }, []string{"uncommitted changes", "seed.txt", "git commit or git stash"}},
		"staged file":  {func(l *lab) { l.write("new.txt", "new\n"); l.git("add", "new.txt") }, []string{"uncommitted changes", "new.txt", "git stash"}},
		"deleted file": {func(l *lab) { l.git("rm", "-q", "--cached", "seed.txt") }, []string{"uncommitted changes", "seed.txt"}},
		"detached":     {func(l *lab) { l.git("switch", "-q", "--detach") }, []string{"HEAD is detached", "git switch -c"}},
		"no commit":    {func(l *lab) { l.git("update-ref", "-d", "HEAD"); l.git("rm", "-q", "-r", "--cached", ".") }, []string{"no commit yet", "git commit"}},
		"bare":         {func(l *lab) { l.git("config", "core.bare", "true") }, []string{"bare"}},
		"merge": {func(l *lab) {
			l.git("switch", "-q", "-c", "side")
			l.git("commit", "-q", "--allow-empty", "-m", "side")
			l.git("switch", "-q", "main")
			l.git("merge", "-q", "--no-ff", "--no-commit", "side")
		}, []string{"merge", "half done"}},
		"rebase": {func(l *lab) { l.write(".git/rebase-merge/head-name", "refs/heads/main\n") }, []string{"rebase", "half done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, crashPlan, committing)
			c.spoil(l)
			r := l.work(terminal.Failure)
			for _, text := range c.says {
				r.says(t, text)
			}
			if got := l.starts(); len(got) != 0 {
				t.Errorf("agents were started: %v", got)
			}
			if f := l.read(".agents-os/relay/attempt-ledger.yml"); strings.Contains(f, "- id:") {
				t.Errorf("something was tried:\n%s", f)
			}
			l.quiet()
		})
	}
}

// All other kinds of checkout are worked in as any.
func TestFaultOddRepositories(t *testing.T) {
	needsMore(t)
	t.Parallel()
	for name, prepare := range map[string]func(l *lab){
		"sha256": func(l *lab) {
			if err := os.RemoveAll(l.path(".git")); err != nil {
				l.t.Fatal(err)
			}
			l.git("init", "-q", "--template=", "--object-format=sha256")
			l.git("add", "-A")
			l.git("commit", "-q", "-m", "Begin")
		},
		"worktree configuration": func(l *lab) {
			l.git("config", "extensions.worktreeConfig", "true")
			l.git("config", "--worktree", "core.sparseCheckout", "false")
		},
		"linked worktree": func(l *lab) {
			other := filepath.Join(l.t.TempDir(), "linked")
			l.git("switch", "-q", "-c", "elsewhere")
			l.git("worktree", "add", "-q", other, "main")
			if err := os.Rename(l.path(".agents-os/relay"), filepath.Join(other, "relay")); err != nil {
				l.t.Fatal(err)
			}
			l.root = other
			if err := os.MkdirAll(l.path(".agents-os"), 0o755); err != nil {
				l.t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(other, "relay"), l.path(".agents-os/relay")); err != nil {
				l.t.Fatal(err)
			}
		},
		"submodule": func(l *lab) {
			l.git("init", "-q", "--template=", "../inner")
			l.git("-C", "../inner", "commit", "-q", "--allow-empty", "-m", "inner")
			l.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "inner")
			l.git("commit", "-q", "--amend", "-m", "Begin")
		},
		"shallow": func(l *lab) {
			l.write(".git/shallow", l.git("rev-parse", "HEAD")+"\n")
		},
		"no identity": func(l *lab) {
			l.write(l.inHome(".gitconfig"), "[user]\n\tuseConfigOnly = true\n")
			l.agent(`echo "$RELAY_TASK" > "$RELAY_TASK.txt"; ok`)
		},
		"signed": func(l *lab) {
			l.git("config", "commit.gpgSign", "true")
			l.git("config", "gpg.program", "/bin/false")
			l.agent(`echo "$RELAY_TASK" > "$RELAY_TASK.txt"; ok`)
		},
		"strict hooks": func(l *lab) {
			l.git("config", "core.hooksPath", l.inHome("hooks"))
			l.write(l.inHome("hooks/pre-commit"), "#!/bin/sh\nexit 1\n")
			if err := os.Chmod(l.inHome("hooks/pre-commit"), 0o755); err != nil {
				l.t.Fatal(err)
			}
			l.agent(`echo "$RELAY_TASK" > "$RELAY_TASK.txt"; ok`)
		},
		"subfolder": func(l *lab) {
			l.write("deep/er/x", "x\n")
			l.git("add", "-A")
			l.git("commit", "-q", "--amend", "-m", "Begin")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, crashPlan, committing)
			prepare(l)
			r := l.prepared(nil, "work")
			if name == "subfolder" {
				r.cmd.Dir = l.path("deep/er")
			}
			l.end(l.begin(r))
			r.wants(t, terminal.OK)
			if got := strings.Count(l.git("log", "--format=%s", "main"), "\n"); got != 2 {
				t.Errorf("commits are\n%s", l.git("log", "--format=%an %s", "main"))
			}
			l.clean()
			l.looks()
		})
	}
}

// Odd paths are paths.
func TestFaultOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with space", "überall 日本", "-rf", "quote'\"$(touch x)`", "*"} {
		t.Run(name, func(t *testing.T) {
			onlyFirst(t, name, "quote'\"$(touch x)`", "-rf", "with space", "überall 日本", "*")
			t.Parallel()
			l := newLabAt(t, filepath.Join(t.TempDir(), name), crashPlan, committing)
			l.work(terminal.OK)
			l.commits("T1: by the agent", "T2: by the agent")
			l.clean()
		})
	}
}

// A user's own untracked and ignored files outlive attempts that fail, also those whose agent commits everything there
// is, or throws everything away; relay itself never commits them.
func TestFaultUntrackedFilesOfTheUser(t *testing.T) {
	needsMore(t)
	t.Parallel()
	for name, agent := range map[string]string{
		"leaves":  `echo junk > junk.txt; mkdir -p deep; echo junk > deep/junk.txt`,
		"commits": `echo junk > junk.txt; git add -A; git commit -qm everything`,
		"stages":  `echo junk > junk.txt; git add -A`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, hostilePlan, honest+agent+"\nbad 'no luck'\n")
			l.write(".git/info/exclude", "ignored.txt\n")
			mine := map[string]string{"notes.txt": "my notes\n", "deep/own.txt": "my own\n", "ignored.txt": "a secret\n", "odd\nname": "odd\n"}
			for file, text := range mine {
				l.write(file, text)
			}
			l.work(terminal.Gated)
			for file, text := range mine {
				if got := l.read(file); got != text {
					t.Errorf("%q is %q, want %q", file, got, text)
				}
			}
			for _, file := range []string{"junk.txt", "deep/junk.txt"} {
				if git.Exists(l.path(file)) {
					t.Errorf("%s of the failed attempt is still there", file)
				}
			}
			if got := l.git("ls-files"); got != "T2.txt\nseed.txt" {
				t.Errorf("tracked files are\n%s", got)
			}
			l.commits("T2: Two")
		})
	}
}

// The same when the agent succeeds: what it staged is not committed by relay; what it committed itself is told of.
func TestFaultUntrackedFilesCommitted(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, hostilePlan, `
echo "$RELAY_TASK" > "$RELAY_TASK.txt"; git add -A
if [ "$RELAY_TASK" = T2 ]; then git commit -qm "T2: everything"; fi
ok
`)
	l.write("notes.txt", "my notes\n")
	r := l.work(terminal.OK)
	r.says(t, "T2 the agent committed notes.txt")
	if got, want := l.git("log", "--reverse", "--format=%s", "--", "notes.txt"), "T2: everything"; got != want {
		t.Errorf("notes.txt is in %q, want it in %q only", got, want)
	}
	if got := l.read("notes.txt"); got != "my notes\n" {
		t.Errorf("notes.txt is %q", got)
	}
}

// Two epics of one repository, one after the other, and a folder that an older program used.
func TestFaultOlderFolder(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, committing)
	if err := os.MkdirAll(l.path(".agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(l.path(".agents-os/relay"), l.path(".agents/relay")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(l.path(".agents-os")); err != nil {
		t.Fatal(err)
	}
	l.work(terminal.OK)
	l.commits("T1: by the agent", "T2: by the agent")
	l.clean()
	if git.Exists(l.path(".agents-os")) || !git.Exists(l.path(".agents/relay/attempt-ledger.yml")) {
		t.Error("the ledger is not where the epic is")
	}
}
