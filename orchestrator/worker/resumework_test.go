package worker

import (
	"testing"
)

// Work is put back onto the commit it was made on, or joined with what came since without a conflict, and over nothing that anybody
// else has there.
func TestWorkIsTakenUpWhereNothingIsInItsWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*lab)
		want   bool
	}{
		"as it was":              {before: func(*lab) {}, want: true},
		"the branch moved":       {before: commits("other.txt"), want: true},
		"it moved in its way":    {before: commits("made.txt")},
		"a file of a person's":   {before: func(l *lab) { l.Write("made.txt", "mine\n") }},
		"a change of a person's": {before: func(l *lab) { l.Write("seed.txt", "mine\n") }},
	} {
		l := newLab(t, "true").begin()
		base := l.Git("rev-parse", "HEAD")
		l.Write("made.txt", "made\n")
		l.Write("seed.txt", "grown\n")
		l.Git("add", "-A")
		l.Git("commit", "-q", "-m", "Work")
		work := l.Git("rev-parse", "HEAD")
		l.Git("reset", "-q", "--hard", base)
		c.before(l)
		head, before := l.Git("rev-parse", "HEAD"), l.Git("status", "--porcelain")
		done, err := l.c.c.tree.ResumeWork(t.Context(), head, work, true)
		if err != nil || done != c.want {
			t.Errorf("%s: got %v (%v), want %v", name, done, err, c.want)
		}
		if now := l.Git("rev-parse", "HEAD"); now != head {
			t.Errorf("%s: the branch is at %s, not at %s", name, now, head)
		}
		if status := l.Git("status", "--porcelain"); done != (status != before) || done && status != "A  made.txt\nM  seed.txt" {
			t.Errorf("%s: git status says\n%s\nand before\n%s", name, status, before)
		}
		if done, err := l.c.c.tree.ResumeWork(t.Context(), head, "0123456789012345678901234567890123456789", true); err != nil || done {
			t.Errorf("%s: a commit that is gone was taken up: %v", name, err)
		}
	}
}

// commits returns a change of the branch in between, by a commit of one file.
func commits(file string) func(*lab) {
	return func(l *lab) {
		l.Write(file, "x\n")
		l.Git("add", "-A")
		l.Git("commit", "-q", "-m", "Other")
	}
}
