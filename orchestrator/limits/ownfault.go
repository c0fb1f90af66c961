package limits

// pair holds what a runner has failed one task for while it answered others. That is there until it answers the task.
type pair struct {
	faults int      // the task's own, by comparison; 0: it was in a series with other tasks, and others were answered since
	opens  Deadline // the task is not tried at this runner before
}

// ownFault returns what is known of a task if its fault now is its own, else nil.
func ownFault(p *Pool, r *runner, task string, f RunnerFault) *pair {
	s := &r.series
	if f.limited() || s.others(task) {
		return nil
	}
	if r.own[task] == nil && f.Last && p.runners.answered() && s.faults[task] > 0 && !s.limited[task] {
		r.own[task] = &pair{}
	}
	return r.own[task]
}

// answered reports whether any runner has answered in this run.
func (m runners) answered() bool {
	for _, r := range m {
		if r.answered {
			return true
		}
	}
	return false
}

// barred reports whether a runner has failed a task alone so often that it is not asked for it any more. The first such
// fault can be a coincidence.
func (r *runner) barred(task string, most int) bool {
	own := r.own[task]
	return most > 0 && own != nil && own.faults >= max(most, 2)
}
