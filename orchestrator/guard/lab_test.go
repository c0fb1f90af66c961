package guard

import (
	"testing"

	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// backupLab is a repository whose .git is backed up.
type backupLab struct {
	*repotest.Repo
	repo *git.Repo
}

// newBackupLab has some files, and some that are ignored.
func newBackupLab(t *testing.T) *backupLab {
	t.Helper()
	l := &backupLab{Repo: repotest.New(t)}
	l.Write("tests/a.txt", "a\n")
	l.Write(".gitignore", "*.log\ncache/\n.env\n")
	l.Write(".agents-os/relay/.gitignore", "*\n")
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "More")
	l.repo = l.Open()
	return l
}
