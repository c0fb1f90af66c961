package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// faults are what can happen to whom; each is tried at steps of an order.
var faults = map[string]struct {
	steps  []string
	strike func(s *site)
	loses  bool // an agent that is at work may be lost
}{
	"decider killed": {
		[]string{
			"order-push-before", "order-push-after", "order-fetch-before", "working", "result-push-before", "result-push-after", "result-fetch-before",
			"result-fetch-after", "settle-before", "settle-after", "landing-before", "landing-after", "landed-before", "landed-after", "removal-before",
		}, func(s *site) {
			s.kill("decider")
			if strings.HasSuffix(s.step, "-before") && !s.onHost() {
				s.signal(syscall.SIGKILL, s.waiting())
			}
			s.start("decider")
			s.touch("seen/go")
		}, false,
	},
	"server frozen, and decider killed": { // as it gives the order to the server
		[]string{"order-push-after"}, func(s *site) {
			pid := s.procs["server"].Process.Pid
			s.signal(syscall.SIGSTOP, pid)
			s.pass()
			s.await("the order to be noted", func() bool {
				noted, err := filepath.Glob(s.path("project/.agents-os/relay/runs/*/T1/1/host.json"))
				return err == nil && len(noted) > 0
			})
			s.kill("decider")
			s.start("decider")
			s.signal(syscall.SIGCONT, pid)
		}, false,
	},
	"worker killed, and started again": {
		[]string{"order-fetch-before", "working", "result-push-before", "result-push-after"}, func(s *site) {
			name := s.host()
			s.kill(name)
			s.touch("seen/go")
			s.start(name)
		}, false,
	},
	"worker frozen for less than the heartbeat": {
		[]string{"order-push-after", "working", "result-push-after", "landing-before"}, func(s *site) {
			pid := s.procs[s.host()].Process.Pid
			s.signal(syscall.SIGSTOP, pid)
			s.pass()
			s.signal(syscall.SIGCONT, pid)
		}, false,
	},
	"worker frozen for longer": {
		[]string{"order-push-after", "working", "result-push-before", "result-push-after"}, func(s *site) {
			pid := s.procs[s.host()].Process.Pid
			s.signal(syscall.SIGSTOP, pid)
			s.touch("seen/go")
			s.given()
			s.signal(syscall.SIGCONT, pid)
		}, true,
	},
	"host killed, and started again": {
		[]string{"order-fetch-before", "working", "result-push-before", "result-push-after"}, func(s *site) {
			name := s.host()
			s.signal(syscall.SIGKILL, s.of(name, "")...)
			_ = s.procs[name].Wait()
			s.touch("seen/go")
			s.start(name)
		}, true,
	},
	"host frozen for longer than the heartbeat": {
		[]string{"order-fetch-before", "working", "result-push-before", "result-push-after"}, func(s *site) {
			pids := s.of(s.host(), "")
			s.signal(syscall.SIGSTOP, pids...)
			s.touch("seen/go")
			s.given()
			s.signal(syscall.SIGCONT, pids...)
		}, true,
	},
	"attempt's process killed": {
		[]string{"order-fetch-before", "working", "result-push-before", "result-push-after"}, func(s *site) {
			s.signal(syscall.SIGKILL, s.of(s.host(), "\x00carry\x00")...)
			s.touch("seen/go")
		}, true,
	},
	"agent killed": {[]string{"working"}, func(s *site) { s.signal(syscall.SIGKILL, s.waiting()) }, true},
	"agent frozen": {[]string{"working"}, func(s *site) { s.signal(syscall.SIGSTOP, s.waiting()) }, true},
	"server killed, and started again": {
		[]string{"order-push-before", "order-fetch-before", "working", "result-push-before", "result-push-after", "landing-before"}, func(s *site) {
			s.kill("server")
			s.pass()
			s.start("server")
		}, false,
	},
	"server frozen": {
		[]string{"order-push-before", "working", "result-push-after"}, func(s *site) {
			pid := s.procs["server"].Process.Pid
			s.signal(syscall.SIGSTOP, pid)
			s.pass()
			s.signal(syscall.SIGCONT, pid)
		}, false,
	},
	"repository away": {
		[]string{"order-push-before", "order-fetch-before", "result-push-before", "result-fetch-before", "removal-before"}, func(s *site) {
			s.must(os.Rename(s.path("remote.git"), s.path("away.git")))
			s.touch("seen/go")
			s.await("git to fail", func() bool { return s.there("seen/failed") })
			s.must(os.Rename(s.path("away.git"), s.path("remote.git")))
		}, false,
	},
}

// TestFaults has each fault happen at each of its steps. Nothing is lost or lands twice, no agent of an attempt starts twice, and no task
// is charged for a host.
func TestFaults(t *testing.T) {
	t.Parallel()
	needsServer(t)
	for name, fault := range faults {
		for _, step := range fault.steps {
			t.Run(name+"/"+step, func(t *testing.T) {
				t.Parallel()
				silence := ""
				if name == "agent frozen" {
					silence = "  silence_minutes: 0.05\n"
				}
				s := newSite(t, step, silence)
				for _, part := range []string{"server", "build1", "build2", "decider"} {
					s.start(part)
				}
				s.await(step, func() bool { return strings.HasSuffix(s.read("seen/at"), "\n") })
				fault.strike(s)
				if code := s.ended("decider"); code != 0 {
					t.Fatalf("it ended with %d\n%s", code, s.logs())
				}
				most := 2
				if fault.loses && !strings.HasPrefix(step, "order-") {
					most++
				}
				s.holds(most, strings.HasPrefix(name, "agent "))
			})
		}
	}
}

// waiting is who waits at the step.
func (s *site) waiting() int {
	pid, err := strconv.Atoi(strings.TrimSpace(s.read("seen/at")))
	s.must(err)
	return pid
}

func (s *site) onHost() bool {
	return s.step == "working" || strings.HasPrefix(s.step, "order-fetch") || strings.HasPrefix(s.step, "result-push")
}

// host is the one that has the first order, or gets it: the one with most jobs.
func (s *site) host() string { return "build1" }

func (s *site) signal(sig syscall.Signal, pids ...int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // it may have ended
	}
}

func (s *site) kill(name string) {
	s.signal(syscall.SIGKILL, s.procs[name].Process.Pid)
	_ = s.procs[name].Wait()
}

// pass lets who waits at the step go on, until it has passed it.
func (s *site) pass() {
	s.touch("seen/go")
	s.await("who waits to go on", func() bool { return s.there("seen/passed") })
}

// given waits until the decider has given an attempt up, or has ended without.
func (s *site) given() {
	s.await("an attempt to be given up", func() bool { return strings.Contains(s.read("decider.log"), "uncharged") || s.exited("decider") })
}

// holds wants what must be so after every fault.
func (s *site) holds(mostStarts int, charges bool) {
	s.t.Helper()
	l := s.ledger()
	for _, id := range []string{"T1", "T2"} {
		good := 0
		for _, a := range l.Attempts[id] {
			if a.Result == "success" {
				good++
			} else if a.Charged && !charges {
				s.t.Errorf("%s attempt %d is charged: %s: %s", id, a.ID, a.Outcome, a.Receipt.ErrorSummary)
			}
		}
		if l.TaskStatus[id] != "completed" || good != 1 {
			s.t.Errorf("%s is %s, with %d successes", id, l.TaskStatus[id], good)
		}
		if text := s.run("git", "show", "relay/"+siteEpic+":"+id+".txt"); text != id {
			s.t.Errorf("%s.txt has %q", id, text)
		}
	}
	if many := s.run("git", "rev-list", "--count", "--no-merges", "main..relay/"+siteEpic); many != "2" {
		s.t.Errorf("%s commits have landed", many)
	}
	starts := strings.Fields(s.read("seen/starts"))
	for i, mark := range starts {
		if slices.Contains(starts[:i], mark) {
			s.t.Errorf("the agent of %s was started twice", mark)
		}
	}
	if len(starts) > mostStarts {
		s.t.Errorf("%d agents were started, want %d at most", len(starts), mostStarts)
	}
	for _, host := range []string{"build1", "build2"} {
		s.await("the last agent of "+host, func() bool { return len(s.of(host, "\x00RELAY_ATTEMPT=")) == 0 })
		s.await("the last attempt of "+host, func() bool {
			held, err := filepath.Glob(s.path(host + "/.cache/relay/orders/*.held.json"))
			return err == nil && len(held) == 0
		})
	}
	s.t.Log(s.summary(&l, len(starts)))
	if s.t.Failed() {
		s.t.Log(s.logs())
	}
}

// summary says what the fault has cost.
func (s *site) summary(l *siteLedger, starts int) string {
	text := fmt.Sprintf("%d agents", starts)
	for _, id := range []string{"T1", "T2"} {
		for _, a := range l.Attempts[id] {
			if a.Result != "success" {
				text += fmt.Sprintf("; %s attempt %d %s, charged %t: %s", id, a.ID, a.Outcome, a.Charged, a.Receipt.ErrorSummary)
			}
		}
	}
	for _, dir := range []string{"remote.git", "project"} {
		refs := s.run("git", "-C", s.path(dir), "for-each-ref", "--format=%(refname)", "refs/relay/orders", "refs/relay/results", "refs/relay/"+siteEpic)
		if refs != "" {
			text += "; left in " + dir + ": " + strings.ReplaceAll(refs, "\n", " ")
		}
	}
	return text
}
