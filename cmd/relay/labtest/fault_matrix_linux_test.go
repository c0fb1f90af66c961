package labtest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
)

// One task proved by a check, one that fails once and then succeeds, one that is gated, and one that waits for it.
const matrixPlan = `version: 2
id: 20260101-faults
title: Survive
tasks:
  T1: {title: One, checks: ["test -f T1.txt"]}
  T2: {title: Two, depends_on: [T1]}
  T3: {title: Three, max_attempts: 1}
  T4: {title: Four, depends_on: [T3]}
`

// The agent decides by what it is told of earlier attempts, so that a repeated attempt decides as the first did.
const matrixAgent = `
case $RELAY_TASK in
T2) told 'the disk is full of eels' || { echo junk > junk.txt; bad 'the disk is full of eels'; exit 0; } ;;
T3) bad 'gone to lunch'; exit 0 ;;
esac
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`

// outcome is what must be the same at the end, whatever happened on the way.
type outcome struct {
	status  map[string]string
	charged map[string][]string
	gates   map[string]string
	tree    string
	log     []string
}

func (l *lab) outcome(isolation string) outcome {
	l.t.Helper()
	f := l.ledger()
	o := outcome{status: f.TaskStatus, charged: map[string][]string{}, gates: map[string]string{}}
	for id, list := range f.Attempts {
		for _, a := range list {
			switch {
			case a.Charged:
				o.charged[id] = append(o.charged[id], a.Outcome+": "+a.Receipt.ErrorSummary)
			case a.Result == "success":
				o.charged[id] = append(o.charged[id], "success")
			case a.Result != "interrupted" || a.Outcome != "stopped":
				l.t.Errorf("%s attempt %d is %s (%s), want it interrupted: %s", id, a.ID, a.Result, a.Outcome, a.Receipt.ErrorSummary)
			}
		}
	}
	for id, g := range f.Gated {
		o.gates[id] = g.Reason
	}
	branch := "HEAD"
	if isolation == "worktree" {
		branch = "refs/relay-tip/20260101-faults"
		l.followed(branch)
	}
	if isolation != "shared" {
		o.tree = l.git("rev-parse", branch+"^{tree}")
	}
	o.log = strings.Split(l.git("log", "--format=%s", branch), "\n")
	slices.Sort(o.log)
	return o
}

// followed wants the branch where the tip is, and nothing left of what a run made for itself.
func (l *lab) followed(tip string) {
	l.t.Helper()
	if got, want := l.git("rev-parse", "relay/20260101-faults"), l.git("rev-parse", tip); got != want {
		l.t.Errorf("the branch is at %s, the tip at %s", got, want)
	}
	if got := l.git("worktree", "list"); strings.Contains(got, "\n") {
		l.t.Errorf("worktrees are left:\n%s", got)
	}
	if got := l.git("for-each-ref", "--format=%(refname)", "refs/heads/relay-tasks"); got != "" {
		l.t.Errorf("branches of tasks are left: %s", got)
	}
}

// matrixLab is a lab in one of the isolations.
func matrixLab(t *testing.T, isolation string) *lab {
	t.Helper()
	l := newLab(t, matrixPlan, matrixAgent)
	l.env = append(l.env, "RELAY_ISOLATION="+isolation, "RELAY_JOBS=2")
	return l
}

// undisturbed are the outcomes of runs that nothing happened to.
type undisturbed struct {
	once sync.Once
	text string
}

func (u *undisturbed) outcome(t *testing.T, isolation string) string {
	t.Helper()
	u.once.Do(func() {
		l := matrixLab(t, isolation)
		l.work(terminal.Gated)
		u.text = fmt.Sprintf("%+v", l.outcome(isolation))
		want := "status:map[T1:completed T2:completed T3:gated T4:blocked] charged:map[T1:[success] T2:[agent: the disk is full of eels success] T3:[agent: gone to lunch]] gates:map[T3:max_attempts_exceeded]"
		if !strings.Contains(u.text, want) {
			t.Errorf("undisturbed: %s\nwant %s", u.text, want)
		}
	})
	return u.text
}

// cut is one case of the matrix.
type cut struct {
	point, action, isolation string
	nth                      int
}

func (c cut) name() string { return fmt.Sprintf("%s/%s/%d/%s", c.isolation, c.point, c.nth, c.action) }

func (c cut) fault() string {
	return fmt.Sprintf("%s=%s#%d=%s", project.FaultVariable, c.point, c.nth, c.action)
}

// A run writes and syncs its log so often at least: the end of an attempt shares its sync with the next start.
const (
	sureWrites = 12
	sureSyncs  = 7
	atMost     = 6 // more than that, and then there is no such occurrence
)

var isolations = []string{"none", "shared", "worktree"}

// cuts are the cases of this run. Without -more these are a third of those with it. Without -full every point is cut by each action in
// one or two of the isolations; under the
// race detector, which makes a run several times as long, every point is cut by a kill only.
func cuts() []cut {
	var list []cut
	for p, point := range attempts.FaultPoints() {
		for a, action := range []string{"kill", "EIO", "ENOSPC"} {
			for i, isolation := range isolations {
				last := 1 // a run replaces the ledger once at least
				switch {
				case strings.HasSuffix(point, "sync"):
					last = sureSyncs
				case strings.HasPrefix(point, "append."):
					last = sureWrites
				}
				if *full {
					for n := 1; n <= last+atMost; n++ {
						list = append(list, cut{point, action, isolation, n})
					}
					continue
				}
				if !runsMore() && (p+a)%6 != i {
					continue
				}
				if action == "kill" && (i+p)%2 == 0 || action != "kill" && !raceEnabled && (p+a+i)%len(isolations) == 0 {
					list = append(list, cut{point, action, isolation, 1 + (5*p+3*a+2*i)%last})
				}
			}
		}
	}
	return list
}

// TestKillMatrix cuts a run at every point at which a crash or a failing disk can: the next run comes to the same end.
func TestKillMatrix(t *testing.T) {
	t.Parallel()
	calm := map[string]*undisturbed{"none": {}, "shared": {}, "worktree": {}}
	for _, c := range cuts() {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			l := matrixLab(t, c.isolation)
			r := l.begin(l.prepared([]string{c.fault()}, "work"))
			l.end(r)
			c.struck(t, r)
			l.ledger()
			if c.nth%2 == 1 { // else the next run begins while the guardian still ends the agents of this one
				l.quiet()
				l.looks()
			}
			again := l.work(terminal.Gated)
			l.quiet()
			if got, want := fmt.Sprintf("%+v", l.outcome(c.isolation)), calm[c.isolation].outcome(t, c.isolation); got != want {
				t.Errorf("it ends as\n%s\nwant\n%s\nfirst run:\n%s\nsecond run:\n%s", got, want, r.stderr.String(), again.stderr.String())
			}
			if c.isolation != "shared" {
				l.clean()
			}
			l.accounted()
			l.remembered()
		})
	}
}

// struck wants that the fault hit, and that relay said so if it lived.
func (c cut) struck(t *testing.T, r *running) {
	t.Helper()
	if c.nth > sureSyncs || c.nth > 1 && !strings.HasPrefix(c.point, "append.") {
		if r.code() == terminal.Gated {
			return // there was no such occurrence
		}
	}
	switch c.action {
	case "kill":
		r.wants(t, -1)
	case "ENOSPC":
		r.wants(t, terminal.Failure)
		r.says(t, "no space left on device")
		r.says(t, "relay: hint: make room")
	default:
		r.wants(t, terminal.Failure)
		r.says(t, "input/output error")
	}
}

// accounted wants that every agent that was ever started is in the ledger, and was started once.
func (l *lab) accounted() {
	l.t.Helper()
	known := map[string]bool{}
	for id, list := range l.ledger().Attempts {
		for _, a := range list {
			known[fmt.Sprintf("%s/%s/%d", a.Run, id, a.ID)] = true
		}
	}
	seen := map[string]bool{}
	for _, mark := range l.starts() {
		if !known[mark] || seen[mark] {
			l.t.Errorf("agent %s: in the ledger %v, started before %v", mark, known[mark], seen[mark])
		}
		seen[mark] = true
	}
}

// A git that kills relay, which called it, before or after its N-th call. Agents call it by another path.
// What runs git does not pass on what it does not know. Several are called at once: each makes the file of its number.
const killingGit = `#!/bin/sh
KILL_AT=%[2]d KILL=%[3]s
set -C; n=1
until { true > "$HOME/call$n"; } 2>/dev/null || ! [ -d "$HOME" ]; do n=$((n + 1)); done
[ "$n" = "$KILL_AT" ] && [ "$KILL" = before ] && kill -KILL $PPID
%[1]s "$@"
code=$?
[ "$n" = "$KILL_AT" ] && [ "$KILL" = after ] && kill -KILL $PPID
exit $code
`

// TestKillMatrixGit kills relay at its own git commands: between collecting work, setting it aside and cleaning up.
func TestKillMatrixGit(t *testing.T) {
	needsMore(t)
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	calm := map[string]*undisturbed{"none": {}, "worktree": {}}
	const calls = 110 // of an undisturbed run, about
	step := 29
	if *full {
		step = 1
	}
	for n := 1; n < calls; n += step {
		when, isolation := []string{"before", "after"}[n%2], []string{"none", "worktree"}[n/2%2]
		t.Run(fmt.Sprintf("%s/%d/%s", isolation, n, when), func(t *testing.T) {
			t.Parallel()
			l := matrixLab(t, isolation)
			l.write(l.inHome("bin/git"), fmt.Sprintf(killingGit, git, n, when))
			if err := os.Chmod(l.inHome("bin/git"), 0o755); err != nil {
				t.Fatal(err)
			}
			r := l.begin(l.prepared([]string{"PATH=" + l.inHome("bin") + ":" + os.Getenv("PATH")}, "work"))
			l.end(r)
			if r.code() != -1 && n < calls/2 {
				t.Fatalf("relay was not killed: %s", r.stderr.String())
			}
			l.ledger()
			if n%2 == 1 {
				l.quiet()
				l.looks()
			}
			again := l.work(terminal.Gated)
			l.quiet()
			if got, want := fmt.Sprintf("%+v", l.outcome(isolation)), calm[isolation].outcome(t, isolation); got != want {
				t.Errorf("it ends as\n%s\nwant\n%s\nfirst run:\n%s\nsecond run:\n%s", got, want, r.stderr.String(), again.stderr.String())
			}
			l.clean()
			l.accounted()
			l.remembered()
		})
	}
}
