package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/worker"
	"relay/runners"
)

// answerFile has the last answer, unchanged.
const answerFile = "blueprint.md"

// mostWrong is how many mistakes a prompt lists.
const mostWrong = 30

// judge reads an answer, tries its checks, and returns what is wrong with it. Without anything the result has the plan.
func (s *session) judge(ctx context.Context, place *worker.Study, answer string) (wrong []string, err error) {
	kept := keep(s.request, answer, document(answer))
	text, path := kept.quoted(), filepath.Join(s.result.Folder, answerFile)
	stored := []byte(s.options.Secrets.Text(text) + "\n")
	if err := errors.Join(relayfiles.MakeRoom(s.options.Dir, path), os.WriteFile(path, stored, 0o600)); err != nil {
		return nil, err
	}
	if s.request.Review == nil {
		s.result.Kept = path
	}
	if text == "" {
		return []string{"the answer is empty: your last message has no text"}, nil
	}
	if s.cut {
		return []string{fmt.Sprintf("only the first %d KiB of your answer were read: write less", runners.MaxAnswer>>10)}, nil
	}
	if reviewed := s.request.Review; reviewed != nil {
		if s.result.Found, wrong = findings(answer, s.request.Text, reviewed); len(wrong) == 0 {
			s.result.Epic, s.result.Wrong = reviewed, nil
		}
		return wrong, nil
	}
	read, err := blueprint.Parse(path, []byte(text+"\n"), s.request.Now())
	if err != nil {
		return s.unread(kept, text, err)
	}
	plan, added := read.Epic, []Added(nil)
	if s.request.Fill == nil {
		wrong = append(unwanted(plan), kept.wrong(plan)...)
	} else {
		plan, added, wrong = fill(s.request.Fill, plan)
	}
	if len(wrong) > 0 {
		return atMost(wrong), nil
	}
	graph, err := epic.NewGraph(plan)
	if err != nil {
		return nil, err
	}
	tried, err := place.Try(ctx, tryable(plan, added), graph)
	switch {
	case err != nil:
		return nil, err
	case tried.Unready != "":
		return nil, errors.New(tried.Unready)
	}
	if wrong = unrunnable(tried.Checks); len(wrong) > 0 {
		return atMost(wrong), nil
	}
	s.result.Epic, s.result.Graph, s.result.Tried, s.result.Added, s.result.Wrong = plan, graph, tried.Checks, added, nil
	s.result.Told = append(read.Told, each.Of(kept.left, func(p part) blueprint.Told {
		return blueprint.Told{File: s.request.From, Line: p.from, Why: fmt.Sprintf("lines %s are left out: %s", p, p.why)}
	})...)
	return nil, nil
}

// unread returns what is wrong with an answer that is not a plan; nothing is if it says that nothing is left to plan.
func (s *session) unread(kept *keeping, text string, err error) (wrong []string, _ error) {
	problems, ok := errors.AsType[epic.Problems](err)
	if !ok {
		return nil, err
	}
	if s.result.Finished = kept.finished(); !s.result.Finished {
		wrong = mistakes(problems, text)
	}
	return wrong, nil
}

// document returns the blueprint of an answer: without what is said before its title, and without a fence around it.
func document(answer string) string {
	lines, fence := strings.Split(strings.ReplaceAll(answer, "\r\n", "\n"), "\n"), "" // one that is open above the title is around it
	from := max(0, slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "# ") }))
	for _, line := range lines[:from] {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if fence == "" && len(ticks) >= 3 {
			fence = ticks
		} else if fence != "" && strings.TrimRight(line, " \t") == fence {
			fence = ""
		}
	}
	lines = lines[from:]
	for i := len(lines) - 1; i > 0 && fence != ""; i-- {
		if strings.TrimRight(lines[i], " \t") == fence {
			lines, fence = lines[:i], ""
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// mistakes puts problems of a text into words for an agent.
func mistakes(problems epic.Problems, text string) []string {
	return atMost(each.Of(problems, func(p epic.Problem) string {
		return strings.TrimSuffix(p.Message+" ("+p.Hint+")", " ()") + ", in: " + plaintext.Fit(strings.Split(text, "\n")[max(p.Line, 1)-1], 80)
	}))
}

func atMost(list []string) []string {
	if n := len(list) - mostWrong; n > 0 {
		list = append(list[:mostWrong:mostWrong], fmt.Sprintf("and %d more", n))
	}
	return list
}

// unwanted returns what a plan has that it may not have.
func unwanted(plan *epic.Epic) (wrong []string) {
	if n := len(plan.Tasks); n > MostTasks && plan.Tasks[0].Source == "" {
		wrong = append(wrong, fmt.Sprintf("the plan has %d tasks, and may have %d: make fewer of them", n, MostTasks))
	}
	return append(wrong, each.Where(plan.Tasks, func(t epic.Task) (string, bool) {
		return t.ID + " says by whom, how long, how often or at what cost it is done: a person decides on that, leave it out",
			t.Runner != "" || t.Model != "" || t.Timeout > 0 || t.MaxAttempts > 0 || t.BudgetUSD > 0
	})...)
}

// unrunnable returns which checks cannot run.
func unrunnable(tried []bench.TriedCheck) []string {
	return each.Where(tried, func(t bench.TriedCheck) (string, bool) {
		whose := cmp.Or(plaintext.Some(t.Tasks, 9), "the checks of the epic")
		return whose + ": " + cmp.Or(t.CannotRun, t.How), t.CannotRun != "" || t.TimedOut
	})
}

// Added is what a task has been given that it lacked.
type Added struct {
	Task     string
	Criteria []epic.Criterion
	Checks   []epic.Check
}

// fillForm is the example that an agent is shown which only fills a plan.
const fillForm = `# Title of the plan

## Implementation Tasks

##### T1: Title of the task
- **Checks:** ` + "`go test ./...`" + `

**Acceptance Criteria:**
- [ ] something that can be checked`

// Incomplete reports whether a task of a plan lacks criteria or checks.
func Incomplete(e *epic.Epic) bool { return len(lacking(e)) > 0 }

// lacking names the tasks that lack criteria or checks, and which.
func lacking(e *epic.Epic) []string {
	return each.Where(e.Tasks, func(t epic.Task) (string, bool) {
		what := ""
		if len(t.Criteria) == 0 {
			what = "Acceptance Criteria"
		}
		if len(t.Checks) == 0 {
			what = strings.TrimPrefix(what+" and Checks", " and ")
		}
		return t.ID + " (" + t.Title + "): " + what, what != ""
	})
}

// fill returns a plan with the criteria and checks that its tasks lack and an answer has. Nothing else of the answer counts.
func fill(plan, answer *epic.Epic) (filled *epic.Epic, added []Added, wrong []string) {
	made := *plan
	made.Tasks = slices.Clone(plan.Tasks)
	for i := range answer.Tasks {
		if _, known := plan.Task(answer.Tasks[i].ID); !known {
			wrong = append(wrong, "the plan has no task "+answer.Tasks[i].ID)
		}
	}
	for i := range made.Tasks {
		t := &made.Tasks[i]
		from, given := answer.Task(t.ID)
		if !given {
			continue
		}
		a := Added{Task: t.ID}
		if len(t.Criteria) == 0 {
			t.Criteria, a.Criteria = from.Criteria, from.Criteria
		}
		if len(t.Checks) == 0 {
			t.Checks, a.Checks = from.Checks, from.Checks
		}
		if len(a.Criteria)+len(a.Checks) > 0 {
			added = append(added, a)
		}
	}
	return &made, added, append(wrong, each.Of(lacking(&made), func(task string) string { return "still lacking: " + task })...)
}

// tryable returns the plan with only the checks that were added, when some were: the others are their author's.
func tryable(plan *epic.Epic, added []Added) *epic.Epic {
	if added == nil {
		return plan
	}
	made := *plan
	made.Checks = nil
	made.Tasks = each.Of(plan.Tasks, func(t epic.Task) epic.Task {
		if !slices.ContainsFunc(added, func(a Added) bool { return a.Task == t.ID && len(a.Checks) > 0 }) {
			t.Checks = nil
		}
		return t
	})
	return &made
}
