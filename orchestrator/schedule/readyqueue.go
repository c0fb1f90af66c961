package schedule

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"relay/epic"
)

// readyQueue holds the tasks that could start now, the most urgent first: heaviest remaining path, then priority, then
// file order. That order never changes, so a bit set of ranks is enough, and a queue of ten thousand tasks is searched
// in microseconds.
type readyQueue struct {
	rank  []int32 // of each task in the order of urgency
	task  []int32 // at each rank
	set   []uint64
	low   int // no word of set before this one has a task
	count int
}

func newReadyQueue(g *epic.Graph, tasks []*epic.Task) readyQueue {
	q := readyQueue{rank: make([]int32, len(tasks)), task: make([]int32, len(tasks)), set: make([]uint64, (len(tasks)+63)/64)}
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
	word, bit := q.where(i)
	if q.set[word]&bit == 0 {
		q.set[word] |= bit
		q.low = min(q.low, word)
		q.count++
	}
}

func (q *readyQueue) remove(i int) {
	word, bit := q.where(i)
	if q.set[word]&bit != 0 {
		q.set[word] &^= bit
		q.count--
	}
}

func (q *readyQueue) where(i int) (word int, bit uint64) {
	return int(q.rank[i]) / 64, 1 << (q.rank[i] % 64)
}

// before reports whether task i is more urgent than task k.
func (q *readyQueue) before(i, k int) bool { return q.rank[i] < q.rank[k] }

// first returns the most urgent task, or -1.
func (q *readyQueue) first() int {
	for q.low < len(q.set)-1 && q.set[q.low] == 0 {
		q.low++
	}
	return q.from(q.low * 64)
}

// after returns the most urgent of the tasks that are less urgent than i, or -1.
func (q *readyQueue) after(i int) int { return q.from(int(q.rank[i]) + 1) }

func (q *readyQueue) from(place int) int {
	if q.count == 0 || place >= len(q.task) {
		return -1
	}
	word := place / 64
	rest := q.set[word] &^ (1<<(place%64) - 1)
	for rest == 0 {
		if word++; word == len(q.set) {
			return -1
		}
		rest = q.set[word]
	}
	return int(q.task[word*64+bits.TrailingZeros64(rest)])
}

// All yields the ready tasks, the most urgent first.
func (q *readyQueue) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := q.first(); i >= 0; i = q.after(i) {
			if !yield(i) {
				return
			}
		}
	}
}
