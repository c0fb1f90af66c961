package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// holding is what a process holds at a time.
type holding struct{ rssKiB, files, threads int }

// holdingOf looks at a process; false when it is gone.
func holdingOf(pid int) (h holding, ok bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return h, false
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return h, false
	}
	h.files = len(files)
	for line := range strings.Lines(string(status)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "VmRSS":
			_, err = fmt.Sscan(value, &h.rssKiB)
		case "Threads":
			_, err = fmt.Sscan(value, &h.threads)
		}
	}
	return h, err == nil && h.rssKiB > 0
}

// least is the smallest of each part in a quarter of the samples: what is held all the time.
func least(samples []holding, quarter int) holding {
	in := samples[len(samples)*quarter/4 : len(samples)*(quarter+1)/4]
	l := in[0]
	for _, s := range in {
		l = holding{min(l.rssKiB, s.rssKiB), min(l.files, s.files), min(l.threads, s.threads)}
	}
	return l
}

// Over thousands of tasks neither relay nor its guardian holds more and more: files and threads stay as they are, the
// guardian's memory too, and relay's grows by what the ledger says of a task.
func TestFaultLeaks(t *testing.T) {
	t.Parallel()
	needsFull(t)
	if raceEnabled || testing.Short() {
		t.Skip("the race detector has a memory of its own")
	}
	const tasks = 2000
	var plan strings.Builder
	plan.WriteString("version: 2\nid: 20260101-leak\ntitle: Leak\ntasks:\n")
	for i := range tasks {
		fmt.Fprintf(&plan, "  T%d: {title: Leak}\n", i)
	}
	l := newLabAt(t, filepath.Join(inMemory(t), "work"), plan.String(), "")
	l.env = append(l.env, "RELAY_ISOLATION=shared", "RELAY_JOBS=4", "GOGC=100") // what is not collected looks like a leak
	l.settings("relay:\n  runners: [noop]\n  agents:\n    noop: {type: command, argv: [\"true\"], result: exit}\n")
	r := l.start("work")
	l.await("the first tasks", func() bool {
		return git.Exists(l.path(".agents-os/relay/attempt-ledger.yml")) && len(l.guardians()) == 1
	})
	pids := map[string]int{"relay": r.cmd.Process.Pid, "guardian": l.guardians()[0]}
	samples := map[string][]holding{}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for over := false; !over; {
		select {
		case <-r.done:
			over = true
		case <-late:
			t.Fatal("the night has no end")
		case <-tick.C:
			for name, pid := range pids {
				if h, ok := holdingOf(pid); ok {
					samples[name] = append(samples[name], h)
				}
			}
		}
	}
	r.wants(t, terminal.OK)
	for name, list := range samples {
		if len(list) < 20 {
			t.Fatalf("%s was seen %d times only", name, len(list))
		}
		early, end := least(list, 1), least(list, 3)
		t.Logf("%s: %+v at least in the second quarter, %+v in the last, of %d", name, early, end, len(list))
		growth := 2560 // KiB that the collector may leave
		if name == "relay" {
			growth += tasks / 2 * 4 // as much as any task's part of the ledger
			growth += 2 * 1024      // what SQLite keeps of the two files of the agents ledger, and of their indexes
		}
		if end.files > early.files+2 || end.threads > early.threads+2 || end.rssKiB > early.rssKiB+growth {
			t.Errorf("%s held %+v at first, and %+v in the end", name, early, end)
		}
		if end.rssKiB > 64<<10 {
			t.Errorf("%s takes %d KiB", name, end.rssKiB)
		}
	}
}
