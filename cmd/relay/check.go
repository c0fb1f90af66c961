package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
)

type checkOptions struct {
	app  *app
	json bool
	run  bool
}

func newCheckCommand(a *app) *cobra.Command {
	opts := checkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look at everything that could fail at 03:00",
		Long: `Look at everything that could fail at 03:00: repository, configuration, epic,
ledger, runners, disk. Every line that is not ok says what to do about it.
With --run it also runs every check of the epic and of its tasks once, in clean
checkouts, and says which of them cannot run at all.

Exit code 0 when nothing fails; warnings do not count.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCheck(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&opts.run, "run", false, "also run every check once in a clean checkout, as a run does before each agent")
	return cmd
}

// The states of a point.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
)

// point is one thing relay check looked at.
type point struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	code    int
}

// checkAnswer is what relay check --json prints.
type checkAnswer struct {
	OK     bool    `json:"ok"`
	Points []point `json:"points"`
}

func runCheck(ctx context.Context, opts checkOptions) error {
	c := checkup{app: opts.app, run: opts.run}
	c.all(ctx)
	code := exit.OK
	for _, p := range c.points {
		if p.State == stateFail && code == exit.OK {
			code = p.code
		}
	}
	if opts.json {
		if err := opts.app.printJSON(checkAnswer{OK: code == exit.OK, Points: c.points}); err != nil {
			return err
		}
	} else {
		tellPoints(opts.app.out, c.points)
	}
	if code != exit.OK {
		return exit.Code(code)
	}
	return nil
}

func tellPoints(w io.Writer, points []point) {
	counts, widest := map[string]int{}, 0
	for _, p := range points {
		widest = max(widest, len(p.Name))
	}
	for i, p := range points {
		counts[p.State]++
		fmt.Fprintf(w, "%-4s  %s  %s\n", p.State, terminal.Pad(p.Name, widest), safe(p.Message))
		if p.Fix != "" && (i+1 == len(points) || points[i+1].Fix != p.Fix) {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", widest+8), safe(p.Fix))
		}
	}
	switch {
	case counts[stateFail] > 0:
		fmt.Fprintf(w, "\n%s to put right before relay work\n", count(counts[stateFail], "thing"))
	case counts[stateWarn] > 0:
		fmt.Fprintf(w, "\nready, with %s: relay work\n", count(counts[stateWarn], "warning"))
	default:
		fmt.Fprint(w, "\nready: relay work\n")
	}
}

// checkup gathers the points, each step using what the one before found.
type checkup struct {
	app    *app
	place  *project.Project
	plan   *project.Plan
	points []point

	programs programs
	run      bool // every check
}

func (c *checkup) add(state, name, message, fix string) {
	p := point{Name: name, State: state, Message: message, Fix: fix}
	if state == stateFail {
		p.code = exit.Failure
	}
	c.points = append(c.points, p)
}

// fail turns an error into points, in the words every other command uses for it.
func (c *checkup) fail(name string, err error) {
	d := exit.Diagnose(err)
	for _, m := range d.Messages {
		c.points = append(c.points, point{Name: name, State: stateFail, Message: m, code: d.Code})
	}
	c.points[len(c.points)-1].Fix = d.Hint
}

func (c *checkup) all(ctx context.Context) {
	p, err := c.app.repository(ctx)
	if err != nil {
		c.fail("repository", err)
		return
	}
	located, err := c.app.locate(ctx, nil)
	if err != nil {
		c.place = p
		c.repository(ctx)
		c.fail("configuration", err)
		return
	}
	c.place = located
	c.repository(ctx)
	c.add(stateOK, "configuration", "read", "")
	for _, w := range located.Config.Warnings {
		c.add(stateWarn, "configuration", w, "")
	}
	c.folder()
	c.space()
	c.copied()
	c.worktrees(ctx)
	if c.epic() {
		c.ledger(ctx)
	}
	defer c.programs.close()
	c.runners(ctx)
	c.reviewers(ctx)
	if c.plan != nil {
		c.protected(ctx)
		c.money()
	}
	c.shell()
	c.sleep(ctx)
	if c.run && c.plan != nil {
		c.tryChecks(ctx)
	}
}

// epic reads the plan and says what in it nothing would prove.
func (c *checkup) epic() bool {
	plan, err := c.place.Plan()
	if err != nil {
		c.fail("epic", err)
		return false
	}
	c.plan = plan
	c.add(stateOK, "epic", fmt.Sprintf("%s, %s", plan.Epic.ID, count(len(plan.Epic.Tasks), "task")), "")
	for i, w := range unproved(plan.Epic) {
		if i == maxWarnings {
			c.add(stateWarn, "epic", fmt.Sprintf("and %s more like this", count(len(unproved(plan.Epic))-i, "task")), "")
			break
		}
		fix := "write the commands that prove it under checks: in "
		if t, ok := plan.Epic.Task(w.Task); ok && len(t.Checks) > 0 {
			fix = "say what must be true under acceptance_criteria: in "
		}
		c.add(stateWarn, "epic", w.Task+" "+w.Message, fix+c.place.Rel(c.place.File("epic.yml")))
	}
	return true
}

var errNotWritable = errors.New("cannot be written to")
