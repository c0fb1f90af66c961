package orchestrator

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"relay/epic"
)

// readyTasks are the tasks that could start now, the most urgent first: heaviest remaining path, then priority, then file
// order. That order never changes, so that a set of places in it is enough: a queue of ten thousand tasks that all wait
// for the same file is gone through in microseconds.
type readyTasks struct {
	place []int32 // of a task, in the order of urgency
	task  []int32 // at a place
	set   []uint64
	low   int // no word before this one has a task
	count int
}

func newReadyTasks(g *epic.Graph, tasks []*epic.Task) readyTasks {
	q := readyTasks{place: make([]int32, len(tasks)), task: make([]int32, len(tasks)), set: make([]uint64, (len(tasks)+63)/64)}
	for i := range q.task {
		q.task[i] = int32(i)
	}
	slices.SortFunc(q.task, func(i, j int32) int {
		return cmp.Or(cmp.Compare(g.Weight(int(j)), g.Weight(int(i))), cmp.Compare(tasks[i].Priority, tasks[j].Priority), cmp.Compare(i, j))
	})
	for at, i := range q.task {
		q.place[i] = int32(at)
	}
	return q
}

// Len is how many tasks are ready.
func (q *readyTasks) Len() int { return q.count }

func (q *readyTasks) add(i int) {
	word, bit := q.where(i)
	if q.set[word]&bit == 0 {
		q.set[word] |= bit
		q.low = min(q.low, word)
		q.count++
	}
}

func (q *readyTasks) remove(i int) {
	word, bit := q.where(i)
	if q.set[word]&bit != 0 {
		q.set[word] &^= bit
		q.count--
	}
}

func (q *readyTasks) where(i int) (word int, bit uint64) {
	return int(q.place[i]) / 64, 1 << (q.place[i] % 64)
}

// before reports whether task i is more urgent than task k.
func (q *readyTasks) before(i, k int) bool { return q.place[i] < q.place[k] }

// first is the most urgent task, or -1.
func (q *readyTasks) first() int {
	for q.low < len(q.set)-1 && q.set[q.low] == 0 {
		q.low++
	}
	return q.from(q.low * 64)
}

// after is the most urgent of the tasks that are less urgent than i, or -1.
func (q *readyTasks) after(i int) int { return q.from(int(q.place[i]) + 1) }

func (q *readyTasks) from(place int) int {
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

// all yields the ready tasks, the most urgent first.
func (q *readyTasks) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := q.first(); i >= 0; i = q.after(i) {
			if !yield(i) {
				return
			}
		}
	}
}

// push adds a task to a heap of tasks, the most urgent first.
func (q *readyTasks) push(heap []int, i int) []int {
	heap = append(heap, i)
	for k := len(heap) - 1; k > 0 && q.before(heap[k], heap[(k-1)/2]); k = (k - 1) / 2 {
		heap[k], heap[(k-1)/2] = heap[(k-1)/2], heap[k]
	}
	return heap
}

// pop takes the most urgent task from such a heap.
func (q *readyTasks) pop(heap []int) (rest []int, i int) {
	i, rest = heap[0], heap[:len(heap)-1]
	last := heap[len(rest)]
	for k := 0; k < len(rest); {
		rest[k] = last
		child := 2*k + 1
		if child+1 < len(rest) && q.before(rest[child+1], rest[child]) {
			child++
		}
		if child >= len(rest) || !q.before(rest[child], last) {
			break
		}
		rest[k], k = rest[child], child
	}
	return rest, i
}
