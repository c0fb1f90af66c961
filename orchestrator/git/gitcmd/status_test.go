package gitcmd

import (
	"slices"
	"testing"
)

func TestClosedFolders(t *testing.T) {
	t.Parallel()
	const said = "src/deep/a: Permission denied\nwarning: could not open directory 'a b/': Permission denied\nwarning: something\na: Permission denied\nfatal: ../x/y: Permission denied\n/etc/x: Permission denied\n"
	if got := ClosedFolders(said); !slices.Equal(got, []string{"a b/", "fatal: ../x/", "src/deep/"}) {
		t.Errorf("%q", got)
	}
}
