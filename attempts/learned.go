package attempts

import "slices"

// learn adds a task to those whose agents have told a learning, once.
func (f *fold) learn(i int) {
	if !f.told[i] && slices.ContainsFunc(f.tasks[i].Attempts, func(a Attempt) bool { return a.Receipt.Learning != "" }) {
		f.told[i] = true
		f.learned = append(f.learned, i)
	}
}

// lastLearned returns the last tasks whose agents have told a learning, most of them at most, in the order of the
// plan; none is not nil.
func (f *fold) lastLearned(most int) []int {
	last := append([]int{}, f.learned[max(len(f.learned)-most, 0):]...)
	slices.Sort(last)
	return last
}

// Learned returns the places in the plan, ascending, of the last tasks whose agents have told a learning: most of them at most.
// It takes the same time however many tasks there are.
func (s *Store) Learned(most int) []int {
	s.folding.RLock()
	defer s.folding.RUnlock()
	return s.fold.lastLearned(most)
}

// Learned is [Store.Learned] of a ledger that was read; empty for a ledger that does not exist yet.
func (v *View) Learned(most int) []int {
	if v.fold == nil {
		return []int{}
	}
	return v.fold.lastLearned(most)
}
