package schedule

import (
	"cmp"
	"iter"
	"slices"

	"relay/epic"
)

// readyQueue holds the tasks that could start now, the most urgent first: heaviest remaining path, then priority, then
// file order. That order never changes, so marks at ranks are enough.
type readyQueue struct {
	rank  []int32 // of each task in the order of urgency
	task  []int32 // at each rank
	ready []bool  // by rank
	low   int     // no rank before this one has a ready task
	count int
}

func newReadyQueue(g *epic.Graph, tasks []*epic.Task) readyQueue {
	q := readyQueue{rank: make([]int32, len(tasks)), task: make([]int32, len(tasks)), ready: make([]bool, len(tasks))}
	for i := range q.task {
		q.task[i] = int32(i)
	}
	slices.SortFunc(q.task, func(i, j int32) int {
		return cmp.Or(cmp.Compare(g.Weight(int(j)), g.Weight(int(i))), cmp.Compare(tasks[i].Priority, tasks[j].Priority), cmp.Compare(i, j))
	})
	for at, i := range q.task {
		q.rank[i] = int32(at)
	}
	return q
}

// Len returns how many tasks could start now, or as soon as no other holds their files.
func (q *readyQueue) Len() int { return q.count }

func (q *readyQueue) add(i int) {
	if at := int(q.rank[i]); !q.ready[at] {
		q.ready[at], q.low = true, min(q.low, at)
		q.count++
	}
}

func (q *readyQueue) remove(i int) {
	if at := q.rank[i]; q.ready[at] {
		q.ready[at] = false
		q.count--
	}
}

// before reports whether task i is more urgent than task k.
func (q *readyQueue) before(i, k int) bool { return q.rank[i] < q.rank[k] }

// All yields the ready tasks, the most urgent first.
func (q *readyQueue) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for q.count > 0 && !q.ready[q.low] {
			q.low++
		}
		for at, left := q.low, q.count; left > 0 && at < len(q.ready); at++ {
			if q.ready[at] {
				if left--; !yield(int(q.task[at])) {
					return
				}
			}
		}
	}
}
