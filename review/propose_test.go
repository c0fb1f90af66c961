package review

import (
	"reflect"
	"strings"
	"testing"

	"relay/epic"
)

func TestPropose(t *testing.T) {
	t.Parallel()
	found := func(f Finding) []Raised { return []Raised{{Finding: f, By: []string{"ann", "bob"}}} }
	const tail = "\n\nFound by ann, bob."
	for name, test := range map[string]struct {
		finding Finding
		want    epic.Task
	}{
		"everything": {
			Finding{Severity: Critical, File: "a/b.go", Line: 7, Issue: "it\nleaks", Fix: "close it"},
			epic.Task{
				Title: "it leaks", Priority: 0, Files: []string{"a/b.go"}, Criteria: []epic.Criterion{{Text: "Mended: it leaks"}},
				Description: "A review of the whole epic found (severity critical, a/b.go:7): it leaks\n\nWhat would mend it: close it" + tail,
			},
		},
		"a criterion": {
			Finding{Severity: Info, Issue: "not met: T1: it waves", Criterion: "T1: it waves"},
			epic.Task{
				Title: "not met: T1: it waves", Priority: 3, Criteria: []epic.Criterion{{Text: "T1: it waves"}},
				Description: "A review of the whole epic found (severity info): not met: T1: it waves" + tail,
			},
		},
		"no words": {
			Finding{Severity: Medium, File: "../x"},
			epic.Task{
				Title: "the review has no words for it", Priority: 2, Criteria: []epic.Criterion{{Text: "Mended: the review has no words for it"}},
				Description: "A review of the whole epic found (severity medium, ../x): the review has no words for it" + tail,
			},
		},
		"a pattern for a file": {
			Finding{Severity: Low, File: "a/*.go", Issue: "x\x1b[31m"},
			epic.Task{
				Title: "x", Priority: 3, Criteria: []epic.Criterion{{Text: "Mended: x"}},
				Description: "A review of the whole epic found (severity low, a/*.go): x" + tail,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Propose(found(test.finding), func(id string) bool { return id == "R1" })
			test.want.ID, test.want.Kind = "R2", epic.KindBugfix
			if len(got) != 1 || !reflect.DeepEqual(got[0], test.want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, test.want)
			}
		})
	}
}

// Whatever reviewers write, the tasks made of it are an epic's.
func FuzzPropose(f *testing.F) {
	f.Add("a.go", "it leaks", "close it", "1")
	f.Add("C:\\x", "# \x00---\n- a: b", strings.Repeat("long ", 5000), "")
	f.Add("a{", "", "…\u202e", "\xff")
	f.Fuzz(func(t *testing.T, file, issue, fix, criterion string) {
		raised := []Raised{{Finding: Finding{Severity: High, File: file, Issue: issue, Fix: fix, Criterion: criterion}, By: []string{"ann"}}, {}}
		tasks := Propose(raised, func(string) bool { return false })
		out, err := epic.Append("epic.yml", []byte("version: 2\nid: x\ntitle: X\ntasks:\n  T1: {title: A}\n"), tasks)
		if err != nil {
			t.Fatalf("%+v: %v", raised, err)
		}
		if e, err := epic.Read("epic.yml", out); err != nil || len(e.Tasks) != 3 || e.Tasks[1].ID != "R1" || e.Tasks[2].ID != "R2" {
			t.Fatalf("%v in\n%s", err, out)
		}
	})
}

// Of a whole epic a finding can be about what is missing, and stands where nobody knows the list of criteria.
func TestJudgeWholeEpic(t *testing.T) {
	t.Parallel()
	j := Judge([]Opinion{{"ann", Verdict{Decision: NeedsChanges, Findings: []Finding{
		{Severity: High, Issue: "nothing documents it"},
		{Severity: High, File: "/tmp/review-1/src/a.go", Issue: "twice the same"},
		{Severity: High, File: "old.go", Issue: "an old mistake"},
		{Severity: High, Issue: "it does not wave", Criterion: "1"},
		{Severity: High, File: "src/a.go", Line: 70, Issue: "greets nobody at all", Criterion: "1"},
		{Severity: High, Issue: "who knows", Criterion: "99"},
	}}}}, Scope{Files: []string{"src/a.go"}, Criteria: []string{"T1: It waves"}, Whole: true}, Standard)
	var got []string
	for _, f := range j.Counted {
		got = append(got, f.Issue+"|"+f.File+"|"+f.Criterion)
	}
	want := []string{"nothing documents it||", "twice the same|src/a.go|", "it does not wave||T1: It waves", "greets nobody at all|src/a.go|T1: It waves", "who knows||"}
	if !reflect.DeepEqual(got, want) || len(j.Noted) != 1 || j.Decision != NeedsChanges {
		t.Errorf("got %q, noted %+v, %s", got, j.Noted, j.Decision)
	}
}
