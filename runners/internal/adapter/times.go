package adapter

import (
	"os"
	"path/filepath"
	"time"

	"relay/runners"
)

// timesEvery is how often the size of a stream is written down while it grows.
const timesEvery = time.Second

// times writes down when the output of a process was seen to grow. It is for those who read the stream later: a time that cannot be written
// is missing without an error.
type times struct {
	now  func() time.Time
	path string   // of the file that is begun with the first output; "": none is begun
	file *os.File // nil: nothing is written
	size int64    // that was written last
	at   time.Time
}

// openTimes prepares for the file beside the output of a process that is about to start. One that has ended under another relay has its
// output already: nothing is written of it.
func openTimes(stdout string, now func() time.Time) *times {
	t := &times{now: now}
	if filepath.Base(stdout) == runners.Transcript && fileSize(stdout) == 0 {
		t.path = filepath.Join(filepath.Dir(stdout), runners.TimesFile)
	}
	return t
}

// begin begins the file, once there is something to say.
func (t *times) begin() {
	if t.path == "" {
		return
	}
	_ = os.Remove(t.path) // of a relay that was killed, or a link to somewhere
	if f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		t.file = f
	}
	t.path = ""
}

// saw writes down a size, unless one was a moment ago. It returns how long that has to wait; 0: nothing does.
func (t *times) saw(size int64) time.Duration {
	if size <= t.size {
		return 0
	}
	if t.begin(); t.file == nil {
		return 0
	}
	now := t.now()
	if wait := timesEvery - now.Sub(t.at); wait > 0 && wait <= timesEvery {
		return wait
	}
	t.write(size, now)
	return 0
}

func (t *times) write(size int64, now time.Time) {
	t.size, t.at = size, now
	_, _ = t.file.Write(runners.TimesLine(size, now.UnixMilli()))
}

// end writes down that the process is gone, and closes the file. A process that has printed nothing gets none.
func (t *times) end(size int64) {
	if size > 0 {
		t.begin()
	}
	if t.file != nil {
		t.write(max(size, t.size), t.now())
		_ = t.file.Close()
		t.file = nil
	}
}
