package labtest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay/cmd/relay/internal/claudetest"
)

// The nights that TestProjects makes; .ci/score projects says how to start it.
var (
	projects            = flag.Bool("projects", false, "a night of small projects with honest agents")
	projectsJobs        = flag.String("projects-jobs", "4", "jobs of relay")
	projectsContestants = flag.String("projects-contestants", "relay", "relay, rounds, or both separated by a comma")
	projectsOnly        = flag.String("projects-only", "", "the projects of the night to make, such as p01,p04; all when empty")
	projectsHold        = flag.Bool("projects-hold", false, "fail below the wanted score")
)

// What a night of projects of relay must reach with -projects-hold; without, it still fails with a task that is wrong or lost.
const (
	projectsRight = 0.97 // of the tasks that can be done
	projectsCalls = 1.15 // times the fewest
)

// TestProjects has relay, or a loop in bash, do the tasks of small projects with agents that are honest and behave as real ones.
// Hidden tests then say what is right.
func TestProjects(t *testing.T) { //nolint:paralleltest // a night is measured alone
	if !*projects {
		t.Skip("one night takes a minute: .ci/score projects")
	}
	fmt.Println(projectsHeader)
	var tables strings.Builder
	for contestant := range strings.SplitSeq(*projectsContestants, ",") { //nolint:paralleltest // a night is measured alone
		list := strings.Split(*projectsJobs, ",")
		if contestant == "rounds" {
			list = []string{"1"}
		}
		for _, jobs := range list {
			t.Run(fmt.Sprintf("%s-%d-%s", contestant, *seed, jobs), func(t *testing.T) {
				night := &projectsNight{contestant: contestant, jobs: jobs, behaviours: map[string]*behaviour{}}
				for i, p := range newProjects(rand.New(rand.NewPCG(*seed, 38))) {
					if *projectsOnly == "" || slices.Contains(strings.Split(*projectsOnly, ","), p.Name) {
						t.Run(p.Name, func(t *testing.T) {
							n := newProjectNight(t, p, contestant, jobs, i)
							n.play()
							n.judge()
							night.add(n)
							fmt.Fprintf(os.Stderr, "%s, seed %d, %s jobs, %s (%s, %s), %.1f s:\n%s", contestant, *seed, jobs, p.Name, p.Language, cmp.Or(p.Trait, "nothing special"), n.took.Seconds(), n.reasons())
						})
					}
				}
				fmt.Print(night.row())
				tables.WriteString(night.table())
				night.holds(t)
			})
		}
	}
	fmt.Print(tables.String())
}

// projectNight is one project of one night. Its verdicts are those of a scored night.
type projectNight struct {
	*scoredNight
	project    *labProject
	contestant string
	out        string          // folder that all checkouts share
	calls      map[string]int  // of each task
	done       map[string]bool // tasks that the contestant calls done
	looks      map[string]bool // of these, those that need a look
	lost       map[string]bool // tasks that an agent had done, and of which nothing is left
	green      bool            // the suite passes on the final tree
}

const projectSettings = `relay:
  jobs: %s
  runners: [claude]
  timeout_minutes: 0.5
  linger_seconds: 1
  stop_grace_seconds: 0.5
  backoff_seconds: 0.3
  backoff_max_seconds: 3
  out_after_minutes: 0.05
  env: [%s]
  agents:
    claude: {type: claude, argv: [project-agent], env: [%q]}
`

func newProjectNight(t *testing.T, p *labProject, contestant, jobs string, number int) *projectNight {
	t.Helper()
	dir := t.TempDir()
	if *scoreKeep != "" {
		dir = filepath.Join(*scoreKeep, strings.ReplaceAll(t.Name(), "/", "-"))
	}
	n := &projectNight{project: p, contestant: contestant, calls: map[string]int{}}
	n.done, n.looks, n.lost = map[string]bool{}, map[string]bool{}, map[string]bool{}
	n.scoredNight = &scoredNight{seed: *seed, jobs: jobs, verdicts: map[string]string{}}
	p.Port = freePort()
	n.lab = newLabAt(t, filepath.Join(dir, "work"), p.epic(), "")
	p.Root, n.out = n.root, n.inHome("out")
	n.score, n.tasks, n.state = n.inHome("score"), n.inHome("tasks"), n.inHome("state")
	n.env = append(n.env, "RELAY_SANDBOX="+*scoreSandbox, "RELAY_SANDBOX_WRITE="+n.score+","+n.out)
	for _, folder := range []string{n.out, n.score + "/calls", n.score + "/ends"} {
		claudetest.Must(os.MkdirAll(folder, 0o755))
	}
	text, err := json.Marshal(p)
	claudetest.Must(err)
	n.write(filepath.Join(n.score, "plan.json"), string(text))
	n.equip()
	for name, text := range p.files(n.out) {
		n.write(name, text)
	}
	if p.Trait == traitHook {
		claudetest.Must(os.Chmod(n.path(".githooks/pre-commit"), 0o755))
	}
	order := ""
	for _, task := range p.Tasks {
		title, text := p.description(task)
		n.write(filepath.Join(n.tasks, task.ID), title+"\n\n"+text+"\n")
		checks := p.checks(task)
		if p.Trait != traitRed {
			checks = append(checks, languages[p.Language].suite)
		}
		n.write(filepath.Join(n.tasks, task.ID+".check"), strings.Join(checks, " && ")+"\n")
		order += task.ID + "\n"
	}
	n.write(filepath.Join(n.tasks, "order"), order)
	n.git("add", "-A")
	n.git("commit", "-q", "-m", "The project")
	return n
}

// freePort returns a port on which nothing listens.
func freePort() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	claudetest.Must(err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// equip writes the settings, and has the programs of the project's language be found.
func (n *projectNight) equip() {
	python, err := exec.Command("python3", "-c", "import os, sys; print(os.path.dirname(sys.executable))").Output()
	claudetest.Must(err)
	n.env = append(n.env, "RELAY_ISOLATION=worktree", projectVariable+"="+n.score, "PATH="+strings.TrimSpace(string(python))+":"+os.Getenv("PATH"))
	var env []string
	if n.project.Language == "go" {
		cache, err := exec.Command("go", "env", "GOCACHE").Output() // with the packages of the standard library in it
		claudetest.Must(err)
		env = append(goEnv(strings.TrimSpace(string(cache))), "GOPROXY=off")
		n.env = append(n.env, env...)
	}
	variable := projectVariable + "=" + n.score
	settings := fmt.Sprintf(projectSettings, n.jobs, strings.Join(env, ", "), variable)
	reviewers := map[string]string{}
	switch n.project.Trait {
	case traitOutage:
		settings = strings.Replace(settings, "  agents:", "  worktree: {setup: [sh ci/setup.sh]}\n  agents:", 1)
	case traitHook:
		settings = strings.Replace(settings, "  agents:", "  hooks: true\n  agents:", 1)
		n.git("config", "core.hooksPath", ".githooks")
	case traitQuota:
		reviewers["ann"] = "limit"
	case traitLogin:
		reviewers["ann"], reviewers["bob"] = "login", "approves"
	}
	names := ""
	for name, says := range reviewers {
		settings += fmt.Sprintf("    %s: {type: claude, argv: [project-agent], env: [%q, %q]}\n", name, variable, projectReviewer+"="+says)
		names += ", " + name
	}
	if names != "" {
		settings += "quality_gate: {reviewers: [" + names[2:] + "]}\n"
	}
	n.settings(settings)
}

// play has the contestant work, and waits for its end.
func (n *projectNight) play() {
	r := n.prepared(nil, "work")
	if n.script() {
		script, err := filepath.Abs("../../../.ci/history-loop")
		claudetest.Must(err)
		agent, err := exec.LookPath("project-agent")
		claudetest.Must(err)
		r.cmd.Path, r.cmd.Args = "/bin/bash", []string{"bash", script, n.tasks, n.state, "3"}
		r.cmd.Env = append(r.cmd.Env, "AGENT="+agent, "CHECK=. "+n.tasks+"/$RELAY_TASK.check")
	}
	started := time.Now()
	n.begin(r)
	if n.project.Trait == traitMoving && !n.script() {
		n.move(r)
	}
	select {
	case <-r.done:
	case <-time.After(patience): // what it has not done counts as not done
		n.t.Errorf("%s: %s did not end within %s; home/stderr has its goroutines", n.project.Name, n.contestant, patience)
		r.signal(n.t, syscall.SIGQUIT)
		<-r.done
	}
	n.took = time.Since(started)
	n.write(n.inHome("stderr"), r.stderr.String())
}

// move commits on main twice, each time when another agent has been called.
func (n *projectNight) move(r *running) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for i := 1; i <= 2; {
		select {
		case <-r.done:
			return
		case <-tick.C:
			if len(n.list("calls")) >= 2*i {
				n.write(fmt.Sprintf("notes-%d.md", i), "A note.\n")
				n.git("add", fmt.Sprintf("notes-%d.md", i))
				n.git("commit", "-q", "-m", "A note")
				i++
			}
		}
	}
}

func (n *projectNight) script() bool { return n.contestant == "rounds" }

// judge holds the final branch against the hidden tests.
func (n *projectNight) judge() {
	for _, call := range n.list("calls") {
		n.calls[n.read(filepath.Join(n.score, "calls", call))]++
	}
	branch := "refs/heads/" + landingBranch
	ledger := n.ledger()
	for _, t := range n.project.Tasks {
		if n.script() {
			branch = "refs/good"
			n.done[t.ID] = there(filepath.Join(n.state, t.ID+".done"))
			continue
		}
		n.done[t.ID] = ledger.TaskStatus[t.ID] == "completed"
		n.looks[t.ID] = n.done[t.ID] && len(n.last(t.ID).Receipt.Looks) > 0
	}
	if exec.Command("git", "-C", n.root, "rev-parse", "-q", "--verify", branch).Run() != nil {
		branch = "main" // nothing has landed
	}
	final := filepath.Join(n.t.TempDir(), "final")
	n.git("worktree", "add", "-q", "--detach", final, branch)
	passed := n.hiddenTests(final)
	suite := languages[n.project.Language].suite
	n.green = n.commandIn(final, suite+" || "+suite) == nil
	landed, kept := n.git("rev-list", "--objects", branch), n.git("rev-list", "--objects", "--all", "--reflog")
	for _, t := range n.project.Tasks {
		works := passed[t.name()]
		if t.Kind == agentVerify {
			works = n.green
		}
		stray := slices.ContainsFunc(values(t.stray()), func(text string) bool { return strings.Contains(landed, blob(text)) })
		switch {
		case !n.done[t.ID]:
			n.verdicts[t.ID] = scoredOpen
		case !works || stray && !(t.Kind == agentLeak && n.looks[t.ID]):
			n.verdicts[t.ID] = scoredWrong
		case n.looks[t.ID] && !n.project.mayLook(t):
			n.verdicts[t.ID] = projectFlagged
		default:
			n.verdicts[t.ID] = scoredRight
		}
		n.lost[t.ID] = !works && t.Kind != agentVerify && n.handedIn(&scoredTask{ID: t.ID}) && !n.kept(t, kept)
	}
}

// projectFlagged is the verdict of right work that relay wants a person to look at, without need.
const projectFlagged = "flagged"

func values(m map[string]string) (list []string) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// kept reports whether the code of a task is in one of git's objects, in a patch in relay's folder, or in the user's checkout.
func (n *projectNight) kept(t *projectTask, objects string) bool {
	path, text := n.project.code(t)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Contains(objects, blob(text)) || strings.Contains(objects, blob(strings.Replace(text, "\n", "  \n", 1))) || n.read(path) == text ||
		exec.Command("grep", "-rqF", lines[len(lines)-1], n.path(".agents-os/relay/runs")).Run() == nil
}

func (n *projectNight) commandIn(dir, command string) error {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = dir, n.env
	return cmd.Run()
}

// hiddenTests runs tests that no task has on the final tree, and returns those that pass, by the names of their tasks.
func (n *projectNight) hiddenTests(final string) map[string]bool {
	l := languages[n.project.Language]
	imported, tried := l.head, ""
	for _, t := range n.project.Tasks {
		if path, _ := n.project.code(t); there(filepath.Join(final, path)) {
			imported += n.project.written(l.imported, t, 0, 0)
			tried += n.project.written(l.tried, t, 41, 0)
		}
	}
	command := strings.Fields(l.hidden)
	file := filepath.Join(final, command[len(command)-1])
	n.write(file, imported+tried+l.end)
	cmd := exec.Command("sh", "-c", l.hidden+" 2>&1")
	cmd.Dir, cmd.Env = final, n.env
	out, _ := cmd.Output() // it names those that are right, whatever the others do
	claudetest.Must(os.Remove(file))
	passed := map[string]bool{}
	for name := range strings.FieldsSeq(string(out)) {
		passed[name] = true
	}
	changes := n.read(filepath.Join(final, "CHANGES.md"))
	for _, t := range n.project.Tasks {
		path, code := n.project.code(t)
		if t.Kind == agentAppend && strings.Count(changes, "- "+t.name()+"\n") != 1 || n.project.Trait == traitHook && n.read(filepath.Join(final, path)) != code {
			delete(passed, t.name())
		}
	}
	return passed
}

// fewest are the calls that the project needs at least: also those that have shown that a task needs another one.
func (n *projectNight) fewest(t *projectTask) int {
	early := slices.ContainsFunc(n.list("ends"), func(end string) bool { return strings.HasSuffix(end, "-"+t.ID+"-early") })
	if early {
		return n.project.fewest(t) + 1
	}
	return n.project.fewest(t)
}

// came lists what the calls for a task came to.
func (n *projectNight) came(t *projectTask) (list []string) {
	for _, end := range n.list("ends") {
		if parts := strings.SplitN(end, "-", 3); parts[1] == t.ID {
			list = append(list, parts[2])
		}
	}
	return list
}

// why says in a few words what became of a task that is not right.
func (n *projectNight) why(t *projectTask) string {
	if n.script() {
		return n.verdicts[t.ID]
	}
	ledger := n.ledger()
	gate, gated := ledger.Gated[t.ID]
	why := n.verdicts[t.ID]
	switch {
	case n.looks[t.ID]:
		why += ": " + n.last(t.ID).Receipt.Looks[0].Cause
	case gated:
		why = gate.Reason + ": " + gate.Detail
	case why == scoredOpen && len(ledger.Attempts[t.ID]) == 0:
		why = "never tried"
	case why == scoredOpen:
		why = ledger.TaskStatus[t.ID] + ": " + n.last(t.ID).Receipt.ErrorSummary
	}
	return why
}

// reasons say what has cost points.
func (n *projectNight) reasons() string {
	var b strings.Builder
	for _, t := range n.project.Tasks {
		came := n.came(t)
		if t.canBeDone() && n.verdicts[t.ID] != scoredRight || n.calls[t.ID] > n.fewest(t) || n.lost[t.ID] || n.verdicts[t.ID] == scoredWrong {
			lost := map[bool]string{true: ", lost"}[n.lost[t.ID]]
			fmt.Fprintf(&b, "  %s %s (needs %s): %s%s; calls: %s%s\n", t.ID, t.Kind, cmp.Or(t.Hidden, strings.Join(t.Needs, ""), "nothing"), n.verdicts[t.ID], lost,
				strings.Join(came, ", "), n.inLedger(n.contestant, t.ID))
		}
	}
	if !n.green && n.project.Trait != traitRed {
		b.WriteString("  the suite fails on the final tree\n")
	}
	return b.String()
}
