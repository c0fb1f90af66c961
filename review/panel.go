package review

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"relay/epic/each"
)

// Opinion holds what one reviewer of a panel said.
type Opinion struct {
	Reviewer string // by the name it has in the configuration
	Verdict  Verdict
}

// Scope records what a finding can be about. A finding that names none of the changed files and no criterion is not
// about this change: it is noted, and does not count, unless its reviewer refuses the change for nothing else.
type Scope struct {
	Files    []string // changed paths; of a renamed file both
	Criteria []string
	Found    []Finding // by relay itself, mechanically: they count as those of a reviewer who approves
	Whole    bool      // of an epic: what names neither file nor criterion is about what is missing altogether
}

// Raised is a finding with the reviewers who raised it.
type Raised struct {
	Finding `yaml:",inline"`
	By      []string `json:"by,omitempty" yaml:"by,omitempty" text:"own"`
}

// Judgement holds a panel's decision and the findings behind it.
type Judgement struct {
	Decision Decision
	Summary  string   // of the reviewer whose decision it is
	Counted  []Raised // at or above the bar, gravest first
	Deferred []Raised // below it
	Noted    []Raised // outside the scope
	Votes    []Vote   // by reviewer
	Split    bool     // some reviewers approve and others do not
}

// Vote is one reviewer's decision in a judgement.
type Vote struct {
	Reviewer string   `json:"reviewer" yaml:"reviewer"`
	Decision Decision `json:"decision" yaml:"decision"` // what its findings come to, alone
}

// Judge decides for a panel. Each reviewer's findings are put in scope and decided alone, as [Decide] does; the
// gravest of these decisions is the panel's: one refusal is enough, and an approval takes all. Findings that several
// raised are one, as severe as the most severe of them. Without any opinion the decision is empty.
func Judge(opinions []Opinion, scope Scope, s Strictness) Judgement {
	var j Judgement
	var all []Raised
	for _, o := range opinions {
		v := o.Verdict
		var noted []Finding
		v.Findings, noted = scope.split(slices.Concat(v.Findings, unmetFindings(v.Criteria, scope.Criteria)))
		d, counted, deferred := Decide(v, s)
		if v.Decision != Approved && !slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Severity.rank() <= s.bar() }) {
			v.Findings, noted = append(v.Findings, withoutBlocking(noted, v.Decision)...), nil
			d, counted, deferred = Decide(v, s)
		}
		j.Votes = append(j.Votes, Vote{o.Reviewer, d})
		all, j.Noted = merge(all, slices.Concat(counted, deferred), o.Reviewer), merge(j.Noted, noted, o.Reviewer)
		j.Split = j.Split || j.Decision != "" && (j.Decision == Approved) != (d == Approved)
		if j.Decision == "" || d.worse(j.Decision) {
			j.Decision, j.Summary = d, v.Summary
		}
	}
	if len(opinions) > 0 {
		d, counted, deferred := Decide(Verdict{Decision: Approved, Findings: scope.Found}, s)
		if all = merge(all, slices.Concat(counted, deferred), itself); d.worse(j.Decision) {
			j.Decision = d
		}
	}
	slices.SortStableFunc(all, func(a, b Raised) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	for _, r := range all {
		if r.Severity.rank() <= s.bar() {
			j.Counted = append(j.Counted, r)
		} else {
			j.Deferred = append(j.Deferred, r)
		}
	}
	return j
}

// withoutBlocking returns the findings of a refusal that point at nothing in the scope, to be counted all the same: they are
// what the reviewer refuses for. They do not block a change that the reviewer has not blocked.
func withoutBlocking(outside []Finding, decision Decision) []Finding {
	outside = slices.Clone(outside)
	for i := range outside {
		if outside[i].Severity == Critical && decision != Blocked {
			outside[i].Severity = High
		}
	}
	return outside
}

// itself is who raised what relay has found.
const itself = "relay"

// worse reports whether d is a worse decision than other.
func (d Decision) worse(other Decision) bool {
	weight := map[Decision]int{Approved: 1, NeedsChanges: 2, Blocked: 3}
	return weight[d] > weight[other]
}

// merge adds one reviewer's findings to those of others.
func merge(all []Raised, more []Finding, by string) []Raised {
	for _, f := range more {
		at := slices.IndexFunc(all, func(r Raised) bool { return Same(r.Finding, f) })
		if at < 0 {
			all = append(all, Raised{Finding: f, By: []string{by}})
			continue
		}
		r := &all[at]
		if f.Severity.rank() < r.Severity.rank() {
			f.Fix = cmp.Or(f.Fix, r.Fix)
			r.Finding = f
		}
		r.By = each.Added(r.By, by)
	}
	return all
}

// split separates the findings that point into the change or at a criterion from the others.
func (s Scope) split(findings []Finding) (within, outside []Finding) {
	for _, f := range findings {
		if s.holds(&f) {
			within = append(within, f)
		} else {
			outside = append(outside, f)
		}
	}
	return within, outside
}

// holds reports whether a finding is in scope, and puts in words of the scope what it points at.
func (s Scope) holds(f *Finding) bool {
	at := criterion(f.Criterion, s.Criteria)
	if s.Whole { // its readers do not have the list
		f.Criterion = ""
		if at >= 0 {
			f.Criterion = s.Criteria[at]
		}
	}
	if file := slices.IndexFunc(s.Files, func(changed string) bool { return samePath(f.File, changed) }); f.File != "" && file >= 0 {
		f.File = s.Files[file]
		return true
	}
	return at >= 0 || s.Whole && f.File == ""
}

// samePath compares a path as a reviewer gives it (absolute, or with the a/ of a diff) with one of the repository.
func samePath(given, changed string) bool {
	given = path.Clean(strings.ReplaceAll(strings.Trim(given, "`\"' "), "\\", "/"))
	return given == changed || strings.HasSuffix(given, "/"+changed)
}

// Same reports whether two findings are about the same thing: the same place, and mostly the same words. Lines may have
// moved a little, for reviewers count differently and code is edited.
func Same(a, b Finding) bool {
	switch {
	case a.File != b.File && !samePath(a.File, b.File) && !samePath(b.File, a.File):
		return false
	case a.File == "" && a.Criterion != b.Criterion:
		return false
	case a.Line > 0 && b.Line > 0 && max(a.Line-b.Line, b.Line-a.Line) > nearby:
		return false
	}
	return alike(a.Issue, b.Issue)
}

// nearby is how many lines apart two findings about the same thing may be.
const nearby = 10

// alike reports whether two texts share half of their words.
func alike(a, b string) bool {
	one, two := words(a), words(b)
	if len(one) == 0 || len(two) == 0 {
		return len(one) == len(two)
	}
	common := 0
	for w := range one {
		if two[w] {
			common++
		}
	}
	return 2*common >= len(one)+len(two)-common
}

// words returns the words by which two texts are compared: without case, punctuation and the shortest ones.
func words(text string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !('a' <= r && r <= 'z') && !('0' <= r && r <= '9') && r < 128
	}) {
		if len(w) > 2 {
			set[w] = true
		}
	}
	return set
}
