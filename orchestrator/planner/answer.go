package planner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
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
	text := document(answer)
	path := filepath.Join(s.result.Folder, answerFile)
	kept := s.options.Secrets.Text(text) + "\n"
	if err := errors.Join(relayfiles.MakeRoom(s.options.Dir, path), os.WriteFile(path, []byte(kept), 0o600)); err != nil {
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
	read, err := blueprint.Parse("your answer", []byte(text+"\n"), s.request.Now())
	if problems, ok := errors.AsType[epic.Problems](err); ok {
		return mistakes(problems), nil
	}
	if err != nil {
		return nil, err
	}
	plan, added := read.Epic, []Added(nil)
	if s.request.Fill == nil {
		wrong = unwanted(plan)
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
	s.result.Told = read.Told
	return nil, nil
}

// document returns the blueprint of an answer: without what is said before its title, and without a fence around it.
func document(answer string) string {
	lines := strings.Split(strings.ReplaceAll(answer, "\r\n", "\n"), "\n")
	fence, from := "", 0 // the fence that is open above the title is one around it
	for i, line := range lines {
		if strings.HasPrefix(line, "# ") {
			from = i
			break
		}
		switch ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]; {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && strings.TrimRight(line, " \t") == fence:
			fence = ""
		}
	}
	to := len(lines)
	if fence != "" {
		for i := len(lines) - 1; i > from; i-- {
			if strings.TrimRight(lines[i], " \t") == fence {
				to = i
				break
			}
		}
	}
	return strings.TrimSpace(strings.Join(lines[from:to], "\n"))
}

// mistakes puts problems into words for an agent.
func mistakes(problems epic.Problems) []string {
	list := make([]string, len(problems))
	for i, p := range problems {
		list[i] = fmt.Sprintf("line %d: %s", p.Line, p.Message)
		if p.Hint != "" {
			list[i] += " (" + p.Hint + ")"
		}
	}
	return atMost(list)
}

func atMost(list []string) []string {
	if n := len(list) - mostWrong; n > 0 {
		list = append(list[:mostWrong:mostWrong], fmt.Sprintf("and %d more", n))
	}
	return list
}

// unwanted returns what a plan has that it may not have.
func unwanted(plan *epic.Epic) (wrong []string) {
	if n := len(plan.Tasks); n > MostTasks {
		wrong = append(wrong, fmt.Sprintf("the plan has %d tasks, and may have %d: make fewer of them", n, MostTasks))
	}
	for i := range plan.Tasks {
		t := &plan.Tasks[i]
		if t.Runner != "" || t.Model != "" || t.Timeout > 0 || t.MaxAttempts > 0 || t.BudgetUSD > 0 {
			wrong = append(wrong, t.ID+" says by whom, how long, how often or at what cost it is done: a person decides on that, leave it out")
		}
	}
	return wrong
}

// unrunnable returns which checks cannot run.
func unrunnable(tried []bench.TriedCheck) (wrong []string) {
	for _, t := range tried {
		whose := "the checks of the epic: "
		if len(t.Tasks) > 0 {
			whose = strings.Join(t.Tasks, ", ") + ": "
		}
		switch {
		case t.CannotRun != "":
			wrong = append(wrong, whose+t.CannotRun)
		case t.TimedOut:
			wrong = append(wrong, whose+t.How)
		}
	}
	return wrong
}

// some names the first mistakes in one line.
func some(wrong []string) string {
	if len(wrong) == 0 {
		return "no answer"
	}
	text := plaintext.Line(wrong[0])
	if len(wrong) > 1 {
		text += fmt.Sprintf("; and %d more", len(wrong)-1)
	}
	return text
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
func lacking(e *epic.Epic) (list []string) {
	for i := range e.Tasks {
		t := &e.Tasks[i]
		var what []string
		if len(t.Criteria) == 0 {
			what = append(what, "Acceptance Criteria")
		}
		if len(t.Checks) == 0 {
			what = append(what, "Checks")
		}
		if what != nil {
			list = append(list, t.ID+" ("+t.Title+"): "+strings.Join(what, " and "))
		}
	}
	return list
}

// fill returns a plan with the criteria and checks that its tasks lack and an answer has. Nothing else of the answer counts.
func fill(plan, answer *epic.Epic) (filled *epic.Epic, added []Added, wrong []string) {
	made := *plan
	filled = &made
	filled.Tasks = slices.Clone(plan.Tasks)
	for i := range answer.Tasks {
		if _, known := plan.Task(answer.Tasks[i].ID); !known {
			wrong = append(wrong, "the plan has no task "+answer.Tasks[i].ID)
		}
	}
	for i := range filled.Tasks {
		t := &filled.Tasks[i]
		from, given := answer.Task(t.ID)
		if !given {
			from = &epic.Task{}
		}
		a := Added{Task: t.ID}
		if len(t.Criteria) == 0 {
			t.Criteria, a.Criteria = from.Criteria, from.Criteria
			if len(t.Criteria) == 0 {
				wrong = append(wrong, t.ID+" has no acceptance criteria yet")
			}
		}
		if len(t.Checks) == 0 {
			t.Checks, a.Checks = from.Checks, from.Checks
			if len(t.Checks) == 0 {
				wrong = append(wrong, t.ID+" has no checks yet")
			}
		}
		for k := range t.Criteria { // one that was there keeps what it names
			if len(a.Criteria) > 0 && !slices.ContainsFunc(t.Checks, func(c epic.Check) bool { return c.Name == t.Criteria[k].Check }) {
				t.Criteria = slices.Clone(t.Criteria)
				t.Criteria[k].Check = ""
			}
		}
		if len(a.Criteria)+len(a.Checks) > 0 {
			added = append(added, a)
		}
	}
	return filled, added, wrong
}

// tryable returns the plan with only the checks that were added, when some were: the others are their author's.
func tryable(plan *epic.Epic, added []Added) *epic.Epic {
	if added == nil {
		return plan
	}
	made := *plan
	made.Checks = nil
	made.Tasks = slices.Clone(plan.Tasks)
	for i := range made.Tasks {
		t := &made.Tasks[i]
		if !slices.ContainsFunc(added, func(a Added) bool { return a.Task == t.ID && len(a.Checks) > 0 }) {
			t.Checks = nil
		}
	}
	return &made
}
