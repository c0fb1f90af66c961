package attempts

import (
	"slices"

	"relay/epic"
)

// progress is what follows from the records of an epic's tasks: the state of each, and how many are in each. It is kept up to date task by
// task. The zero value is that of no plan: nothing is known of the order of tasks then.
type progress struct {
	graph   *epic.Graph
	records []*TaskRecord
	states  []Status
	waiting []int // dependencies not completed
	counts  map[Status]int
	learned []int  // tasks whose agents have told a learning, in the order in which they did
	told    []bool // by task: it is among them
}

// newProgress returns the progress of the tasks of a graph, and gives those a record that have none.
func newProgress(g *epic.Graph, of map[string]*TaskRecord) progress {
	if g == nil {
		return progress{counts: map[Status]int{}}
	}
	n := g.Len()
	p := progress{
		graph: g, records: make([]*TaskRecord, n), states: make([]Status, n), waiting: make([]int, n),
		counts: map[Status]int{}, told: make([]bool, n),
	}
	for i := range n {
		id := g.ID(i)
		if of[id] == nil {
			of[id] = &TaskRecord{}
		}
		p.records[i] = of[id]
	}
	for i, rec := range p.records {
		for _, d := range g.Deps(i) {
			if !p.records[d].Completed {
				p.waiting[i]++
			}
		}
		p.states[i] = rec.status(p.waiting[i] > 0)
		p.counts[p.states[i]]++
		p.learn(i)
	}
	return p
}

// update follows a change of a task's record, and reports whether the task is completed now and was not before, or the other way round.
func (p *progress) update(id string) (turned bool) {
	i, ok := p.index(id)
	if !ok {
		return false
	}
	p.learn(i)
	was, is := p.states[i], p.records[i].status(p.waiting[i] > 0)
	p.move(i, is)
	if was == is || was != Completed && is != Completed {
		return false
	}
	step := -1
	if was == Completed {
		step = 1
	}
	for _, d := range p.graph.Dependants(i) {
		p.waiting[d] += step
		p.move(d, p.records[d].status(p.waiting[d] > 0))
	}
	return true
}

func (p *progress) index(id string) (int, bool) {
	if p.graph == nil {
		return 0, false
	}
	return p.graph.Index(id)
}

func (p *progress) move(i int, to Status) {
	if p.states[i] == to {
		return
	}
	if p.counts[p.states[i]]--; p.counts[p.states[i]] == 0 {
		delete(p.counts, p.states[i])
	}
	p.states[i] = to
	p.counts[to]++
}

// complete reports whether all tasks are completed.
func (p *progress) complete() bool { return p.counts[Completed] == len(p.records) }

// learn adds a task to those whose agents have told a learning, once.
func (p *progress) learn(i int) {
	if !p.told[i] && slices.ContainsFunc(p.records[i].Attempts, func(a Attempt) bool { return a.Receipt.Learning != "" }) {
		p.told[i] = true
		p.learned = append(p.learned, i)
	}
}

// lastLearned returns the last tasks whose agents have told a learning, most of them at most, in the order of the plan; none is not nil.
func (p *progress) lastLearned(most int) []int {
	last := append([]int{}, p.learned[max(len(p.learned)-most, 0):]...)
	slices.Sort(last)
	return last
}

// order returns every task of the plan as in its file, then those of all that the plan does not have.
func (p *progress) order(all map[string]*TaskRecord) []string {
	ids := make([]string, 0, len(all))
	for i := range p.records {
		ids = append(ids, p.graph.ID(i))
	}
	if n := len(ids); n < len(all) {
		for id := range all {
			if _, ok := p.index(id); !ok {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids[n:])
	}
	return ids
}

// stateOf returns the state of a task with a record; one that the plan does not have waits for no other.
func (p *progress) stateOf(id string, rec *TaskRecord) Status {
	if i, ok := p.index(id); ok {
		return p.states[i]
	}
	return rec.status(false)
}
