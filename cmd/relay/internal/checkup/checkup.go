// Package checkup looks at everything that could stop a run: repository, configuration, plan, ledger, agents, disk.
package checkup

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/runners/process"
)

// The states of a point.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// Point is one thing relay check looked at.
type Point struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	Place   string `json:"place,omitempty"` // FILE:LINE of what it is about, if known
	Code    int    `json:"-"`               // exit code of relay check, when it fails
}

// Host is what an examination needs of the program that it is part of.
type Host struct {
	Session    func() (project.Session, error)
	Trust      func(context.Context, *project.Project) error                               // asks for what the repository grants
	Guardian   func() (*process.Guardian, error)                                           // starts a guardian
	StayAwake  func(ctx context.Context) (name string, err error)                          // tries what keeps the machine awake
	RunOptions func(context.Context, *project.Project, *project.Plan) orchestrator.Options // of a run that begins now
	RunChecks  bool                                                                        // every check is run once
	Ask        bool                                                                        // every runner and reviewer is sent a request
	Beyond     cli.Beyond                                                                  // nil: nothing else
}

// checkup gathers the points. Each step uses what the steps before have found.
type checkup struct {
	host     Host
	project  *project.Project
	plan     *project.Plan
	points   []Point
	checks   []Check
	programs programs
}

// Run checks everything that could fail in a run, in the order that a user should put it right. With Host.RunChecks it returns as well
// what each check came to, those of the epic first and then those of its open tasks.
func Run(ctx context.Context, h Host) ([]Point, []Check) {
	c := &checkup{host: h, programs: programs{guard: h.Guardian}}
	checkAll(ctx, c)
	return c.points, c.checks
}

func (c *checkup) add(state, name, message, fix string) {
	p := Point{Name: name, State: state, Message: message, Fix: fix}
	if state == Fail {
		p.Code = terminal.Failure
	}
	c.points = append(c.points, p)
}

// fail turns an error into points, in the words every other command uses for it.
func (c *checkup) fail(name string, err error) {
	d := terminal.Diagnose(err)
	for _, m := range d.Messages {
		c.points = append(c.points, Point{Name: name, State: Fail, Message: m, Code: d.Code})
	}
	c.points[len(c.points)-1].Fix = d.Hint
}

func checkAll(ctx context.Context, c *checkup) {
	session, err := c.host.Session()
	if err != nil {
		c.fail("repository", err)
		return
	}
	p, err := project.Repository(ctx, session)
	if err != nil {
		c.fail("repository", err)
		return
	}
	located, err := project.Locate(ctx, session, nil)
	if err == nil {
		err = c.host.Trust(ctx, located) // more would start what it names
	}
	if err != nil {
		c.project = p
		checkRepository(ctx, c)
		c.fail("configuration", err)
		checkUnread(c)
		return
	}
	c.project = located
	checkRepository(ctx, c)
	c.add(OK, "configuration", "read", "")
	for _, w := range located.Config.Warnings {
		c.add(Warn, "configuration", w, "")
	}
	checkUnread(c)
	checkLocalFile(ctx, c)
	checkFolder(c)
	checkSpace(c)
	checkWorktrees(ctx, c)
	checkRules(ctx, c)
	if checkEpic(c) {
		checkLedger(ctx, c)
	}
	defer c.programs.close()
	checkRunners(ctx, c)
	checkReviewers(ctx, c)
	if c.plan != nil {
		checkProtected(ctx, c)
		checkBudget(c)
	}
	if c.host.Ask {
		askAgents(ctx, c)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		c.add(Fail, "shell", "there is no sh to run acceptance commands", "put sh on the PATH")
	}
	checkSandbox(ctx, c)
	checkSleep(ctx, c)
	if c.host.Beyond != nil {
		c.host.Beyond(ctx, c.project.Root, c.host.Ask, c.add)
	}
	if c.plan != nil && c.host.RunChecks {
		runChecks(ctx, c)
	}
}

// Write prints the points and checks for people, and whether relay work can begin.
func Write(w *terminal.Writer, points []Point, checks []Check) {
	counts, widest := map[string]int{}, plaintext.WidestOf(points, func(p Point) string { return p.Name })
	paint := map[string]func(string) string{OK: w.Palette.Good, Warn: w.Palette.Wait, Fail: w.Palette.Bad}
	for i, p := range points {
		counts[p.State]++
		if p.Name == "checks" && len(checks) > 0 {
			writeChecks(w, checks)
			checks = nil
		}
		state := paint[p.State](p.State) + strings.Repeat(" ", max(4-len(p.State), 0))
		fmt.Fprintf(w, "%s  %s  %s\n", state, terminal.Pad(p.Name, widest), folded(w, p.Message, widest+8, p.Place != ""))
		if fix := p.remedy(); fix != "" && (i+1 == len(points) || points[i+1].remedy() != fix) {
			for row := range strings.SplitSeq(fix, "\n") {
				fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", widest+8), folded(w, row, widest+8, p.Place != ""))
			}
		}
	}
	switch {
	case counts[Fail] > 0:
		fmt.Fprintf(w, "\n%s\n", paint[Fail](plaintext.Count(counts[Fail], "problem")+" to fix before relay work"))
	case counts[Warn] > 0:
		fmt.Fprintf(w, "\n%s: relay work\n", paint[Warn]("ready, with "+plaintext.Count(counts[Warn], "warning")))
	default:
		fmt.Fprintf(w, "\n%s: relay work\n", paint[OK]("ready"))
	}
}

// folded returns text for a line with an indentation. On a terminal it breaks lines of prose; commands stay fit to be copied.
func folded(w *terminal.Writer, s string, indent int, prose bool) string {
	if prose && terminal.IsTerminal(w.Dest) {
		return terminal.Hang(s, terminal.Columns(w.Dest), strings.Repeat(" ", indent))
	}
	return plaintext.Escape(s)
}
