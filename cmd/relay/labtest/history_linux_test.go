package labtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/cmd/relay/internal/claudetest"
)

// The nights that TestHistory makes; .ci/score history says how to start it.
var (
	history            = flag.Bool("history", false, "nights whose tasks are the commits of a window of a real history")
	historyRepo        = flag.String("history-repo", "", "repository or bundle with the window; without one, the committed windows")
	historyRange       = flag.String("history-range", "", "FROM..TO of the window in -history-repo")
	historyTasks       = flag.String("history-tasks", "", "file with the tasks of -history-repo; made when it does not exist")
	historyPlans       = flag.String("history-plans", "good,files,none,shuffled", "plans")
	historyJobs        = flag.String("history-jobs", "1,4", "jobs of relay")
	historyContestants = flag.String("history-contestants", "relay,loop,rounds,idle", "contestants")
	historyCache       = flag.String("history-cache", "", "build cache of all nights, whose seconds then say little; without it, each begins with one of the base")
	historySeconds     = flag.Float64("history-seconds", 0, "seconds that an agent works, beside its checks")
	historyHold        = flag.Bool("history-hold", false, "fail when relay does not reach the wanted right, calls and ratio, too")
	historyRight       = flag.Float64("history-right", 1, "wanted share of tasks that are right")
	historyCalls       = flag.Float64("history-calls", 1.5, "wanted most calls for a task that is right")
	historyRatio       = flag.Float64("history-ratio", 1.5, "wanted most time of the plan good, times the bound")
)

// TestHistory has relay, and loops in bash, do the commits of a real history again with an agent that knows each of them:
// what is not done, or done and wrong, is so because of the contestant and the plan.
func TestHistory(t *testing.T) { //nolint:paralleltest // a night is measured alone
	if !*history {
		t.Skip("it takes long: .ci/score history")
	}
	fmt.Println(historyHeader)
	for _, w := range windows(t) { //nolint:paralleltest // a night is measured alone
		if *historySeconds > 0 {
			w.measure(t)
		}
		for contestant := range strings.SplitSeq(*historyContestants, ",") {
			for _, kind := range historyKinds(contestant) {
				t.Run(fmt.Sprintf("%s-%s-%s-%s", w.name, contestant, kind[0], kind[1]), func(t *testing.T) {
					n := newHistoryNight(t, w, contestant, kind[0], kind[1])
					n.play()
					n.judge()
					fmt.Print(n.row())
					fmt.Fprintf(os.Stderr, "%s, %s, plan %s, %s jobs:\n%s", w.name, contestant, kind[0], kind[1], n.reasons())
					n.holds()
				})
			}
		}
	}
}

// historyKinds returns plan and jobs of each night of a contestant. A loop knows no dependencies or files: of the plans in
// history's order it does one. So does relay with idle agents.
func historyKinds(contestant string) (kinds [][2]string) {
	jobs := strings.Split(*historyJobs, ",")
	for plan := range strings.SplitSeq(*historyPlans, ",") {
		switch {
		case contestant == "relay":
			for _, j := range jobs {
				kinds = append(kinds, [2]string{plan, j})
			}
		case contestant == "idle" && plan == "none":
			kinds = append(kinds, [2]string{plan, jobs[len(jobs)-1]})
		case contestant != "idle" && (plan == "none" || plan == "shuffled"):
			kinds = append(kinds, [2]string{plan, "1"})
		}
	}
	return kinds
}

// historyNight is one night of one contestant. Its verdicts are those of a scored night.
type historyNight struct {
	*scoredNight
	window     *historyWindow
	contestant string
	kind       string // of the plan
	history    historyPlan
	done       map[string]bool // tasks that the contestant calls done
	looks      map[string]bool // of these, those that need a look
	lost       []string        // tasks that an agent had done, and that are in no ref
	code       int             // exit code
}

const historySettings = `relay:
  jobs: %s
  runners: [claude]
  linger_seconds: 1
  stop_grace_seconds: 0.5
  backoff_seconds: 0.3
  backoff_max_seconds: 3
  env: [%s]
  agents:
    claude: {type: claude, argv: [history-agent], env: [%q]}
`

func newHistoryNight(t *testing.T, w *historyWindow, contestant, kind, jobs string) *historyNight {
	t.Helper()
	dir := t.TempDir()
	if *scoreKeep != "" {
		dir = filepath.Join(*scoreKeep, strings.ReplaceAll(t.Name(), "/", "-"))
	}
	n := &historyNight{window: w, contestant: contestant, kind: kind, done: map[string]bool{}, looks: map[string]bool{}}
	n.history = historyPlan{
		Source: w.source, Check: historyCheck, Idle: contestant == "idle", Seconds: *historySeconds,
		Tasks: w.planned(kind, rand.New(rand.NewPCG(*seed, 38))),
	}
	n.scoredNight = &scoredNight{seed: *seed, jobs: jobs, verdicts: map[string]string{}}
	n.lab = newLabAt(t, filepath.Join(dir, "work"), historyEpic(n.history.Tasks), "")
	n.score, n.tasks, n.state = n.inHome("score"), n.inHome("tasks"), n.inHome("state")
	cache := *historyCache
	if cache == "" {
		cache = filepath.Join(t.TempDir(), "cache")
		claudetest.Must(exec.Command("cp", "-r", w.cache, cache).Run())
	}
	env := append(goEnv(cache), "GOPROXY=off")
	n.env = append(append(n.env, "RELAY_ISOLATION=worktree", historyVariable+"="+n.score), env...)
	n.settings(fmt.Sprintf(historySettings, jobs, `"`+strings.Join(env, `", "`)+`"`, historyVariable+"="+n.score))
	for _, folder := range []string{"calls", "ends"} {
		claudetest.Must(os.MkdirAll(filepath.Join(n.score, folder), 0o755))
	}
	text, err := json.Marshal(n.history)
	claudetest.Must(err)
	n.write(filepath.Join(n.score, "plan.json"), string(text))
	order := ""
	for _, task := range n.history.Tasks {
		n.write(filepath.Join(n.tasks, task.ID), task.Title+"\n")
		order += task.ID + "\n"
	}
	n.write(filepath.Join(n.tasks, "order"), order)
	w.fill(n.root, w.tasks[0].Before)
	n.git("add", "-A")
	n.git("commit", "-q", "-m", "The base")
	return n
}

// play has the contestant work, and waits for its end.
func (n *historyNight) play() {
	r := n.prepared(nil, "work")
	if rounds := map[string]string{"loop": "1", "rounds": "3"}[n.contestant]; rounds != "" {
		script, err := filepath.Abs("../../../.ci/history-loop")
		claudetest.Must(err)
		agent, err := exec.LookPath("history-agent")
		claudetest.Must(err)
		r.cmd.Path, r.cmd.Args = "/bin/bash", []string{"bash", script, n.tasks, n.state, rounds}
		r.cmd.Env = append(r.cmd.Env, "AGENT="+agent, "CHECK="+historyCheck)
	}
	started := time.Now()
	n.begin(r)
	<-r.done // its tasks may take hours
	n.took, n.code = time.Since(started), r.code()
	n.write(n.inHome("stderr"), r.stderr.String())
}

// judge compares the final branch with the tasks: what only a task's commit adds has to be there, and what only it
// removes has to be gone.
func (n *historyNight) judge() {
	branch := "refs/heads/" + landingBranch
	if n.script() {
		branch = "refs/good"
		for _, t := range n.history.Tasks {
			_, err := os.Stat(filepath.Join(n.state, t.ID+".done"))
			n.done[t.ID] = err == nil
		}
	} else {
		ledger := n.ledger()
		for _, t := range n.history.Tasks {
			n.done[t.ID] = ledger.TaskStatus[t.ID] == "completed"
			if list := ledger.Attempts[t.ID]; n.done[t.ID] && len(list) > 0 {
				n.looks[t.ID] = len(list[len(list)-1].Receipt.Looks) > 0
			}
		}
	}
	refs := strings.Fields(n.git("for-each-ref", "--format=%(refname)")) // also of trees and blobs, which have none of the files
	own := n.window.ownLines()
	for _, t := range n.history.Tasks {
		lines := own[t.Commit]
		right := slices.Contains(refs, branch) && lines.in(n.root, branch)
		switch {
		case !n.done[t.ID]:
			n.verdicts[t.ID] = scoredOpen
		case right:
			n.verdicts[t.ID] = scoredRight
		default:
			n.verdicts[t.ID] = scoredWrong
		}
		if !right && !n.history.Idle && n.handedIn(&scoredTask{ID: t.ID}) &&
			!slices.ContainsFunc(refs, func(ref string) bool { return lines.in(n.root, ref) }) {
			n.lost = append(n.lost, t.ID)
		}
	}
}

// script reports whether the contestant is a script.
func (n *historyNight) script() bool { return n.contestant == "loop" || n.contestant == "rounds" }

const historyHeader = "| window | contestant | plan | jobs | tasks | done | with a look | right | false | lost | calls | seconds | bound | time/bound | exit |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"

// row is one line of the table.
func (n *historyNight) row() string {
	done, looks := 0, 0
	for id, is := range n.done {
		if is {
			done++
		}
		if n.looks[id] {
			looks++
		}
	}
	bound, ratio := "", ""
	if b := n.bound(); b > 0 {
		bound, ratio = fmt.Sprintf("%.0f", b), fmt.Sprintf("%.2f", n.took.Seconds()/b)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %d | %d | %d | %d | %d | %d | %d | %.0f | %s | %s | %d |\n", n.window.name, n.contestant, n.kind, n.jobs, len(n.history.Tasks),
		done, looks, n.count(scoredRight), n.count(scoredWrong), len(n.lost), len(n.list("calls")), n.took.Seconds(), bound, ratio, n.code)
}

// reasons say why tasks are not right, from what their agents claimed and from relay's ledger.
func (n *historyNight) reasons() string {
	var b strings.Builder
	for _, t := range n.history.Tasks {
		if n.verdicts[t.ID] == scoredRight && !n.looks[t.ID] {
			continue
		}
		var came []string
		for _, end := range n.list("ends") {
			if parts := strings.SplitN(end, "-", 3); parts[1] == t.ID {
				came = append(came, parts[2])
			}
		}
		fmt.Fprintf(&b, "  %s (%s, %s; needs %v): %s; calls: %s%s\n", t.ID, t.Commit[:8], t.Title, t.needed, n.verdicts[t.ID], strings.Join(came, ", "), n.inLedger(map[bool]string{false: "relay"}[n.script()], t.ID))
	}
	if len(n.lost) > 0 {
		fmt.Fprintf(&b, "  lost: %s\n", strings.Join(n.lost, " "))
	}
	return b.String()
}

// bound is the seconds that a list scheduler needs for the plan: agents side by side in the jobs, checks on the cores. It
// is 0 where times are not measured.
func (n *historyNight) bound() (makespan float64) {
	if n.kind != "good" || n.contestant != "relay" || *historySeconds == 0 {
		return 0
	}
	jobs, err := strconv.Atoi(n.jobs)
	claudetest.Must(err)
	free, cores := make([]float64, jobs), make([]float64, runtime.NumCPU())
	ended := map[string]float64{}
	for len(ended) < len(n.history.Tasks) {
		next, begin := -1, 0.0
		for i, t := range n.history.Tasks { // of those that are ready first, the first
			_, done := ended[t.ID]
			ready := slices.Min(free)
			for _, id := range t.Needs {
				end, is := ended[id]
				done = done || !is
				ready = max(ready, end)
			}
			if !done && (next < 0 || ready < begin) {
				next, begin = i, ready
			}
		}
		t := n.history.Tasks[next]
		core := slices.Index(cores, slices.Min(cores))
		end := max(begin+*historySeconds, cores[core]) + t.seconds
		ended[t.ID], cores[core], free[slices.Index(free, slices.Min(free))] = end, end, end
		makespan = max(makespan, end)
	}
	return makespan
}

// holds wants that nothing is done and wrong, or lost; the rest only where that is asked for.
func (n *historyNight) holds() {
	if n.script() || n.history.Idle {
		return
	}
	if wrong := n.count(scoredWrong); wrong > 0 {
		n.t.Errorf("%d tasks are called done and are not", wrong)
	}
	if len(n.lost) > 0 {
		n.t.Errorf("what agents did of %s is in no ref", strings.Join(n.lost, ", "))
	}
	if !*historyHold {
		return
	}
	right := n.count(scoredRight)
	if share := float64(right) / float64(len(n.history.Tasks)); share < *historyRight {
		n.t.Errorf("%.2f of the tasks are right, want %.2f", share, *historyRight)
	}
	if calls := len(n.list("calls")); float64(calls) > *historyCalls*float64(right) {
		n.t.Errorf("%d calls for %d tasks that are right", calls, right)
	}
	if b := n.bound(); b > 0 && n.took.Seconds() > *historyRatio*b {
		n.t.Errorf("the night took %.0f s, and its bound is %.0f s", n.took.Seconds(), b)
	}
}
