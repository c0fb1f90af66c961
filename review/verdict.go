// Package review judges a change: what a reviewer is asked, what its answer means, and what follows from it.
//
// The package is pure. It asks through [Asker], and the decision is code's: an answer that is empty, cut off or
// not a verdict is an error ([ErrNoVerdict]), never an approval.
package review

import (
	"context"
	"errors"
	"strconv"
)

// Decision is a verdict's one word, as it is written in a receipt.
type Decision string

// The three decisions of the quality gate (attempt ledger, "Receipt Structure").
const (
	Approved     Decision = "APPROVED"
	NeedsChanges Decision = "NEEDS CHANGES"
	Blocked      Decision = "BLOCKED"
)

// Severity ranks a finding.
type Severity string

// Severities, gravest first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Info     Severity = "info"
)

// Finding is one thing a reviewer wants changed.
type Finding struct {
	Severity  Severity `json:"severity" yaml:"severity"`
	File      string   `json:"file,omitempty" yaml:"file,omitempty"`
	Line      int      `json:"line,omitempty" yaml:"line,omitempty"`
	Issue     string   `json:"issue" yaml:"issue" text:"block"`
	Fix       string   `json:"fix,omitempty" yaml:"fix,omitempty" text:"block"`
	Criterion string   `json:"criterion,omitempty" yaml:"criterion,omitempty"`
}

// InShort returns where the finding points, and what it is about, in one line.
func (f Finding) InShort() string {
	if at := f.Place(); at != "" {
		return at + ": " + line(f.Issue)
	}
	return line(f.Issue)
}

// Place returns where the finding points, as FILE:LINE; "": nowhere.
func (f Finding) Place() string {
	file := line(f.File)
	if file == "" || f.Line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(f.Line)
}

// Verdict is a reviewer's answer after parsing.
type Verdict struct {
	Decision Decision  `json:"verdict" yaml:"verdict"`
	Summary  string    `json:"summary,omitempty" yaml:"summary,omitempty" text:"block"`
	Findings []Finding `json:"findings,omitempty" yaml:"findings,omitempty"`
	Criteria []Mark    `json:"criteria,omitempty" yaml:"criteria,omitempty"`
}

// ErrNoVerdict means that the reviewer's answer holds no verdict. It is never an approval.
var ErrNoVerdict = errors.New("the reviewer gave no verdict")

// Strictness sets from which severity on a finding asks for changes.
type Strictness string

// Pedantic asks for changes from low on, Strict from medium, Standard from high.
const (
	Pedantic Strictness = "pedantic"
	Strict   Strictness = "strict"
	Standard Strictness = "standard"
)

// Asker puts one prompt to one reviewer and returns its final text.
type Asker interface {
	Ask(ctx context.Context, prompt []byte) (answer string, err error)
}

// Subject holds what a reviewer is asked to judge: one task's change or, without TaskID, all that has landed of an epic.
type Subject struct {
	EpicTitle, TaskID, TaskTitle, Description string
	Tasks                                     []string // of a whole epic: what has landed, one line each
	Deferred                                  []string // of a whole epic: findings that did not hold its tasks up
	Criteria                                  []string
	Base, Head                                string // commits; judged is base..head
	Files                                     []string
	DiffStat                                  string
	Checks                                    []CheckResult
	Weakened                                  []string // tests that prove less than before, one line each
	Decisive                                  []string // changed files that decide what the commands say, one line each
	EarlierFindings                           string   // markdown, of the last review
	Answer                                    string   // what the agent says it has done about them
	DoneAlready                               bool     // the agent says so, and has changed nothing
	Focus                                     string   // what this reviewer looks at most; empty: everything
	Instructions                              string   // the user's own words to this reviewer
}

// CheckResult is one acceptance command as relay saw it run.
type CheckResult struct {
	Name      string
	Exit      int
	Log       string // path below the relay folder
	LogSHA256 string
	Fixed     bool // a check of the task that failed before the work and passes
}
