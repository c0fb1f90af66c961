package labtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/cmd/relay/internal/claudetest"
)

// The scored nights that TestScoredNight makes; .ci/score says how to start it.
var (
	scoreNights      = flag.Int("score", 0, "scored nights, with seeds from -seed on")
	scoreJobs        = flag.String("score-jobs", "4", "jobs of relay, separated by commas")
	scoreContestants = flag.String("score-contestants", "relay", "relay, loop, or both separated by a comma")
	scoreKeep        = flag.String("score-keep", "", "folder in which the nights are kept")
	scoreSandbox     = flag.String("score-sandbox", "off", "relay.sandbox of scored nights and projects")
	scoreCalls       = flag.Float64("score-calls", 1.1, "agent calls that are not too many, times the fewest")
)

// What every scored night of relay must reach.
const wantRight = 37 // of 38

// TestScoredNight has relay, or a plain loop in bash, do 40 tasks with agents that slip, lie, cheat, hang and crash,
// with a provider that fails, and with a kill in the middle. Tests that nobody has seen then say what is right.
func TestScoredNight(t *testing.T) { //nolint:paralleltest // a night is measured alone
	if *scoreNights == 0 {
		t.Skip("one night takes up to a minute: .ci/score")
	}
	fmt.Println(scoreHeader)
	for i := range *scoreNights { //nolint:paralleltest // a night is measured alone
		for contestant := range strings.SplitSeq(*scoreContestants, ",") {
			list := strings.Split(*scoreJobs, ",")
			if contestant == "loop" {
				list = []string{"1"}
			}
			for _, jobs := range list {
				round := *seed + uint64(i)
				t.Run(fmt.Sprintf("%s-%d-%s", contestant, round, jobs), func(t *testing.T) {
					n := newScoredNight(t, round, jobs)
					n.play(contestant)
					n.judge()
					fmt.Print(n.row(contestant))
					fmt.Fprintf(os.Stderr, "%s, seed %d, %s jobs:\n%s", contestant, round, jobs, n.reasons(contestant))
					if contestant == "relay" {
						n.holds()
					}
				})
			}
		}
	}
}

// scoredNight is one night of one contestant.
type scoredNight struct {
	*lab
	plan  *scoredPlan
	seed  uint64
	jobs  string
	score string // folder of the calls
	tasks string // folder of the tasks, for the loop
	state string // folder of what the loop has done

	took        time.Duration
	ended       []string // how each run ended
	interrupted int      // calls that the kill has cut
	verdicts    map[string]string
	called      map[string]bool // tasks that are called done
}

const scoredSettings = `relay:
  jobs: %s
  runners: [claude]
  timeout_minutes: 0.3
  silence_minutes: 0.06
  first_answer_minutes: 0.05
  linger_seconds: 1
  stop_grace_seconds: 0.5
  backoff_seconds: 0.3
  backoff_max_seconds: 3
  agents:
    claude: {type: claude, argv: [scored-agent], env: [%q]}
`

func newScoredNight(t *testing.T, seed uint64, jobs string) *scoredNight {
	t.Helper()
	dir := t.TempDir()
	if *scoreKeep != "" {
		dir = filepath.Join(*scoreKeep, strings.ReplaceAll(t.Name(), "/", "-"))
	}
	n := &scoredNight{
		plan: newScoredPlan(rand.New(rand.NewPCG(seed, 38))), seed: seed, jobs: jobs,
		called: make(map[string]bool), verdicts: make(map[string]string),
	}
	n.lab = newLabAt(t, filepath.Join(dir, "work"), n.plan.epic(), "")
	n.env = append(n.env, "RELAY_ISOLATION=worktree")
	n.score, n.tasks, n.state = n.inHome("score"), n.inHome("tasks"), n.inHome("state")
	n.env = append(n.env, "RELAY_SANDBOX="+*scoreSandbox, "RELAY_SANDBOX_WRITE="+n.score)
	n.settings(fmt.Sprintf(scoredSettings, jobs, scoredVariable+"="+n.score))
	for _, folder := range []string{"calls", "ends", "faults"} {
		claudetest.Must(os.MkdirAll(filepath.Join(n.score, folder), 0o755))
	}
	text, err := json.Marshal(n.plan)
	claudetest.Must(err)
	n.write(filepath.Join(n.score, "plan.json"), string(text))
	for name, text := range n.plan.files() {
		n.write(name, text)
	}
	for _, task := range n.plan.Tasks {
		folder := filepath.Join(n.tasks, task.ID)
		n.write(filepath.Join(folder, "brief"), task.title()+"\n\n"+task.description()+"\n\nIt is proved by: "+strings.Join(task.checks(), "; ")+"\n")
		n.write(filepath.Join(folder, "needs"), strings.Join(task.Needs, " "))
		n.write(filepath.Join(folder, "checks"), strings.Join(task.checks(), "\n")+"\n")
	}
	n.git("add", "-A")
	n.git("commit", "-q", "-m", "The library")
	return n
}

// play has a contestant work, kills it in the middle, and has it go on.
func (n *scoredNight) play(contestant string) {
	started := time.Now()
	for range 2 {
		r := n.contestant(contestant)
		n.begin(r)
		killed := len(n.ended) == 0 && n.killAt(r)
		n.end(r)
		if !killed {
			n.ended = append(n.ended, strconv.Itoa(r.code()))
			n.write(n.inHome("stderr"), r.stderr.String())
			break
		}
		n.write(n.inHome("stderr-killed"), r.stderr.String())
		n.ended = append(n.ended, "killed")
		if contestant == "relay" {
			n.quiet()
		}
		n.interrupted = len(n.list("calls")) - len(n.list("ends"))
	}
	n.took = time.Since(started)
}

func (n *scoredNight) contestant(name string) *running {
	r := n.prepared(nil, "work")
	if name == "loop" {
		script, err := filepath.Abs("../../../.ci/score-loop")
		claudetest.Must(err)
		agent, err := exec.LookPath("scored-agent")
		claudetest.Must(err)
		r.cmd.Path, r.cmd.Args = "/bin/bash", []string{"bash", script, n.tasks, n.state}
		r.cmd.Env = append(r.cmd.Env, "AGENT="+agent, "LIMIT=4", scoredVariable+"="+n.score)
	}
	return r
}

// killAt kills a contestant when so many agents have been called as the plan says, and reports whether it lived so long.
func (n *scoredNight) killAt(r *running) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(n.list("calls")) < n.plan.KillAt {
		select {
		case <-r.done:
			return false
		case <-tick.C:
		}
	}
	return r.cmd.Process.Kill() == nil
}

// list names the files of a folder of the calls, in order.
func (n *scoredNight) list(folder string) []string {
	entries, err := os.ReadDir(filepath.Join(n.score, folder))
	claudetest.Must(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Verdicts of the hidden tests on what is called done, and of what is not.
const (
	scoredRight = "right"
	scoredWrong = "done but wrong"
	scoredLost  = "lost"
	scoredOpen  = "not done"
)

// hiddenCases are arguments that no test in the repository uses.
var hiddenCases = []int{0, 3, 13, 27, 58, 101}

// judge holds the final branch against the hidden tests.
func (n *scoredNight) judge() {
	branch := landingBranch
	if entries, err := os.ReadDir(n.state); err == nil {
		branch = "refs/good"
		for _, e := range entries {
			if id, done := strings.CutSuffix(e.Name(), ".done"); done {
				n.called[id] = true
			}
		}
	} else {
		for id, status := range n.ledger().TaskStatus { // no task of the night is one that a person should look at
			n.called[id] = status == "completed" && len(n.last(id).Receipt.Looks) == 0
		}
	}
	final := filepath.Join(n.t.TempDir(), "final")
	n.git("worktree", "add", "-q", "--detach", final, branch)
	registry := n.read(filepath.Join(final, "registry.txt"))
	for _, t := range n.plan.Tasks {
		text := n.read(filepath.Join(final, "lib", t.file()))
		switch {
		case !n.called[t.ID]:
			n.verdicts[t.ID] = scoredOpen
		case n.hiddenTest(final, &t) && (t.Kind != kindMeets || strings.Contains(registry, t.function()+"\n")):
			n.verdicts[t.ID] = scoredRight
		case n.handedIn(&t) && !strings.Contains(text, t.code("0")):
			n.verdicts[t.ID] = scoredLost
		default:
			n.verdicts[t.ID] = scoredWrong
		}
	}
}

// handedIn reports whether an agent has come to the end of right work on a task.
func (n *scoredNight) handedIn(t *scoredTask) bool {
	return slices.ContainsFunc(n.list("ends"), func(end string) bool { return strings.HasSuffix(end, "-"+t.ID+"-right") })
}

// hiddenTest reports whether a function prints what it should.
func (n *scoredNight) hiddenTest(dir string, t *scoredTask) bool {
	script, want := ". ./lib/"+t.file(), ""
	for _, x := range hiddenCases {
		script += fmt.Sprintf("\n%s %d", t.function(), x)
		want += fmt.Sprintln(n.plan.value(t, x))
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.Output()
	return err == nil && string(out) == want
}

// count counts the tasks with a verdict.
func (n *scoredNight) count(verdict string) int {
	many := 0
	for _, v := range n.verdicts {
		if v == verdict {
			many++
		}
	}
	return many
}

// fewest are the calls that this night needs at least: also those that the kill has cut, and those that had begun when
// the provider refused the first one.
func (n *scoredNight) fewest() int {
	begun := 0
	for _, end := range n.list("ends") {
		if strings.HasSuffix(end, "-refused-begun") {
			begun++
		}
	}
	return n.plan.fewest() + n.interrupted + begun
}

const scoreHeader = "| contestant | seed | jobs | right of 38 | done but wrong | lost | calls | fewest | calls/fewest | seconds | ended |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|"

// row is one line of the table.
func (n *scoredNight) row(contestant string) string {
	calls, fewest := len(n.list("calls")), n.fewest()
	return fmt.Sprintf("| %s | %d | %s | %d | %d | %d | %d | %d | %.2f | %.0f | %s |\n", contestant, n.seed, n.jobs, n.count(scoredRight), n.count(scoredWrong), n.count(scoredLost),
		calls, fewest, float64(calls)/float64(fewest), n.took.Seconds(), strings.Join(n.ended, ", "))
}

// reasons say what has cost points: tasks that are not right, and those that took more calls than they must.
func (n *scoredNight) reasons(contestant string) string {
	var b strings.Builder
	var untried []string
	for _, t := range n.plan.Tasks {
		var came []string
		for _, end := range n.list("ends") {
			if parts := strings.SplitN(end, "-", 3); parts[1] == t.ID {
				came = append(came, parts[2])
			}
		}
		if len(came) == 0 {
			untried = append(untried, t.ID)
		} else if n.verdicts[t.ID] != scoredRight && t.canBeDone() || len(came) > scoredCalls[t.Kind] {
			fmt.Fprintf(&b, "  %s %s: %s; calls: %s%s\n", t.ID, t.Kind, n.verdicts[t.ID], strings.Join(came, ", "), n.inLedger(contestant, t.ID))
		}
	}
	if len(untried) > 0 {
		fmt.Fprintf(&b, "  never tried: %s\n", strings.Join(untried, " "))
	}
	return b.String()
}

// inLedger says what relay's ledger has of a task.
func (n *scoredNight) inLedger(contestant, id string) string {
	if contestant != "relay" {
		return ""
	}
	var b strings.Builder
	ledger := n.ledger()
	fmt.Fprintf(&b, "; %s", ledger.TaskStatus[id])
	if g, gated := ledger.Gated[id]; gated {
		fmt.Fprintf(&b, ", %s: %s", g.Reason, g.Detail)
	}
	for _, a := range ledger.Attempts[id] {
		if a.Result != "success" {
			fmt.Fprintf(&b, "\n      %s, charged %t: %s", a.Outcome, a.Charged, a.Receipt.ErrorSummary)
		}
	}
	return b.String()
}

// holds wants what every night of relay must reach.
func (n *scoredNight) holds() {
	if lost := n.count(scoredLost); lost > 0 {
		n.t.Errorf("%d tasks are lost", lost)
	}
	if wrong := n.count(scoredWrong); wrong > 0 {
		n.t.Errorf("%d tasks are called done and are not", wrong)
	}
	if got := n.count(scoredRight); got < wantRight {
		n.t.Errorf("%d tasks are right, want %d", got, wantRight)
	}
	if calls := len(n.list("calls")); float64(calls) > *scoreCalls*float64(n.fewest()) {
		n.t.Errorf("%d calls, and %d are the fewest", calls, n.fewest())
	}
	if !slices.Contains(n.ended, "killed") {
		n.t.Errorf("relay ended before it could be killed: %v", n.ended)
	}
}
