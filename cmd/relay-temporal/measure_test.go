package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"relay/cmd/relay-temporal/internal/host"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/cmd/relay-temporal/internal/temporal"
	"relay/orchestrator/engine"
)

// measured returns how large a measurement is to be: MEASURE=1000. Without it, nothing is measured.
func measured(t *testing.T) int {
	t.Helper()
	many, err := strconv.Atoi(os.Getenv("MEASURE"))
	if err != nil || os.Getenv(serverVariable) == "" {
		t.Skip("MEASURE says how many, and TEMPORAL_SERVER where the server is")
	}
	return many
}

// measuringAgent notes when it began, and how large the repositories are.
const measuringAgent = `date +%%s%%N > %[1]s/seen/$RELAY_TASK.begun
du -sb %[1]s/remote.git/objects %[1]s/*/.cache/relay/hosts/*/.git/objects | cut -f1 > %[1]s/seen/$RELAY_TASK.bytes
echo $RELAY_TASK > $RELAY_TASK.txt
`

// TestMeasureFiles has two orders of a repository of many files follow each other: what the first moves, and the second.
func TestMeasureFiles(t *testing.T) { //nolint:paralleltest // it is measured alone
	many := measured(t)
	s := newSite(t, "none", "")
	for i := range many {
		s.must(write(s.path(fmt.Sprintf("project/folder%d/file%d.txt", i/100, i)), strings.Repeat(fmt.Sprintf("line %d of a file %x\n", i, i*7919), 40)))
	}
	s.must(write(s.path("project/agent.sh"), fmt.Sprintf(measuringAgent, s.dir)))
	s.run("git", "add", "-A")
	s.run("git", "commit", "-q", "-m", "Many")
	for _, part := range []string{"server", "build1", "decider"} {
		s.start(part)
	}
	if code := s.ended("decider"); code != 0 {
		t.Fatalf("it ended with %d\n%s", code, s.logs())
	}
	t.Logf("%d files, .git of the project %d bytes", many, size(s.path("project/.git/objects")))
	began := 0.0
	for _, task := range []string{"T1", "T2"} {
		steps, bytes := s.steps(), strings.Fields(s.read("seen/"+task+".bytes"))
		begun, err := strconv.ParseFloat(strings.TrimSpace(s.read("seen/"+task+".begun")), 64)
		s.must(err)
		for _, step := range steps {
			if step.name == "order-push" && step.from < begun {
				began = step.from
			}
		}
		t.Logf("%s: the remote has %s bytes and the clone %s; the agent began %.2f s after the push", task, bytes[0], bytes[1], (begun-began)/1e9)
	}
	for _, step := range s.steps() {
		t.Logf("%s took %.2f s", step.name, step.took/1e9)
	}
	t.Log(s.read("decider.log"))
}

func size(dir string) (bytes int64) {
	_ = filepath.Walk(dir, func(_ string, is os.FileInfo, err error) error {
		if err == nil && is.Mode().IsRegular() {
			bytes += is.Size()
		}
		return nil
	})
	return bytes
}

type step struct {
	name       string
	from, took float64
}

// steps are what git did for orders, and how long that took.
func (s *site) steps() (list []step) {
	for line := range strings.Lines(s.read("seen/steps")) {
		var one step
		if n, _ := fmt.Sscan(line, &one.name, &one.from, &one.took); n == 3 {
			list = append(list, one)
		}
	}
	return list
}

// used returns the CPU seconds of a process and its children that have ended, and the most memory that it had, in megabytes.
func used(pid int) (seconds, megabytes float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	for _, f := range strings.Fields(rest + " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")[11:15] {
		ticks, _ := strconv.ParseFloat(f, 64)
		seconds += ticks / 100
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, high, _ := strings.Cut(string(status), "VmHWM:")
	megabytes, _ = strconv.ParseFloat(strings.Fields(high + " 0")[0], 64)
	return seconds, math.Round(megabytes / 1024)
}

// TestMeasureRun has a run of many small tasks on two hosts: what each hundred of them costs, and what is left at the end.
func TestMeasureRun(t *testing.T) { //nolint:paralleltest // it is measured alone
	many := measured(t)
	s := newSite(t, "none", "")
	plan := "version: 2\nid: " + siteEpic + "\ntitle: Many\ntasks:\n"
	for i := range many {
		plan += fmt.Sprintf("  T%d: {title: Task %d, checks: [test -f T%d.txt]}\n", i+1, i+1, i+1)
	}
	s.must(write(s.path("project/.agents-os/relay/epic.yml"), plan))
	s.must(os.Remove(s.path("git/git"))) // it costs, too
	s.jobs = "4"
	for home, more := range map[string]string{
		"home": "hosts: [{name: build1, jobs: 2}, {name: build2, jobs: 2}]", "build1": "host: {name: build1}", "build2": "host: {name: build2}",
	} {
		text := fmt.Sprintf("remote: %s\ntemporal: {address: '%s'}\n%s\n", s.path("remote.git"), s.address, more)
		s.must(os.WriteFile(s.path(home+"/.config/relay/machines.yml"), []byte(text), 0o600))
	}
	for _, part := range []string{"server", "build1", "build2", "decider"} {
		s.start(part)
	}
	began, before, done, ended := time.Now(), s.parts(), 0, false
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !ended {
		<-tick.C
		now, so := s.parts(), strings.Count(s.read("decider.log"), " completed in ")
		if ended = s.exited("decider"); ended {
			now["decider"] = before["decider"] // what it used for its end is not known
		}
		if so-done < measuredParts && !ended || so == done {
			continue
		}
		text := fmt.Sprintf("%d to %d, at %.0f s:", done+1, so, time.Since(began).Seconds())
		for _, name := range []string{"decider", "build1", "build2", "server"} {
			text += fmt.Sprintf(" %s %.3f s of CPU each, %.0f MB;", name, (now[name].seconds-before[name].seconds)/float64(so-done), now[name].megabytes)
		}
		t.Log(text, "database", size(s.path("temporal.db"))>>10, "KB, remote", size(s.path("remote.git"))>>10, "KB")
		before, done = now, so
	}
	refs := strings.Fields(s.run("git", "-C", s.path("remote.git"), "for-each-ref", "--format=%(refname)"))
	t.Logf("%d of %d tasks in %.0f s; it ended with %d; refs left: %v", done, many, time.Since(began).Seconds(), s.ended("decider"), refs)
}

// measuredParts is how many tasks are measured together.
const measuredParts = 100

type part struct{ seconds, megabytes float64 }

// parts returns what each process has used, with its children that have ended.
func (s *site) parts() map[string]part {
	all := map[string]part{}
	for name, cmd := range s.procs {
		seconds, megabytes := used(cmd.Process.Pid)
		all[name] = part{seconds, megabytes}
	}
	return all
}

// TestMeasureOrders has a worker take many orders for which nothing is to be done: what the way costs.
func TestMeasureOrders(t *testing.T) { //nolint:paralleltest // it is measured alone
	many := measured(t)
	s := newSite(t, "none", "")
	s.start("server")
	s.start("nothing", "ADDRESS="+s.address)
	s.await("a worker", func() bool { return strings.Contains(s.read("nothing.log"), " ready ") })
	of := settings.Temporal{Address: s.address, Namespace: "default", Heartbeat: time.Minute, Beat: 5 * time.Second, Queue: time.Minute}
	c, err := temporal.Dial(t.Context(), &of, time.Minute, "measure")
	s.must(err)
	jobs := &temporal.Jobs{Client: c, Settings: &of, Patience: time.Minute, Grace: time.Minute}
	before, started := size(s.path("temporal.db"))+size(s.path("temporal.db-wal")), time.Now()
	own, _ := used(os.Getpid())
	numbers := make(chan int)
	var going sync.WaitGroup
	for range 6 {
		going.Go(func() {
			for n := range numbers {
				id := order.ID{Run: "20260101T220000Z-beef", Task: "T1", Number: n}
				message, err := order.Encode(order.Order{
					Version: order.Version, ID: id, Base: strings.Repeat("a", 40), Trusted: strings.Repeat("a", 40), Commit: strings.Repeat("b", 40),
					Hash: strings.Repeat("c", 64),
				})
				if err == nil {
					_, err = jobs.Do(t.Context(), "build1", id, message, func(engine.Event) {})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range many {
		numbers <- n + 1
	}
	close(numbers)
	going.Wait()
	took := time.Since(started)
	after, _ := used(os.Getpid())
	t.Logf("%d orders in %.1f s, 6 at a time; decider %.1f ms of CPU each", many, took.Seconds(), 1000*(after-own)/float64(many))
	for _, name := range []string{"server", "nothing"} {
		seconds, megabytes := used(s.procs[name].Process.Pid)
		t.Logf("%s: %.1f ms of CPU each, %.0f MB", name, 1000*seconds/float64(many), megabytes)
	}
	_ = syscall.Kill(s.procs["server"].Process.Pid, syscall.SIGTERM)
	_ = s.procs["server"].Wait()
	t.Logf("database: %d bytes each", (size(s.path("temporal.db"))-before)/int64(many))
}

// nothingWorker is a worker whose attempts come to nothing at once.
func nothingWorker() {
	home := os.Getenv("HOME")
	shell, err := exec.LookPath("sh")
	if err != nil {
		panic(err)
	}
	p := &host.Processes{
		Homes: map[string]string{"build1": home}, Program: []string{shell, "-c", `echo '{"result":{"version":"1.0"}}'`},
		Environ: os.Environ(), Grace: time.Minute,
	}
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	w := &temporal.Worker{Name: "build1", Jobs: 6, Beat: 5 * time.Second, Processes: p, Log: say}
	of := settings.Temporal{Address: os.Getenv("ADDRESS"), Namespace: "default"}
	ctx := context.Background()
	if err := w.Run(ctx, ctx, &settings.Machines{Temporal: &of}); err != nil {
		panic(err)
	}
}
