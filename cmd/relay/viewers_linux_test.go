package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/view/viewtest"
)

// Limits of a viewer of a night of 10,000 tasks. The time to its first picture depends on the machine, and what else that does; the CPU
// time until then less so.
const (
	mostMiB      = 64
	mostShare    = 0.05                   // of a core, once it has read the log
	mostFirstCPU = 600 * time.Millisecond // twice what it takes
)

// viewer is a command that shows a night.
type viewer struct {
	name, command string
	size          *pty.Winsize // of its terminal; nil: it has none
}

var viewers = []viewer{
	{"status", "status", nil},
	{"serve", "serve", nil},
	{"watch-80x24", "watch", &pty.Winsize{Rows: 24, Cols: 80}},
	{"watch-200x60", "watch", &pty.Winsize{Rows: 60, Cols: 200}},
}

// BenchmarkViewers measures what viewers of a busy night of 10,000 tasks need: time and CPU time until the first picture is read, the peak
// of their memory, and the part of a core that they need while the night goes on. Run it with -benchtime 1x, and -count for more.
func BenchmarkViewers(b *testing.B) {
	relay, night := buildRelay(b), newBusyNight(b)
	for _, v := range viewers {
		b.Run(v.name, func(b *testing.B) {
			for b.Loop() {
				u := v.use(b, relay, night)
				b.ReportMetric(float64(u.first.Milliseconds()), "first-ms")
				b.ReportMetric(float64(u.firstCPU.Milliseconds()), "first-CPU-ms")
				b.ReportMetric(u.mib, "peak-MiB")
				b.ReportMetric(100*u.share, "%core")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// Viewers of a busy night keep their limits.
func TestViewersKeepLimits(t *testing.T) {
	if !*full {
		t.Skip("it takes a minute: -args -full")
	}
	t.Parallel()
	relay, night := buildRelay(t), newBusyNight(t)
	for _, v := range viewers {
		u := v.use(t, relay, night)
		t.Logf("%s: %+v", v.name, u)
		if u.mib > mostMiB || u.share > mostShare || u.firstCPU > mostFirstCPU {
			t.Errorf("%s: want at most %v MiB, %v of a core, and %s of CPU until its first picture", v.name, mostMiB, mostShare, mostFirstCPU)
		}
	}
}

// used is what a viewer needed.
type used struct {
	first, firstCPU time.Duration
	mib, share      float64
}

// use has a viewer show a night while that goes on.
func (v *viewer) use(tb testing.TB, relay string, night *busyNight) (u used) {
	tb.Helper()
	cmd := exec.Command(relay, v.command)
	cmd.Dir, cmd.Env = night.root, []string{"HOME=" + night.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8"}
	began := time.Now()
	switch {
	case v.size != nil:
		u = v.watched(tb, cmd, began, night)
	case v.command == "serve":
		u = v.served(tb, cmd, began, night)
	default:
		u = v.seenOnce(tb, cmd)
	}
	return u
}

// seenOnce is what a viewer needed that has ended.
func (v *viewer) seenOnce(tb testing.TB, relay *exec.Cmd) (u used) {
	tb.Helper()
	cmd := exec.Command("once", relay.Args...)
	cmd.Dir, cmd.Env = relay.Dir, relay.Env
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte("10000")) {
		tb.Fatalf("%v\n%s", err, out)
	}
	_, err = fmt.Sscan(string(out[bytes.LastIndexByte(out, '\n')+1:]), (*int64)(&u.first), (*int64)(&u.firstCPU), &u.mib)
	must(tb, err)
	return u
}

// watched is what a viewer in a terminal needs, which has to draw what happens.
func (v *viewer) watched(tb testing.TB, cmd *exec.Cmd, began time.Time, night *busyNight) (u used) {
	tb.Helper()
	screen, err := pty.StartWithSize(cmd, v.size)
	must(tb, err)
	defer screen.Close()
	pictures := make(chan []byte)
	go func() {
		defer close(pictures)
		for {
			text := make([]byte, 64<<10)
			n, err := screen.Read(text)
			if err != nil { // its end
				return
			}
			pictures <- text[:n]
		}
	}()
	for text := ""; !strings.Contains(text, "tasks done"); {
		picture, ok := <-pictures
		if text += string(picture); !ok {
			tb.Fatalf("watch ended: %q", text)
		}
	}
	u.first, u.firstCPU = time.Since(began), cpuOf(tb, cmd.Process.Pid)
	drawn := make(chan int)
	go func() {
		n := 0
		for picture := range pictures {
			n += len(picture)
		}
		drawn <- n
	}()
	u.mib, u.share = night.goOn(tb, cmd.Process.Pid)
	_, err = screen.WriteString("q")
	must(tb, err)
	must(tb, cmd.Wait())
	if n := <-drawn; n < 1000 {
		tb.Errorf("%s: %d bytes show how the night went on", v.name, n)
	}
	return u
}

// served is what a server needs of which a browser fetches the page of the night.
func (v *viewer) served(tb testing.TB, cmd *exec.Cmd, began time.Time, night *busyNight) (u used) {
	tb.Helper()
	out, err := cmd.StdoutPipe()
	must(tb, err)
	must(tb, cmd.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	must(tb, err)
	jar, _ := cookiejar.New(nil) // it has no options
	page := func(url string) string {
		answer, err := (&http.Client{Jar: jar}).Get(strings.TrimSpace(url))
		must(tb, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must(tb, err)
		return string(text)
	}
	base, _, _ := strings.Cut(address, "?")
	page(address)
	first := page(base)
	u.first, u.firstCPU = time.Since(began), cpuOf(tb, cmd.Process.Pid)
	u.mib, u.share = night.goOn(tb, cmd.Process.Pid)
	if then := page(base); !strings.Contains(first, "tasks done") || then == first {
		tb.Errorf("the page does not show how the night goes on:\n%.500s", then)
	}
	must(tb, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // its exit code is that of an interrupt
	return u
}

// busyNight is a night of 10,000 tasks that goes on.
type busyNight struct {
	root, home string
	store      *attempts.Store
	left       []attempts.Event
	at         atomic.Pointer[time.Time] // of the next event; a snapshot is written meanwhile
}

// Events of a busy night: those that are left when viewers begin, those that happen while one is measured, and those before that, while it
// reads the log.
const (
	leftEvents = 5000
	readEvents = 25
	measured   = 100
	eventEvery = 200 * time.Millisecond
)

// newBusyNight writes the records of a night.
func newBusyNight(tb testing.TB) *busyNight {
	tb.Helper()
	night, n := viewtest.Of(tb, 10000), &busyNight{root: tb.TempDir(), home: tb.TempDir()}
	dir := filepath.Join(n.root, ".agents-os", "relay")
	must(tb, os.MkdirAll(dir, 0o755))
	run(tb, n.root, "git", "init", "-q")
	text, err := night.Epic.Encode()
	must(tb, err)
	must(tb, os.WriteFile(filepath.Join(dir, "epic.yml"), text, 0o600))
	pl, err := project.ParsePlan("epic.yml", text)
	must(tb, err)
	n.at.Store(new(time.Time))
	n.store, err = attempts.Open(attempts.Options{
		Dir: dir, Epic: pl.Epic, Graph: pl.Graph, Run: "20261125T220000Z-7c1e", Relay: project.RelayVersion(), Plan: pl.Seen(),
		Fresh: &attempts.Settings{MaxAttemptsPerTask: 3}, Now: func() time.Time { return *n.at.Load() },
	})
	must(tb, err)
	tb.Cleanup(func() { must(tb, n.store.Close()) })
	before := len(night.Events) - leftEvents
	ago := time.Since(night.Events[before-1].At)
	for i := range night.Events[:before] {
		at := night.Events[i].At.Add(ago)
		n.at.Store(&at)
		must(tb, n.store.AppendLater(night.Events[i]))
		if i%3000 == 0 {
			must(tb, n.store.Flush())
		}
	}
	n.left = night.Events[before:]
	must(tb, n.store.Flush())
	return n
}

// goOn has the night go on, and returns the peak of the memory of a viewer and the part of a core that it needs.
func (n *busyNight) goOn(tb testing.TB, pid int) (mib, share float64) {
	tb.Helper()
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	var from time.Time
	var cpu time.Duration
	for i := range readEvents + measured {
		at := <-tick.C
		n.at.Store(&at)
		if i == readEvents {
			from, cpu = at, cpuOf(tb, pid)
		}
		must(tb, n.store.Append(n.left[0]))
		n.left = n.left[1:]
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(tb, err)
	kib, err := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(text)[1]))
	must(tb, err)
	return float64(kib) / 1024, (cpuOf(tb, pid) - cpu).Seconds() / time.Since(from).Seconds()
}

// cpuOf returns the CPU time that a process has had.
func cpuOf(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	const tick = 10 * time.Millisecond
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(tb, err)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	must(tb, err)
	system, err := strconv.Atoi(fields[12])
	must(tb, err)
	return time.Duration(user+system) * tick
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
