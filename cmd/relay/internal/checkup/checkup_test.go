package checkup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
)

func TestRoomForANight(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		free uint64
		want Point
	}{
		{50 << 20, Point{Name: "disk", State: Fail, Message: "0.0 GiB free", Fix: "make room: a night writes transcripts, logs and commits", Code: exit.Failure}},
		{1 << 30, Point{Name: "disk", State: Warn, Message: "1.0 GiB free", Fix: "make room: a night writes transcripts, logs and commits"}},
		{9 << 30, Point{Name: "disk", State: OK, Message: "9.0 GiB free"}},
	} {
		var c checkup
		c.freeSpace(test.free)
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
	c := checkup{project: &project.Project{Root: root, Dir: file}}
	c.folder()
	if got, want := c.points[0].Message, "file cannot be written to: open "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q…", got, want)
	}
	c.transcripts()
	if got, want := c.points[1].Message, "what the sessions of agents take is unknown: open "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q…", got, want)
	}
	c = checkup{project: &project.Project{Root: filepath.Join(root, "gone")}}
	c.space()
	if got, want := c.points[0].Message, "the free space is unknown: "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q…", got, want)
	}
}

func TestTranscriptsTakeRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := checkup{project: &project.Project{Root: dir, Dir: dir}}
	c.transcripts()
	for _, run := range []string{"20260101T000000Z-beef", "20260102T000000Z-cafe"} {
		folder := filepath.Join(dir, "runs", run, "T1", "1")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "transcript.jsonl"), make([]byte, 3<<19), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.transcripts()
	if want := (Point{Name: "disk", State: OK, Message: "3 MiB of agents' sessions in 2 runs"}); len(c.points) != 1 || c.points[0] != want {
		t.Errorf("got %+v, want %+v alone", c.points, want)
	}
}
