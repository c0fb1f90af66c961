package attempts

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay/attempts/internal/durable"
	"relay/attempts/internal/durable/simdisk"
	"relay/epic"
)

// life is two nights and a command between them, on some disk. What Append has acknowledged is in acked.
type life struct {
	e     *epic.Epic
	g     *epic.Graph
	fault func(string) error
	acked []string
	born  bool // the ledger was created
	head  string
}

func (l *life) options(run string) Options {
	return Options{Epic: l.e, Graph: l.g, Run: run, Now: clock(), Fault: l.fault, Head: l.head}
}

func (l *life) live(fsys durable.FS) error {
	if err := create(fsys, l.e, Settings{MaxAttemptsPerTask: 3}, clock()()); err != nil {
		return err
	}
	l.born = true
	return errors.Join(
		l.session(fsys, run1, []Event{{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 1}}, started("T1", 1), failed("T1", 1, "no"), started("T1", 2)},
			[]Event{landing("T1", 2), succeeded("T1", 2), started("T2", 1)}, []Event{landing("T2", 1)}),
		l.session(fsys, "", []Event{{Type: TypeGated, Task: "T3", Gate: &Gate{Reason: UserBlocked}}}),
		l.session(fsys, run2, []Event{{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 2}}, succeeded("T2", 1)},
			[]Event{{Type: TypeUngated, Task: "T3"}, started("T3", 1)}, []Event{{Type: TypeRunStopped, RunStopped: &RunStopped{Reason: "interrupted"}}}),
	)
}

// session appends each group of events and takes a snapshot after each but the last.
func (l *life) session(fsys durable.FS, run string, groups ...[]Event) error {
	s, err := open(l.options(run), fsys, refuseEdit)
	if err != nil {
		return err
	}
	for i, group := range groups {
		if i == 1 { // several at once are one batch
			if err = s.Append(group...); err == nil {
				for _, e := range group {
					l.acked = append(l.acked, label(e))
				}
			}
		} else {
			for _, e := range group {
				if err = s.Append(e); err != nil {
					break
				}
				l.acked = append(l.acked, label(e))
			}
		}
		if err == nil && i < len(groups)-1 {
			err = s.Flush()
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, s.Close())
}

func label(e Event) string { return fmt.Sprint(e.Type, e.Task, e.Attempt) }

// survived opens what the crash has left and says what is wrong with it.
func (l *life) survived(fsys durable.FS) error {
	told := ""
	o := Options{Epic: l.e, Graph: l.g, Run: run3, Now: clock(), Head: l.head, Warn: func(text string) { told = text }}
	s, err := open(o, fsys, refuseEdit)
	if errors.Is(err, ErrNoLedger) && !l.born {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	events, err := everyEvent(fsys)
	if err != nil {
		return err
	}
	again := newFold(l.g, nil)
	var labels []string
	for _, e := range events {
		again.apply(&e)
		if e.Written == nil {
			labels = append(labels, label(e))
		}
	}
	if !within(l.acked, labels) {
		return fmt.Errorf("got events %v, want %v among them", labels, l.acked)
	}
	for id, rec := range again.ledger.Tasks {
		if !sameJSON(rec, s.now.fold.ledger.Tasks[id]) {
			return fmt.Errorf("task %s: got %+v, want %+v", id, s.now.fold.ledger.Tasks[id], rec)
		}
	}
	if err := errors.Join(s.Append(started("T4", 1)), s.Close()); err != nil {
		return fmt.Errorf("go on: %w", err)
	}
	faults, err := validate(Options{Epic: l.e, Graph: l.g, Head: l.head}, fsys)
	if err != nil || len(faults) > 0 || s.Unproved() {
		return fmt.Errorf("afterwards: %v, %s, %w", faults, told, err)
	}
	return nil
}

// within reports whether all of want are in got, in that order.
func within(want, got []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func everyEvent(fsys durable.FS) ([]Event, error) {
	logs, err := findLogs(fsys)
	if err != nil {
		return nil, err
	}
	var events []Event
	for _, l := range logs {
		if _, err := l.replay(fsys, 0, func(e Event) error {
			events = append(events, e)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// powerLoss lives on a disk made by wrap, turns the power off at every operation, and looks at many disks that may be
// found afterwards. It returns how many were looked at, how many were bad, and the first that was.
func powerLoss(t *testing.T, states int, wrap func(durable.FS) durable.FS) (looked, bad int, first error) {
	t.Helper()
	e, g := plan(t, 5)
	whole := simdisk.New()
	must(t, (&life{e: e, g: g}).live(wrap(whole)))
	for at := 1; at <= whole.Ops(); at++ {
		disk := simdisk.New()
		disk.StopAt(at)
		l := &life{e: e, g: g}
		_ = l.live(wrap(disk)) // it ends in an error, wherever the power goes
		for state := range states {
			looked++
			rng := rand.New(rand.NewPCG(uint64(at), uint64(state)))
			if err := l.survived(disk.Crash(rng)); err != nil {
				if bad++; first == nil {
					first = fmt.Errorf("power off at operation %d, disk %d: %w", at, state, err)
				}
			}
		}
	}
	return looked, bad, first
}

// states is how many disks are looked at for each operation at which the power goes; .ci/long looks at 400.
var states = flag.Int("states", 10, "disks of TestPowerLossLosesNothingAcknowledged for each operation")

func TestPowerLossLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	looked, bad, first := powerLoss(t, *states, func(f durable.FS) durable.FS { return f })
	if bad > 0 {
		t.Errorf("%d of %d disks are bad: %v", bad, looked, first)
	}
	if looked < 25**states {
		t.Errorf("only %d disks were looked at", looked)
	}
}

// buggyFS leaves out what careless programs leave out.
type buggyFS struct {
	durable.FS
	skipSync func(name string) bool
	skipDirs bool
	truncate bool // cuts the log in place when it is opened for appending
}

func (b buggyFS) SyncDir(name string) error {
	if b.skipDirs {
		return nil
	}
	return b.FS.SyncDir(name)
}

func (b buggyFS) OpenFile(name string, flag int, perm os.FileMode) (durable.File, error) {
	f, err := b.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if b.truncate && flag&os.O_APPEND != 0 {
		if err := rewriteInPlace(f); err != nil {
			return nil, err
		}
	}
	return buggyFile{f, name, b.skipSync}, nil
}

func rewriteInPlace(f durable.File) error {
	text, err := io.ReadAll(f)
	if err == nil && len(text) > 0 {
		if err = f.Truncate(0); err == nil {
			_, err = f.Write(text)
		}
	}
	return errors.Join(err, f.Sync())
}

type buggyFile struct {
	durable.File
	name     string
	skipSync func(string) bool
}

func (b buggyFile) Sync() error {
	if b.skipSync != nil && b.skipSync(b.name) {
		return nil
	}
	return b.File.Sync()
}

// The simulation is worth something only if it sees the bugs that it is there for.
func TestPowerLossSeesPlantedBugs(t *testing.T) {
	t.Parallel()
	for name, bug := range map[string]buggyFS{
		"temporary file not synced": {skipSync: func(name string) bool { return strings.Contains(name, "-tmp") }},
		"folders not synced":        {skipDirs: true},
		"log rewritten in place":    {truncate: true},
		"acknowledged before sync":  {skipSync: func(name string) bool { return strings.HasSuffix(name, EventsFile) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looked, bad, _ := powerLoss(t, 5, func(f durable.FS) durable.FS {
				b := bug
				b.FS = f
				return b
			})
			if bad == 0 {
				t.Errorf("none of %d disks shows the bug", looked)
			}
		})
	}
}

// At each point the process is killed, or the disk fails for good, or it is full: nothing acknowledged is lost, and
// after the failure every call says so.
func TestEveryFaultPoint(t *testing.T) {
	t.Parallel()
	e, g := plan(t, 5)
	for _, point := range FaultPoints() {
		for _, cause := range []error{simdisk.ErrCrashed, syscall.EIO, syscall.ENOSPC} {
			t.Run(fmt.Sprintf("%s/%v", point, cause), func(t *testing.T) {
				t.Parallel()
				hits := 0
				for nth := 1; nth <= hits+1 && nth < 100; nth++ {
					hits = failAt(t, &life{e: e, g: g, head: filepath.Join(t.TempDir(), "head")}, point, cause, nth)
				}
				if hits == 0 {
					t.Error("the point is never passed")
				}
			})
		}
	}
}

// failAt lets the nth passing of a point fail and returns how often it was passed.
func failAt(t *testing.T, l *life, point string, cause error, nth int) (hits int) {
	t.Helper()
	disk := simdisk.New()
	l.fault = func(at string) error {
		if at != point {
			return nil
		}
		if hits++; hits != nth {
			return nil
		}
		if errors.Is(cause, simdisk.ErrCrashed) {
			disk.StopAt(1)
		}
		return cause
	}
	err := l.live(disk)
	if hits >= nth && !errors.Is(err, cause) {
		t.Errorf("%s, %d: got %v, want %v", point, nth, err, cause)
	}
	l.fault = nil
	if err := l.survived(disk.Crash(nil)); err != nil {
		t.Errorf("%s, %d: %v", point, nth, err)
	}
	return hits
}

func TestAfterAFailureEveryCallSaysSo(t *testing.T) {
	t.Parallel()
	for _, point := range FaultPoints() {
		e, g := plan(t, 3)
		disk := simdisk.New()
		must(t, create(disk, e, Settings{}, clock()()))
		failing := false
		o := Options{Epic: e, Graph: g, Run: run1, Now: clock(), Fault: func(at string) error {
			if failing && at == point {
				return syscall.EIO
			}
			return nil
		}}
		s, err := open(o, disk, refuseEdit)
		must(t, err)
		must(t, s.Append(started("T1", 1)))
		failing = true
		err = errors.Join(s.Append(succeeded("T1", 1)), s.Flush())
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: got %v", point, err)
		}
		failing = false
		ops := disk.Ops()
		first := s.Append(started("T2", 1))
		_, restored := s.Restore()
		for _, again := range []error{s.Append(started("T3", 1)), s.Flush(), restored} {
			if first == nil || !errors.Is(again, first) || !errors.Is(again, syscall.EIO) {
				t.Errorf("%s: got %v, want %v", point, again, first)
			}
		}
		if disk.Ops() != ops {
			t.Errorf("%s: the disk was written to after the failure", point)
		}
		if err := s.Close(); !errors.Is(err, first) {
			t.Errorf("%s: got %v, want %v", point, err, first)
		}
	}
}

// A full disk still takes the last words: why the run has stopped.
func TestFullDiskIsRecorded(t *testing.T) {
	t.Parallel()
	e, g := plan(t, 3)
	for _, point := range []string{durable.BeforeWrite, durable.TornWrite, durable.TornTemp} {
		disk := simdisk.New()
		must(t, create(disk, e, Settings{}, clock()()))
		full := false
		o := Options{Epic: e, Graph: g, Run: run1, Now: clock(), Fault: func(at string) error {
			if full && at == point {
				return syscall.ENOSPC
			}
			return nil
		}}
		s, err := open(o, disk, refuseEdit)
		must(t, err)
		must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 1}}, started("T1", 1)))
		full = true
		if err := errors.Join(s.Append(succeeded("T1", 1)), s.Flush()); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%s: got %v", point, err)
		}
		s.Close()
		c, err := load(disk, Options{Epic: e, Graph: g}, false)
		must(t, err)
		var events []Event
		_, err = c.log.logs[0].replay(disk, 0, func(e Event) error {
			events = append(events, e)
			return nil
		})
		must(t, err)
		if n := len(events); n < 2 || events[n-2].Note == nil || events[n-2].Note.Kind != "disk_full" || events[n-1].RunStopped == nil || len(c.log.notes) > 0 {
			t.Errorf("%s: got %+v, %q", point, events, c.log.notes)
		}
		if _, err := disk.Lstat(reserveFile); err == nil {
			t.Errorf("%s: the reserve is still there", point)
		}
		must(t, (&life{e: e, g: g, acked: nil}).survived(disk))
	}
}

// A line that was written together with later ones, and lost, is cut with them; one that was durable is damage.
func TestTornTailOrDamage(t *testing.T) {
	t.Parallel()
	line := func(seq, synced uint64) string {
		e := started("T1", int(seq))
		e.Seq, e.Synced = seq, synced
		text, _, err := encode(nil, e)
		must(t, err)
		return string(text)
	}
	junk := strings.Repeat("\x00", 40)
	for _, tc := range []struct {
		name, text   string
		events, bad  int
		torn, broken bool
	}{
		{"whole", line(1, 0) + line(2, 0), 2, 0, false, false},
		{"cut", line(1, 0) + line(2, 0)[:50], 1, 0, true, false},
		{"no newline", line(1, 0) + strings.TrimSuffix(line(2, 0), "\n"), 1, 0, true, false},
		{"zeros", line(1, 0) + junk, 1, 0, true, false},
		{"zeros in a batch", line(1, 0) + junk + "\n" + line(3, 1), 1, 0, true, false},
		{"zeros, durable", line(1, 0) + junk + "\n" + line(3, 0), 2, 0, false, true},
		{"only junk", junk, 0, 0, true, false},
		{"first line lost, durable", junk + "\n" + line(2, 0), 1, 0, false, true},
		{"changed text", strings.Replace(line(1, 0), "claude", "gemini", 1) + line(2, 0), 1, 0, false, true},
	} {
		events, broken := 0, false
		tail, err := durable.ScanLines(strings.NewReader(tc.text), 1, func(*durable.Line) error { events++; return nil },
			func(*durable.BadLine) error { broken = true; return nil })
		if err != nil || events != tc.events || broken != tc.broken || (tail.Bytes > 0) != tc.torn {
			t.Errorf("%s: got %d events, broken %v, tail %+v, %v", tc.name, events, broken, tail, err)
		}
	}
}
