package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Every strictness, with every pair and triple of reviewers that can differ: the decision is code's, and no reviewer
// can talk another one's findings away.
func TestJudgeEveryPanel(t *testing.T) {
	t.Parallel()
	grades := []Severity{"", Info, Low, Medium, High, Critical}
	var all []Opinion
	for _, d := range []Decision{Approved, NeedsChanges, Blocked, ""} {
		for _, s := range grades {
			o := Opinion{fmt.Sprintf("%s/%s", d, s), Verdict{Decision: d, Summary: "sum"}}
			if s != "" {
				o.Verdict.Findings = []Finding{{Severity: s, File: "a.go", Issue: "word" + string(s)}}
			}
			all = append(all, o)
		}
	}
	bars := map[Strictness][]Severity{Pedantic: {Low, Medium, High, Critical}, Strict: {Medium, High, Critical}, Standard: {High, Critical}}
	for strictness, counts := range bars {
		alone := func(o Opinion) Decision {
			var worst Severity
			for _, f := range o.Verdict.Findings {
				worst = f.Severity
			}
			switch {
			case o.Verdict.Decision == Blocked, worst == Critical:
				return Blocked
			case slices.Contains(counts, worst), worst == "" && o.Verdict.Decision != Approved:
				return NeedsChanges
			}
			return Approved
		}
		panels := 0
		for i := range all {
			for j := i; j <= len(all); j++ {
				for k := j; k <= len(all); k += 4 {
					panel := []Opinion{all[i]}
					for _, at := range []int{j, k} {
						if at < len(all) {
							panel = append(panel, all[at])
						}
					}
					want, different := Approved, map[bool]bool{}
					for _, o := range panel {
						d := alone(o)
						different[d == Approved] = true
						if d.worse(want) {
							want = d
						}
					}
					got := Judge(panel, Scope{Files: []string{"a.go"}}, strictness)
					if got.Decision != want || got.Split != (len(different) == 2) || len(got.Votes) != len(panel) {
						t.Errorf("%s: %+v: got %s (split %v), want %s", strictness, panel, got.Decision, got.Split, want)
					}
					if got.Decision != Approved && len(got.Counted) == 0 {
						t.Errorf("%s: %+v: refused for no reason", strictness, panel)
					}
					panels++
				}
			}
		}
		if panels < 800 {
			t.Errorf("%s: only %d panels", strictness, panels)
		}
	}
	if got := Judge(nil, Scope{}, Standard); got.Decision != "" {
		t.Errorf("nobody said anything: %q", got.Decision)
	}
}

// Findings of several reviewers about the same thing are one, and as grave as the gravest.
func TestJudgeMerges(t *testing.T) {
	t.Parallel()
	approve := func(by string, found ...Finding) Opinion {
		return Opinion{by, Verdict{Decision: Approved, Findings: found}}
	}
	got := Judge([]Opinion{
		approve("ann", Finding{Severity: Medium, File: "a.go", Line: 12, Issue: "the error of Close is ignored", Fix: "return it"},
			Finding{Severity: Low, File: "a.go", Issue: "a typo in the comment"}),
		approve("bob", Finding{Severity: High, File: "/work/x/a.go", Line: 14, Issue: "error of Close ignored here"},
			Finding{Severity: High, File: "a.go", Line: 90, Issue: "the error of Close is ignored"}),
		approve("cyd", Finding{Severity: Critical, File: "other.go", Issue: "an old bug"},
			Finding{Severity: High, Issue: "I do not like it"}, Finding{Severity: High, Issue: "no test", Criterion: "criterion 2"}),
	}, Scope{Files: []string{"a.go"}, Criteria: []string{"it closes", "it is tested"}}, Standard)
	want := "counted 3: high a.go 14 [ann bob] high a.go 90 [bob] high  0 [cyd]; deferred 1: low a.go 0 [ann]; noted 2: critical other.go 0 [cyd] high  0 [cyd]"
	list := func(name string, raised []Raised) string {
		text := fmt.Sprintf("%s %d:", name, len(raised))
		for _, r := range raised {
			text += fmt.Sprintf(" %s %s %d %v", r.Severity, strings.TrimPrefix(r.File, "/work/x/"), r.Line, r.By)
		}
		return text
	}
	if text := strings.Join([]string{list("counted", got.Counted), list("deferred", got.Deferred), list("noted", got.Noted)}, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if got.Counted[0].Fix != "return it" || got.Decision != NeedsChanges || !got.Split {
		t.Errorf("got %+v", got)
	}
}

// What relay itself finds is weighed as a reviewer's, and makes no reviewers disagree.
func TestJudgeOwnFindings(t *testing.T) {
	t.Parallel()
	own := Finding{Severity: Medium, File: "a_test.go", Issue: "proves less than before"}
	for s, want := range map[Strictness]Decision{Standard: Approved, Strict: NeedsChanges, Pedantic: NeedsChanges} {
		got := Judge([]Opinion{{"ann", Verdict{Decision: Approved}}}, Scope{Found: []Finding{own}}, s)
		if got.Decision != want || got.Split || len(got.Votes) != 1 || len(got.Counted)+len(got.Deferred) != 1 {
			t.Errorf("%s: got %+v", s, got)
		}
	}
	if got := Judge(nil, Scope{Found: []Finding{own}}, Strict); got.Decision != "" {
		t.Errorf("nobody was asked: %q", got.Decision)
	}
}

// What a reviewer finds outside the change does not hold an approval up. If it refuses the change for nothing else, the
// refusal stands, with these findings for the agent to read.
func TestJudgeOutside(t *testing.T) {
	t.Parallel()
	outside := func(s Severity) Finding { return Finding{Severity: s, File: "old.go", Issue: "not implemented at all"} }
	inside := func(s Severity) Finding { return Finding{Severity: s, File: "a.go", Issue: "a typo"} }
	for _, c := range []struct {
		name     string
		said     Decision
		findings []Finding
		want     string
	}{
		{"approves", Approved, []Finding{outside(Critical)}, "APPROVED [] noted 1"},
		{"refuses", NeedsChanges, []Finding{outside(Critical)}, "NEEDS CHANGES [high not implemented at all] noted 0"},
		{"refuses for trifles", NeedsChanges, []Finding{outside(Low)}, "APPROVED [] noted 0"},
		{"refuses, with a trifle inside", NeedsChanges, []Finding{inside(Low), outside(High)}, "NEEDS CHANGES [high not implemented at all] noted 0"},
		{"refuses for something inside", NeedsChanges, []Finding{inside(High), outside(Critical)}, "NEEDS CHANGES [high a typo] noted 1"},
		{"refuses without a finding", NeedsChanges, nil, "NEEDS CHANGES [high s] noted 0"},
		{"blocks", Blocked, []Finding{outside(Critical)}, "BLOCKED [critical not implemented at all] noted 0"},
	} {
		got := Judge([]Opinion{{"ann", Verdict{Decision: c.said, Summary: "s", Findings: c.findings}}}, Scope{Files: []string{"a.go"}}, Standard)
		var counted []string
		for _, r := range got.Counted {
			counted = append(counted, string(r.Severity)+" "+r.Issue)
		}
		if text := fmt.Sprintf("%s %v noted %d", got.Decision, counted, len(got.Noted)); text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	base := Finding{File: "a.go", Line: 20, Issue: "the error of Close is ignored"}
	for name, c := range map[string]struct {
		other Finding
		want  bool
	}{
		"itself":           {base, true},
		"other words":      {Finding{File: "a.go", Line: 20, Issue: "Error of `Close` is ignored!"}, true},
		"moved a little":   {Finding{File: "a.go", Line: 30, Issue: base.Issue}, true},
		"far away":         {Finding{File: "a.go", Line: 31, Issue: base.Issue}, false},
		"no line":          {Finding{File: "a.go", Issue: base.Issue}, true},
		"whole path":       {Finding{File: "/home/x/repo/a.go", Line: 20, Issue: base.Issue}, true},
		"another file":     {Finding{File: "b.go", Line: 20, Issue: base.Issue}, false},
		"ends alike":       {Finding{File: "ba.go", Line: 20, Issue: base.Issue}, false},
		"another matter":   {Finding{File: "a.go", Line: 20, Issue: "a race on the counter"}, false},
		"nothing but dots": {Finding{File: "a.go", Line: 20, Issue: "..."}, false},
	} {
		if got, back := Same(base, c.other), Same(c.other, base); got != c.want || back != c.want {
			t.Errorf("%s: got %v and %v, want %v", name, got, back, c.want)
		}
	}
	if one := (Finding{Issue: "no test", Criterion: "1"}); Same(one, Finding{Issue: "no test", Criterion: "2"}) || !Same(one, one) {
		t.Error("without a file the criterion tells findings apart")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	criteria := []Criterion{{"the table exists", "migrate"}, {"it is reversible", ""}, {"names are unique", ""}, {"it is fast", "no such check"}, {"it is documented", ""}}
	checks := []CheckResult{{Name: "migrate", Exit: 1, Log: "runs/x/1.log", LogSHA256: "ab"}}
	say := func(by string, marks ...Mark) Opinion { return Opinion{by, Verdict{Criteria: marks}} }
	table := Table(criteria, checks, []Opinion{
		say("ann", Mark{"1", true, "I saw it"}, Mark{"it is reversible", true, "down.sql"}, Mark{"#3", true, ""}, Mark{"99", true, ""}, Mark{"", false, ""}),
		say("bob", Mark{"criterion 2", true, ""}, Mark{"3: names are unique", false, "no index"}),
		say("cyd", Mark{"3", true, "surely"}),
	}, "c0ffee")
	want := []Proof{
		{Criterion: "the table exists", By: ByCheck, Check: "migrate", ExitCode: 1, Log: "runs/x/1.log", LogSHA256: "ab", Commit: "c0ffee"},
		{Criterion: "it is reversible", By: ByReview, Met: true, Commit: "c0ffee", Reviewers: []string{"ann", "bob"}, Evidence: "down.sql"},
		{Criterion: "names are unique", By: ByReview, Commit: "c0ffee", Reviewers: []string{"bob"}, Evidence: "no index"},
		{Criterion: "it is fast", By: Unproven},
		{Criterion: "it is documented", By: Unproven},
	}
	for i := range want {
		if fmt.Sprintf("%+v", table[i]) != fmt.Sprintf("%+v", want[i]) {
			t.Errorf("got  %+v\nwant %+v", table[i], want[i])
		}
	}
}

// A criterion that a reviewer says is not met is a finding, whatever the verdict.
func TestUnmetCriterionCounts(t *testing.T) {
	t.Parallel()
	v := Verdict{Decision: Approved, Criteria: []Mark{{"2", false, "there is no test"}, {"1", true, ""}}}
	got := Judge([]Opinion{{"ann", v}}, Scope{Criteria: []string{"it works", "it is tested"}}, Standard)
	if got.Decision != NeedsChanges || len(got.Counted) != 1 || got.Counted[0].Issue != "not met: it is tested: there is no test" {
		t.Errorf("got %+v", got)
	}
}

// A check that failed before the work proves what has no check of its own and no reviewer's mark.
func TestTableOfFixedChecks(t *testing.T) {
	t.Parallel()
	criteria := []Criterion{{Text: "It adds"}, {Text: "It is friendly"}}
	no := Opinion{Reviewer: "ann", Verdict: Verdict{Criteria: []Mark{{Criterion: "2", Met: false}}}}
	table := Table(criteria, []CheckResult{{Name: "vet"}, {Name: "unit", Fixed: true}}, []Opinion{no}, "abc")
	if p := table[0]; p.By != ByCheck || !p.Met || p.Check != "unit" || p.Commit != "abc" {
		t.Errorf("got %+v", p)
	}
	if p := table[1]; p.By != ByReview || p.Met {
		t.Errorf("got %+v", p)
	}
}
