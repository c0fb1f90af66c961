package checkup

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
)

// Check is what one acceptance check came to on the commit that a run would begin from.
type Check struct {
	Tasks   []string `json:"tasks,omitempty"` // that have it; none: it is the epic's
	Name    string   `json:"name"`
	Result  string   `json:"result"` // passes, fails or cannot_run
	Seconds float64  `json:"seconds"`
	Said    string   `json:"said,omitempty"`  // when it does not pass: the line of its output that says most, or how it ended
	Place   string   `json:"place,omitempty"` // FILE:LINE
	head    string   // that it stands under
}

// writeChecks lists checks under their tasks, each in one line.
func writeChecks(w *terminal.Writer, checks []Check) {
	width := terminal.Columns(w.Dest)
	for i, c := range checks {
		if i == 0 || checks[i-1].head != c.head {
			fmt.Fprintf(w, "\n%s\n", plaintext.Fit(c.head, width))
		}
		name := c.Name
		if c.Said != "" {
			name = plaintext.Fit(name, width/2-10) + ": " + c.Said
		}
		fmt.Fprintf(w, "  %-10s %6.1f s  %s\n", strings.ReplaceAll(c.Result, "_", " "), c.Seconds, plaintext.Fit(name, width-23))
	}
	fmt.Fprintln(w)
}

// reportChecks reports the results of the checks. One that fails before the work is ordinary.
func reportChecks(c *checkup, tried []bench.TriedCheck) {
	var lines struct {
		Checks []yaml.Node
		Tasks  map[string]struct{ Checks []yaml.Node }
	}
	_ = yaml.Unmarshal(c.plan.Source, &lines) // it was read before: at worst no place is named
	counts := map[string]int{}
	for _, t := range slices.DeleteFunc(slices.Clone(tried), func(t bench.TriedCheck) bool { return t.Hook }) {
		one := Check{Tasks: t.Tasks, Name: t.Check.Name, Result: "fails", Seconds: t.Run.Seconds, Said: t.Said}
		if t.CannotRun != "" {
			one.Result = "cannot_run"
		} else if t.Passed {
			one.Result = "passes"
		}
		whose, at := "the epic", lines.Checks
		if len(t.Tasks) > 0 {
			whose, at = plaintext.Some(t.Tasks, 3), lines.Tasks[t.Tasks[0]].Checks
		}
		one.head = whose + ": " + plaintext.FirstOf(t.Title, c.plan.Epic.Title)
		if t.Index < len(at) {
			one.Place = fmt.Sprintf("%s:%d", c.project.Rel(c.project.File("epic.yml")), at[t.Index].Line)
		}
		c.checks = append(c.checks, one)
		counts[one.Result]++
		if state, said, fix := worth(t); said != "" {
			c.add(state, "checks", whose+": "+said, fix)
			c.points[len(c.points)-1].Place = one.Place
		}
	}
	if passed, red := counts["passes"], counts["fails"]; passed+red > 0 {
		c.add(OK, "checks", fmt.Sprintf("%d run: %d pass, %d fail, as they may before the work", passed+red, passed, red), "")
	}
}

// worth returns what is wrong with a check, and what to do about it: said is "" if nothing is.
func worth(t bench.TriedCheck) (state, said, fix string) {
	name := t.Check.Name
	switch {
	case t.Refused != "":
		return Fail, t.Refused, ""
	case t.CannotRun != "" && t.Later:
		return Warn, t.CannotRun, "it does not matter if a task before it brings that"
	case t.CannotRun != "":
		return Fail, t.CannotRun, ""
	case t.Doubt != "":
		return Warn, t.Doubt, "correct the check, or name what is missing in the task that makes it; relay.worktree.setup can install modules"
	case t.Passed && t.Check.Expect == epic.ExpectRedThenGreen && !t.Later:
		return Warn, name + " passes before the work, so it cannot prove it (expect: red_then_green)", "make the check fail as long as the work is not done"
	case t.Passed && t.NoTest:
		return Warn, name + " ran no test: it proves nothing", "correct the path or pattern in it, unless a task adds the tests"
	case t.Passed && len(t.Blind) > 0:
		return Warn, name + " passes with " + plaintext.Some(t.Blind, 3) + " emptied: it does not test that, or tests another copy",
			"have it fail without that file; a copy that leads elsewhere can be made by relay.worktree.setup"
	case !t.Passed && len(t.Tasks) == 0:
		return Warn, t.How + " before any work: it proves nothing until it passes", "fix it, or remove it"
	}
	return OK, "", ""
}

// remedy says where a point is and what to do about it.
func (p Point) remedy() string { return strings.Trim(p.Place+": "+p.Fix, ": ") }
