package review

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relay/epic/each"
)

// Mark holds what a reviewer says of one acceptance criterion.
type Mark struct {
	Criterion string `json:"criterion" yaml:"criterion"` // its number in the list, or its text
	Met       bool   `json:"met" yaml:"met"`
	Evidence  string `json:"evidence,omitempty" yaml:"evidence,omitempty" text:"block"`
}

// Means says by what a criterion was proved.
type Means string

// A check outweighs reviewers: it was run.
const (
	ByCheck  Means = "check"
	ByReview Means = "review"
	Unproven Means = "unproven"
)

// Proof records how an acceptance criterion was shown to hold, or not.
type Proof struct {
	Criterion string   `json:"criterion" yaml:"criterion" text:"own"`
	By        Means    `json:"by" yaml:"by"`
	Met       bool     `json:"met" yaml:"met"`
	Check     string   `json:"check,omitempty" yaml:"check,omitempty" text:"own"` // its name
	ExitCode  int      `json:"exit_code,omitempty" yaml:"exit_code,omitempty"`
	Log       string   `json:"log,omitempty" yaml:"log,omitempty" text:"own"`             // path below the relay folder
	LogSHA256 string   `json:"log_sha256,omitempty" yaml:"log_sha256,omitempty" text:"-"` // in hex
	Commit    string   `json:"commit,omitempty" yaml:"commit,omitempty" text:"-"`         // that was checked or read
	Reviewers []string `json:"reviewers,omitempty" yaml:"reviewers,omitempty" text:"own"`
	Evidence  string   `json:"evidence,omitempty" yaml:"evidence,omitempty" text:"block"` // a reviewer's words
}

// Criterion is one acceptance criterion; Check names the check that proves it, or is empty.
type Criterion struct{ Text, Check string }

// Table returns for each criterion how it is proved at a commit: by the check it names, else by the reviewers' marks,
// else by a check of the task that failed before the work.
// One reviewer who says that it is not met outweighs others; without any mark it is unproven.
func Table(criteria []Criterion, checks []CheckResult, opinions []Opinion, commit string) []Proof {
	texts := each.Of(criteria, func(c Criterion) string { return c.Text })
	table := make([]Proof, len(criteria))
	for i, c := range criteria {
		table[i] = Proof{Criterion: c.Text, By: Unproven}
		if at := slices.IndexFunc(checks, func(r CheckResult) bool { return c.Check != "" && r.Name == c.Check }); at >= 0 {
			table[i] = byCheck(c, checks[at], commit)
			continue
		}
		for _, o := range opinions {
			for _, m := range o.Verdict.Criteria {
				if criterion(m.Criterion, texts) == i {
					table[i].addMark(o.Reviewer, m, commit)
				}
			}
		}
		if at := slices.IndexFunc(checks, func(r CheckResult) bool { return r.Fixed }); at >= 0 && table[i].By == Unproven {
			table[i] = byCheck(c, checks[at], commit)
		}
	}
	return table
}

func byCheck(c Criterion, r CheckResult, commit string) Proof {
	return Proof{
		Criterion: c.Text, By: ByCheck, Met: r.Exit == 0, Check: r.Name, ExitCode: r.Exit, Log: r.Log, LogSHA256: r.LogSHA256, Commit: commit,
	}
}

// addMark adds a reviewer's mark of the criterion to the proof.
func (p *Proof) addMark(by string, m Mark, commit string) {
	if p.By == ByReview && p.Met != m.Met {
		if m.Met {
			return
		}
		p.Reviewers, p.Evidence = nil, ""
	}
	p.By, p.Met, p.Commit = ByReview, m.Met, commit
	p.Reviewers = append(p.Reviewers, by)
	p.Evidence = cmp.Or(p.Evidence, m.Evidence)
}

// unmetFindings returns the findings that follow from the criteria a reviewer says are not met.
func unmetFindings(marks []Mark, criteria []string) []Finding {
	var found []Finding
	for _, m := range marks {
		if at := criterion(m.Criterion, criteria); at >= 0 && !m.Met {
			issue := "not met: " + criteria[at]
			if m.Evidence != "" {
				issue += ": " + m.Evidence
			}
			found = append(found, Finding{Severity: High, Issue: line(issue), Criterion: strconv.Itoa(at + 1)})
		}
	}
	return found
}

// criterion finds the one that is meant: by its number, alone or behind a word, or by its text. -1: none.
func criterion(given string, criteria []string) int {
	given = strings.Trim(strings.ToLower(given), "`\"'#*. ")
	if given == "" {
		return -1
	}
	number := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(given, "criterion"), "criteria"))
	number, _, _ = strings.Cut(strings.TrimLeft(number, "#: "), ":")
	number, _, _ = strings.Cut(number, ".")
	if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= len(criteria) {
		return n - 1
	}
	return slices.IndexFunc(criteria, func(c string) bool {
		text := strings.ToLower(line(c))
		return text == given || len(given) >= 12 && strings.Contains(text, given) || alike(text, given)
	})
}

// numbered lists criteria with the numbers that an answer names them by.
func numbered(criteria []string) string {
	var b strings.Builder
	for i, c := range criteria {
		fmt.Fprintf(&b, "%d. %s\n", i+1, line(c))
	}
	return b.String()
}
