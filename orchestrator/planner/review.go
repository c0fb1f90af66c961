package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/plaintext"
	"relay/reanchor"
)

// Finding is something of a plan that was misread when an epic was made of it.
type Finding struct {
	Kind string `json:"kind"` // missing, unwanted, order, check or text
	Line int    `json:"line"` // of the plan, from 1
	Task string `json:"task"` // of the epic; "": none
	Says string `json:"says"`
	Fix  string `json:"fix"`
}

// findings reads what an agent found in an epic that was made of a plan, ordered by line. wrong says why the answer cannot be used.
func findings(answer, plan string, e *epic.Epic) (list []Finding, wrong []string) {
	var read struct {
		Findings []Finding `json:"findings"`
	}
	from, to := strings.Index(answer, "{"), strings.LastIndex(answer, "}")
	if from < 0 || to < from {
		return nil, []string{"the answer has no JSON object, such as " + reanchor.ReviewForm}
	}
	if err := json.Unmarshal([]byte(answer[from:to+1]), &read); err != nil {
		return nil, []string{"the answer is not an object with a list of findings: " + err.Error()}
	}
	if read.Findings == nil {
		return nil, []string{"the answer has no list of findings, which may be empty"}
	}
	kinds, last := []string{"missing", "unwanted", "order", "check", "text"}, 1+strings.Count(strings.TrimRight(plan, "\n"), "\n")
	for i, f := range read.Findings {
		_, known := e.Task(f.Task)
		switch {
		case !slices.Contains(kinds, f.Kind):
			wrong = append(wrong, fmt.Sprintf("finding %d: the kind %q is not one of %s", i+1, f.Kind, strings.Join(kinds, ", ")))
		case f.Line < 1 || f.Line > last:
			wrong = append(wrong, fmt.Sprintf("finding %d: the plan has no line %d", i+1, f.Line))
		case !known && (f.Task != "" || f.Kind == "unwanted"):
			wrong = append(wrong, fmt.Sprintf("finding %d: the epic has no task %q", i+1, f.Task))
		case strings.TrimSpace(f.Says) == "":
			wrong = append(wrong, fmt.Sprintf("finding %d: says is empty", i+1))
		}
		f.Says, f.Fix = plaintext.Line(f.Says), plaintext.Line(f.Fix)
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(x, y Finding) int { return x.Line - y.Line })
	return list, atMost(wrong)
}
