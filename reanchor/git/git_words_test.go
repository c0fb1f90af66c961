package git

import (
	"strings"
	"testing"
	"time"
)

// What git may answer that relay does not understand is told with the piece that was not understood.
func TestWordsForRecords(t *testing.T) {
	t.Parallel()
	const odd = "git printed something relay does not understand"
	status := func(text string) error {
		_, err := readStatus(text)
		return err
	}
	names := func(text string) error {
		_, err := readNames(text)
		return err
	}
	log := func(line string) error {
		_, err := commitIn(line)
		return err
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{status("?? abc"), odd + `: cut off at "?? abc"`},
		{status("9 what\x00"), odd + `: status record "9 what"`},
		{status("R  new\x00"), odd + `: cut off at ""`},
		{names(aChange + "M\x00\x00"), odd + ": an empty name"},
		{names("x\x00a\x00"), odd + `: change letter "x"`},
		{names(aChange + "M\x00"), odd + `: cut off at ""`},
		{log("abc 5 Begin"), odd + `: commit "abc 5 Begin"`},
		{log(strings.Repeat("a", 40) + " soon Begin"), odd + `: commit "` + strings.Repeat("a", 40) + ` soon Begin"`},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
}

func TestWordsForGit(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	bare := t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	open := func(dir string) error {
		_, err := Open(t.Context(), dir)
		return err
	}
	_, slow := Run(t.Context(), Call{Dir: dir, Args: []string{"status"}, Wall: time.Nanosecond})
	_, long := Run(t.Context(), Call{Dir: dir, Args: []string{"status"}, Limit: 1})
	_, option := between(g, "-x", "HEAD")
	for _, test := range []struct {
		err  error
		want string
	}{
		{open(bare), "the git repository has no work tree here"},
		{open(t.TempDir()), "not a git repository"},
		{checkRef("main"), `reference "main": want HEAD or a name below refs/`},
		{option, `commit "-x": want a hash or the name of a reference`},
		{slow, "git status: git took too long"},
		{long, "git status: git printed more than allowed"},
		{&Error{Code: 129}, "git: exit status 129"},
		{&Error{Code: 128, Dir: "/srv/app", Args: []string{"add"}, Stderr: "No space left on device"}, "git add: No space left on device, on the disk that holds /srv/app"},
		{&TooManyError{Kept: 2, Rest: 3}, "5 changed paths, of which relay holds 2"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
}
