package labtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
)

// tenTasks is a plan of ten tasks to be done, and of so many more that to read it takes a while.
func tenTasks(more int) (plan string, ids []string) {
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-crash\ntitle: Survive\ntasks:\n")
	for i := range 10 {
		ids = append(ids, fmt.Sprintf("T%d", i))
		fmt.Fprintf(&b, "  T%d: {title: Do}\n", i)
	}
	for i := range more {
		fmt.Fprintf(&b, "  U%d: {title: Leave}\n", i)
	}
	return b.String(), ids
}

const quickAgent = `
touch "$HOME/up"
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`

// However often a run is told to reload, and whenever: nothing is done twice or left out.
func TestFaultReloadStorm(t *testing.T) {
	t.Parallel()
	needsFull(t)
	plan, ids := tenTasks(0)
	l := newLab(t, plan, quickAgent)
	l.env = append(l.env, "RELAY_JOBS=2")
	r := l.start("work", "--json")
	l.awaitFile(l.inHome("up"))
	storm := time.NewTicker(5 * time.Millisecond)
	defer storm.Stop()
	const many = 200
	for sent := 0; ; sent++ {
		select {
		case <-r.done:
			r.wants(t, terminal.OK)
			t.Logf("%d requests, %s", min(sent, many), strings.Join(strings.Fields(r.stdout.String()), " "))
			r.says(t, `"reloads": `)
			r.says(t, `"attempts": 10`)
			l.onceEach(ids)
			l.quiet()
			return
		case <-storm.C:
			if sent < many { // a run that is told for ever does nothing else
				_ = l.askReload()
			}
		}
	}
}

// askReload asks the run that is on to reload; between two runs there is none to ask.
func (l *lab) askReload() error {
	p := &project.Project{Dir: l.path(".agents-os/relay")}
	held, err := attempts.HeldBy(p.File("lock"))
	if err != nil || held == nil {
		return err
	}
	_, err = session.Ask(l.t.Context(), p, held, session.Request{What: session.Reload})
	return err
}

// onceEach wants that the agent of each task was started once, and that all of them are completed.
func (l *lab) onceEach(ids []string) {
	l.t.Helper()
	var started []string
	for _, mark := range l.starts() {
		started = append(started, strings.Split(mark, "/")[1])
	}
	slices.Sort(started)
	if !slices.Equal(started, ids) {
		l.t.Errorf("agents were started for %v, want each of %v once", started, ids)
	}
	status := l.ledger().TaskStatus
	for _, id := range ids {
		if status[id] != "completed" {
			l.t.Errorf("%s is %s", id, status[id])
		}
	}
}

// A command that takes the epic's lock between two runs of one relay work does not end the night.
func TestFaultLockBetweenRuns(t *testing.T) {
	needsMore(t)
	t.Parallel()
	plan, ids := tenTasks(3000)
	l := newLab(t, plan, quickAgent)
	r := l.start(append([]string{"work"}, ids...)...)
	l.awaitFile(l.inHome("up"))
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		me := attempts.Self("20260101-crash", time.Now())
		held, err := attempts.HoldWithin(t.Context(), time.Minute, l.path(".agents-os/relay/lock"), me)
		if err != nil {
			t.Error(err)
			return
		}
		var taken *attempts.HeldError // by us, and by the relay that waits for it no less
		if _, err := attempts.HoldWithin(t.Context(), 200*time.Millisecond, l.path(".agents-os/relay/lock"), me); !errors.As(err, &taken) {
			t.Errorf("a second one: %v", err)
		}
		if err := held.Release(); err != nil {
			t.Error(err)
		}
	}()
	told := time.NewTicker(20 * time.Millisecond)
	defer told.Stop()
	for open := true; open; {
		select {
		case <-r.done:
			t.Fatal("it ended before its lock could be taken")
		case <-taken:
			open = false
		case <-told.C:
			_ = l.askReload()
		}
	}
	l.end(r)
	r.wants(t, terminal.OK)
	l.onceEach(ids)
}

// A process that has the pid of a run by now is not asked anything.
func TestFaultReloadOfAnotherProcess(t *testing.T) {
	t.Parallel()
	other := exec.CommandContext(t.Context(), "sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	h := attempts.Self("20260101-crash", time.Now())
	for name, change := range map[string]func(h *attempts.Holder){
		"another process": func(h *attempts.Holder) { h.PID = other.Process.Pid },
		"another host":    func(h *attempts.Holder) { h.Host = "elsewhere" },
		"another boot":    func(h *attempts.Holder) { h.Boot = "before" },
		"an older relay":  func(h *attempts.Holder) { h.PID, h.Start = other.Process.Pid, 0 },
		"nobody":          func(h *attempts.Holder) { h.PID = 0 },
	} {
		one := h
		change(&one)
		_, err := session.Ask(t.Context(), &project.Project{Dir: t.TempDir()}, &one, session.Request{What: session.Reload})
		if err == nil {
			t.Errorf("%s: it was told", name)
			continue
		}
		d := terminal.Diagnose(err)
		if want := "the run is " + terminal.HolderText(&one) + ", which cannot be reached from here"; d.Code != terminal.Failure || d.Messages[0] != want {
			t.Errorf("%s: %+v, want %s", name, d, want)
		}
		if want := "type that on " + one.Host + ", or stop the run there"; d.Hint != want {
			t.Errorf("%s: %s, want %s", name, d.Hint, want)
		}
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other process: %v", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
}

// A plan that is asked for again while the one before is being read is taken too, and what needs longer than others is
// not cut short by it.
func TestFaultReloadTwice(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `
touch "$HOME/up-$RELAY_TASK"
until [ -e "$HOME/go-$RELAY_TASK" ]; do sleep 0.01; done
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	r := l.start("work")
	for _, id := range []string{"T1", "T3", "T4", "T2"} {
		l.awaitFile(l.inHome("up-" + id))
		switch id {
		case "T1":
			l.write(".agents-os/relay/epic.yml", crashPlan+"  T3: {title: Three, priority: p0}\n")
			l.run("reload").wants(t, terminal.OK)
		case "T3":
			l.write(".agents-os/relay/epic.yml", crashPlan+"  T4: {title: Four, priority: p0}\n")
			l.run("reload").wants(t, terminal.OK)
		}
		l.write(l.inHome("go-"+id), "")
	}
	l.end(r)
	r.wants(t, terminal.OK)
	if f := l.ledger(); len(f.Attempts) != 4 {
		t.Errorf("attempts of %d tasks, want 4: the ledger forgets none", len(f.Attempts))
	}
	runs, err := os.ReadDir(l.path(".agents-os/relay/runs"))
	if err != nil || len(runs) != 3 {
		t.Errorf("%d runs (%v), want 3", len(runs), err)
	}
	l.run("ledger", "validate").wants(t, terminal.OK)
	l.quiet()
}
