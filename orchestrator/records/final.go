package records

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/epic"
)

// final says what came of an epic that is complete. Its solutions, decisions and files are of all its tasks; the rest is of the run that
// has completed it.
func final(p *Projector, e *attempts.Event) Artifact {
	a := ofRun(p, e, artifact.Finalize)
	list := p.tasks.completed(&p.now)
	gone := deleted(list)
	for _, d := range list {
		a.FinalDecisions = addDecisions(a.FinalDecisions, d.task, d.Receipt.Decisions)
		fix := d.Receipt.Bugfix
		if fix != nil && fix.Symptom != "" && fix.Fix != "" && p.now.planned(d.task).Kind == epic.KindBugfix && len(a.FinalSolutions) < mostDone {
			a.FinalSolutions = append(a.FinalSolutions, artifact.Solution{
				Problem: clip(fix.Symptom, longText), Solution: clip(fix.Fix, longText), Rationale: stated(fix.RootCause),
			})
		}
		for _, c := range d.Changes {
			listed := func(r artifact.FileRef) bool { return r.Path == c.Path }
			if !gone[c.Path] && len(a.ArtifactsProduced) < mostDone && !slices.ContainsFunc(a.ArtifactsProduced, listed) {
				a.ArtifactsProduced = append(a.ArtifactsProduced, artifact.FileRef{Path: c.Path, Note: d.task})
			}
		}
	}
	return named(a, e)
}

// deleted tells which files the last task that changed them has deleted.
func deleted(list []*done) map[string]bool {
	gone := map[string]bool{}
	for _, d := range slices.SortedFunc(slices.Values(list), func(x, y *done) int { return cmp.Compare(x.seq, y.seq) }) {
		for _, c := range d.Changes {
			if c.Kind == attempts.FileDeleted {
				gone[c.Path] = true
			} else {
				delete(gone, c.Path)
			}
		}
	}
	return gone
}

// filesToReview names the work that is kept of gated tasks.
func filesToReview(p *Projector) []artifact.FileRef {
	var refs []artifact.FileRef
	for _, id := range p.now.gated() {
		t := p.tasks.of(id)
		if t.left == nil || len(refs) >= mostItems {
			continue
		}
		note := id
		if ref := t.left.SessionSummary.CurrentState["work"]; ref != "" {
			note += ", kept as " + ref
		}
		for _, f := range t.left.Artifacts[:min(len(t.left.Artifacts), 20)] {
			refs = append(refs, artifact.FileRef{Path: f.Path, Note: note})
		}
	}
	return refs
}

func continuation(p *Projector, e *attempts.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s).\n", p.now.title(), p.now.headline(e), p.now.progress())
	if e.RunStopped.Why != "" {
		fmt.Fprintf(&b, "%s\n", line(e.RunStopped.Why))
	}
	b.WriteString(p.notes())
	return strings.TrimSpace(b.String())
}
