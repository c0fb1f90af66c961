package worker

import (
	"path/filepath"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
)

// Files of the user's that nobody has committed do not land, whatever an agent adds: its git does not see them, and work
// that has them all the same is refused.
func TestProvisionedFilesDoNotLand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, why string }{
		"all there is":     {"echo x > x; git add -A; git commit -qm x; git status --porcelain --untracked-files=all | grep . && exit 9 || true", ""},
		"what users' do":   {"echo x > x; echo y > own.users; git add -A; git commit -qm x; test -z \"$(git ls-files own.users)\"", ""},
		"by force":         {"echo x > x; git add -f .env; git commit -qm x", "the agent committed .env, which the user has in no commit and relay had brought here; it is kept, but not landed"},
		"dependencies":     {"echo x > x; git add -f node; git commit -qm x", "the agent committed node/mod, which the user has in no commit and relay had brought here; it is kept, but not landed"},
		"in a folder":      {"echo x > x; git add -f 'conf/a b'; git commit -qm x", "the agent committed conf/a b, which the user has in no commit and relay had brought here; it is kept, but not landed"},
		"one of its own":   {"echo x > x; echo new > conf/new.txt; git add -f conf/new.txt; git commit -qm x", ""},
		"what is tracked":  {"echo x > x; echo more >> seed.txt; git commit -qam x", ""},
		"an odd name, all": {"echo x > 'a[1]'; echo x > x; git add -A; git commit -qm x; test -z \"$(git ls-files 'a*')\"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l := newLab(t, "true")
			l.Write(".gitignore", "node/\n") // as most have it: that is a folder, and no link
			l.Git("commit", "-qam", "Ignore a folder")
			l.Write(".env", "KEY=secret\n")
			l.Write("node/mod", "mod\n")
			l.Write("conf/a b", "b\n")
			l.Write("a[1]", "odd\n")
			users := filepath.Join(l.TempDir(), "excludes")
			l.Sh("echo '*.users' > " + users + "; git config core.excludesFile " + users)
			o := l.slotOptions()
			o.Worktree.Copy, o.Worktree.Share = []string{".env", "conf", "a\\[1\\]", "seed.txt"}, []string{"node"}
			f := l.inSlots(o).does("T1", c.script).Result
			if got := f.Receipt.ErrorSummary; got != c.why || (f.Outcome == attempts.Success) != (c.why == "") {
				t.Errorf("%s: %q, want %q", f.Outcome, got, c.why)
			}
		})
	}
}
