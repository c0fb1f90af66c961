package limits

import (
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/verdict"
)

// series are the faults of one runner without an answer between them.
type series struct {
	on        bool
	began     time.Duration   // the first, on the run's clock, or the first after a wait for a time that the provider named
	last      time.Duration   // the newest that counts
	number    int             // of calls made by then
	rounds    int             // faults that count: of attempts that ran side by side the first
	refusals  int             // of these, in a row, to start or to log in …
	refused   time.Duration   // … since
	faults    map[string]int  // by task
	limited   map[string]bool // of these, whose fault was a usage limit: no task is to blame
	newcomers Deadline        // when a task may ask that is not among them
	lively    bool            // an attempt that began since is being answered
	named     bool            // the provider has said when to ask again, and has answered nothing since
}

// RunnerFault records how an attempt failed through its runner or the provider of that.
type RunnerFault struct {
	Outcome attempts.Outcome
	Why     string
	ResetAt time.Time // when to ask again, if the provider said so
	Alone   bool      // nothing else is ready or under way
	Last    bool      // Alone, and nothing waits for the task either
}

func (f RunnerFault) refused() bool { return verdict.ClassOf(f.Outcome).Refused }
func (f RunnerFault) limited() bool { return verdict.ClassOf(f.Outcome).Limited }

// RunnerRuling records what follows from a fault.
type RunnerRuling struct {
	Cooldown *attempts.Cooldown // the runner is not to be asked before; nil: nothing has changed
	Repeat   bool               // part of what has been counted before
	Own      int                // faults of this runner that are the task's own; 0: it is not blamed
	Barred   bool               // the task has had so many that the runner is not asked for it any more
}

// Pauses of a runner that refuses: a sixth of the back-off at first, and never longer than a third of the longest; and of one that
// is out.
const (
	refusalShare    = 6
	refusalMaxShare = 3
	outPause        = 30 * time.Minute
)

// farthest is how far off a provider's reset can be: no window is longer than a month, and what is said to be further
// off is a mistake that must not end the night.
const farthest = 31 * 24 * time.Hour

// Fail records that an attempt of a task has failed through its runner, and rules whose fault that is. A fault of a task
// that has failed before, while others were answered since, is its own as long as the runner fails no other; so is the
// second fault in a row of the last task there is, if others were answered in this run. Any other leaves the runner alone
// for a time. Of attempts that run side by side all hit the same fault: it counts once.
func (p *Pool) Fail(name, task string, f RunnerFault, now Instant) RunnerRuling {
	r := p.runners.of(name)
	c, underWay := r.asked[task]
	delete(r.asked, task)
	if own := ownFault(p, r, task, f); own != nil {
		own.faults++
		own.opens = now.After(backoffOf(&p.PoolOptions).ownWait(own.faults, f.Alone))
		return RunnerRuling{Own: own.faults, Barred: r.barred(task, p.TaskFaults)}
	}
	s := &r.series
	ruling := RunnerRuling{Repeat: s.on}
	counts := !s.on || !underWay && r.opens.Rest(now) <= 0 || underWay && c.number > s.number
	s.begin(now)
	s.faults[task]++
	if f.limited() {
		s.limited[task] = true
	}
	if counts {
		if r.opens.Named { // it was not asked before
			s.began = now.Run
		}
		s.number, s.last, s.lively = p.calls, now.Run, false
		s.rounds++
		r.refuse(f, now, &p.PoolOptions)
	}
	if r.close(f, now, counts, backoffOf(&p.PoolOptions)) {
		r.why, r.outcome = f.Why, f.Outcome
		ruling.Cooldown = &attempts.Cooldown{Runner: name, Until: r.opens.Day.UTC(), Named: r.opens.Named, Why: f.Why, Outcome: f.Outcome}
	}
	return ruling
}

func (s *series) begin(now Instant) {
	if !s.on {
		*s = series{on: true, began: now.Run, last: now.Run, faults: make(map[string]int), limited: make(map[string]bool)}
	}
}

// refuse counts refusals in a row, and takes the runner out that has refused too often for too long.
func (r *runner) refuse(f RunnerFault, now Instant, o *PoolOptions) {
	s := &r.series
	if !f.refused() {
		s.refusals = 0
		return
	}
	if s.refusals++; s.refusals == 1 {
		s.refused = now.Run
	}
	r.out = r.out || s.refusals >= o.OutAfter && now.Run-s.refused >= o.OutPeriod
}

// close keeps the runner from being asked, and reports whether that is for longer than was known.
func (r *runner) close(f RunnerFault, now Instant, counts bool, pauses backoff) bool {
	s, opens := &r.series, r.opens
	if counts {
		wait, first := pauses.wait(s.rounds-1), pauses.wait(min(s.rounds, len(s.faults))-1)
		if f.refused() {
			wait = doubled(pauses.first/refusalShare, s.refusals-1, pauses.longest/refusalMaxShare)
			first = wait
		}
		if r.out {
			wait = outPause
		}
		late := pauses.spread(wait)
		opens = now.After(wait + late)
		s.newcomers = now.After(min(first+late, wait+late))
	}
	if off := f.ResetAt.Sub(now.Day); off > 0 && off <= farthest && f.ResetAt.After(r.reset) {
		r.reset = f.ResetAt
		late := pauses.spread(off)
		named := Deadline{Day: f.ResetAt.Add(late), Run: now.Run + off + late, Named: true}
		if !s.named || named.Rest(now) > opens.Rest(now) { // a second time that is short is not believed
			opens, s.named = named, true
		}
	}
	if opens.Rest(now) <= r.opens.Rest(now) {
		return false
	}
	r.opens = opens
	return true
}

// NoteActivity records that the model of an attempt under way has answered, and reports whether others may try now. That
// ends the runner's back-off, unless it has failed this task since its last answer: then the attempt may fail as before,
// and others may try meanwhile.
func (p *Pool) NoteActivity(name, task string, now Instant) (changed bool) {
	r := p.runners.of(name)
	c, underWay := r.asked[task]
	s := &r.series
	if !underWay || !s.on || r.limited(now) || c.number <= s.number && now.Run-s.last < p.Backoff {
		return false
	}
	if s.faults[task] == 0 {
		r.endSeries(task, now, backoffOf(&p.PoolOptions))
		return true
	}
	if c.number <= s.number || s.lively {
		return false
	}
	s.lively, s.named = true, false
	return true
}

// Answered records that an attempt has come to its end with all the answers it wanted: the runner serves, and what it
// had failed before is compared with that. An answer to a call made before the last fault says nothing of how it stands
// now.
func (p *Pool) Answered(name, task string, now Instant) {
	r := p.runners.of(name)
	c, underWay := r.asked[task]
	delete(r.own, task)
	if s := &r.series; s.on && !r.limited(now) && (!underWay || c.number > s.number) {
		r.endSeries(task, now, backoffOf(&p.PoolOptions))
	}
	delete(r.series.faults, task)
	r.answered = true
}

// endSeries ends a series of faults when a task was answered. When it was about one task alone, the fault is that task's own.
// Tasks that have failed side by side are remembered: who of them fails again is compared with those that were answered.
func (r *runner) endSeries(by string, now Instant, pauses backoff) {
	s := r.series
	last := Instant{Day: now.Day.Add(s.last - now.Run), Run: s.last}
	for task := range s.faults {
		if task == by || s.limited[task] {
			continue
		}
		own := r.own[task]
		if own == nil {
			own = &pair{}
			r.own[task] = own
		}
		_, again := r.asked[task] // it is being tried again, and that will tell
		if !again && len(s.faults) == 1 {
			own.faults++
			own.opens = last.After(pauses.wait(own.faults - 1))
		}
	}
	r.series, r.opens, r.out, r.answered = series{}, Deadline{}, false, true
}

// limited reports whether the provider itself has said when to ask again, and that is still to come.
func (r *runner) limited(now Instant) bool { return r.opens.Named && r.opens.Rest(now) > 0 }

// probed returns how long an attempt keeps others from asking a runner that does not answer: until it is answered, and for a
// back-off at most. An agent that says nothing while it works, or a provider that says nothing, must not hold others up.
func (r *runner) probed(now Instant, most time.Duration) (rest time.Duration) {
	s := &r.series
	if !s.on || s.lively {
		return 0
	}
	for _, c := range r.asked {
		if c.number > s.number {
			rest = max(rest, c.began+most-now.Run)
		}
	}
	return rest
}

// Probe allows one attempt at a time to ask a runner until it answers. It is for a runner whose state is unknown, as after a
// run that was killed. Where another runner would get the tasks meanwhile, nothing changes.
func (p *Pool) Probe(name string, now Instant) {
	if len(p.Order) > 1 {
		return
	}
	s := &p.runners.of(name).series
	s.begin(now)
	s.number = p.calls
}

// pair holds what a runner has failed one task for while it answered others. That is there until it answers the task.
type pair struct {
	faults int      // the task's own, by comparison; 0: it was in a series with other tasks, and others were answered since
	opens  Deadline // the task is not tried at this runner before
}

// ownFault returns what is known of a task if its fault now is its own, else nil.
func ownFault(p *Pool, r *runner, task string, f RunnerFault) *pair {
	s := &r.series
	others := len(s.faults) > 1 || len(s.faults) == 1 && s.faults[task] == 0
	if f.limited() || others {
		return nil
	}
	if r.own[task] == nil && f.Last && p.runners.answered() && s.faults[task] > 0 && !s.limited[task] {
		r.own[task] = &pair{}
	}
	return r.own[task]
}

// answered reports whether any runner has answered in this run.
func (m runners) answered() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(m)), func(r *runner) bool { return r.answered })
}

// barred reports whether a runner has failed a task alone so often that it is not asked for it any more. The first such
// fault can be a coincidence.
func (r *runner) barred(task string, most int) bool {
	own := r.own[task]
	return most > 0 && own != nil && own.faults >= max(most, 2)
}
