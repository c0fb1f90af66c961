package records

import (
	"cmp"
	"fmt"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
)

// standing is where an epic stands.
type standing struct {
	o      Options
	epic   *epic.Epic  // the plan of the run; nil: not known
	graph  *epic.Graph // nil when epic is
	ledger *attempts.Ledger
}

// ids returns the tasks in the order of the plan; without a plan those that events have named.
func (p *standing) ids() []string {
	if p.epic == nil {
		return sortedKeys(p.ledger.Tasks)
	}
	return each.Of(p.epic.Tasks, func(t epic.Task) string { return t.ID })
}

// next returns the tasks that are left, in the order in which they would go, at most so many.
func (p *standing) next(most int) []string {
	l := list{}
	for _, i := range p.waiting() {
		if len(l.lines) >= most {
			l.more++
			continue
		}
		l.add("%s: %s", p.epic.Tasks[i].ID, p.epic.Tasks[i].Title)
	}
	return l.all()
}

// waiting returns the tasks that are neither completed nor gated: those that could begin now, the heaviest path first, then those that
// wait for others.
func (p *standing) waiting() []int {
	if p.graph == nil {
		return nil
	}
	var ready, blocked []int
	for _, i := range p.graph.Order() {
		record := p.ledger.Record(p.graph.ID(i))
		if record.Completed || record.Gate != nil {
			continue
		}
		if slices.ContainsFunc(p.graph.Deps(i), func(d int) bool { return !p.ledger.Record(p.graph.ID(d)).Completed }) {
			blocked = append(blocked, i)
			continue
		}
		ready = append(ready, i)
	}
	slices.SortStableFunc(ready, func(a, b int) int {
		heavier := cmp.Compare(p.graph.Weight(b), p.graph.Weight(a))
		return cmp.Or(heavier, cmp.Compare(p.epic.Tasks[a].Priority, p.epic.Tasks[b].Priority), cmp.Compare(a, b))
	})
	return append(ready, blocked...)
}

func (p *standing) gated() []string {
	if p.graph == nil {
		return nil
	}
	return each.Where(p.ids(), func(id string) (string, bool) { return id, p.ledger.Record(id).Gate != nil })
}

func (p *standing) blockers(e *attempts.Event) []string {
	l := list{}
	for _, id := range p.gated() {
		gate := p.ledger.Record(id).Gate
		l.add("%s is gated: %s", id, gate.Text())
	}
	for i, causes := range p.causes() {
		if len(causes) > 0 && p.ledger.Record(p.graph.ID(i)).Gate == nil {
			l.add("%s waits for %s", p.graph.ID(i), plaintext.Some(causes, 5))
		}
	}
	for _, name := range sortedKeys(p.ledger.Cooldowns) {
		if c := p.ledger.Cooldowns[name]; c.Until.After(e.At) {
			l.add("%s is not asked before %s%s", name, plaintext.LocalTime(c.Until), plaintext.Because(c.Why))
		}
	}
	return l.all()
}

// causes returns the gated tasks that keep each task of the plan from running.
func (p *standing) causes() [][]string {
	if p.graph == nil {
		return nil
	}
	return attempts.AllRootCauses(p.ledger, p.graph)
}

// planned returns a task as the plan has it; of one that is in no plan nothing but its id is known.
func (p *standing) planned(id string) *epic.Task {
	if p.graph != nil {
		if i, ok := p.graph.Index(id); ok {
			return &p.epic.Tasks[i]
		}
	}
	return &epic.Task{ID: id, Title: id, Kind: epic.KindFeature}
}

func (p *standing) title() string {
	if p.epic != nil && p.epic.Title != "" {
		return line(p.epic.Title)
	}
	return p.o.EpicID
}

func (p *standing) progress() string {
	completed, total := p.counts()
	return fmt.Sprintf("%d of %d tasks completed", completed, total)
}

func (p *standing) counts() (completed, total int) {
	all := p.ids()
	for _, id := range all {
		if p.ledger.Record(id).Completed {
			completed++
		}
	}
	return completed, len(all)
}

func (p *standing) complete() bool {
	completed, total := p.counts()
	return total > 0 && completed == total
}

func (p *standing) headline(e *attempts.Event) string {
	completed, total := p.counts()
	return report.Headline(decide.EndReason(e.RunStopped.Reason), total-completed)
}
