package checkup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
)

func TestRoomForANight(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		free uint64
		want Point
	}{
		{50 << 20, Point{Name: "disk", State: Fail, Message: "0.0 GiB free", Fix: "make room: a night writes transcripts, logs and commits", Code: terminal.Failure}},
		{1 << 30, Point{Name: "disk", State: Warn, Message: "1.0 GiB free", Fix: "make room: a night writes transcripts, logs and commits"}},
		{9 << 30, Point{Name: "disk", State: OK, Message: "9.0 GiB free"}},
	} {
		c := &checkup{}
		checkFreeSpace(c, test.free)
		if c.points[0] != test.want {
			t.Errorf("%d bytes: got %+v, want %+v", test.free, c.points[0], test.want)
		}
	}
}

// What cannot be asked or written is told with its place.
func TestCheckupOfAFolderThatIsNone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &checkup{project: &project.Project{Root: root, Dir: file}}
	checkFolder(c)
	if got, want := c.points[0].Message, "file cannot be written to: open "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q…", got, want)
	}
	c = &checkup{project: &project.Project{Root: filepath.Join(root, "gone")}}
	checkSpace(c)
	if got, want := c.points[0].Message, "the free space is unknown: "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q…", got, want)
	}
}
