package orchestrator

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// idle is what a worker does when tasks are ready and no runner may be asked for any of them.
func (r *run) idle(now clock.Instant) (*job, *waiting, error) {
	name, at := r.opens(now)
	wait := &waiting{changed: r.changed}
	if name != "" {
		wait.rest = at.Rest(now)
	}
	if r.plan.CountRunning() > 0 {
		return nil, wait, nil
	}
	if name != "" && r.pointless(at, now) {
		why := fmt.Sprintf("%s is not asked before %s%s; the run's deadline is %s", name, clockText(at.Day), text.Because(r.pool.Why(name)), clockText(r.deadline.Day))
		return nil, nil, r.stop(Deadline, why)
	}
	if name != "" {
		return nil, wait, r.tellWaiting(UpdateWaiting, attempts.Waiting{Until: at.Day.UTC(), For: name, Why: r.pool.Why(name)})
	}
	if name, yes := r.pool.Hopeless("", now); yes {
		return nil, nil, &NoRunnerError{Runner: name, Outcome: r.pool.Last(name), Why: r.pool.Why(name)}
	}
	return nil, nil, nil
}

// opens returns when the first runner for a task that is ready may be asked; "" when there is none left for any.
func (r *run) opens(now clock.Instant) (name string, at clock.Deadline) {
	asked := make(map[string]bool)
	for i := range r.plan.Ready() {
		task := r.plan.Task(i)
		lacking := r.plan.MissingReviewers(i)
		waits := lacking != nil
		like := !waits && !r.pool.HasFailed(task.ID)
		if like && asked[task.Runner] {
			continue
		}
		var who string
		var when clock.Deadline
		if waits {
			who, when = r.pool.Latest(task.ID, lacking, now)
		} else {
			asked[task.Runner] = asked[task.Runner] || like
			who, when = r.pool.Opens(task.ID, task.Runner, r.wanted(), now)
		}
		if sooner := when.Rest(now) - at.Rest(now); who != "" && (name == "" || sooner < 0 || sooner == 0 && who < name) {
			name, at = who, when
		}
	}
	return name, at
}

// tellWaiting says once what the night waits for, however many workers do. It is recorded by then: who hears of it and
// asks for the status is told the same. The caller holds mu.
func (r *run) tellWaiting(kind UpdateKind, w attempts.Waiting) error {
	if r.lastWaiting.Runner == w.For && r.lastWaiting.Until.Equal(w.Until) {
		return nil
	}
	r.lastWaiting = Update{Kind: kind, Runner: w.For, Until: w.Until, Text: w.Why, Outcome: r.pool.Last(w.For)}
	if err := r.store.AppendLater(attempts.Event{Type: attempts.TypeWaiting, Waiting: &w}); err != nil {
		return err
	}
	r.tell(r.lastWaiting)
	return nil
}

// turn says why a task goes to another runner than the task before it, or than it went to itself the last time; "" when
// it does not. The caller holds mu.
func (r *run) turn(i int, to string, now clock.Instant) string {
	from := ""
	task := r.plan.Task(i)
	if task.Runner == "" {
		from = text.FirstOf(r.lastRunner, r.pool.Order[0])
		r.lastRunner = to
	}
	if from == "" || from == to {
		from = to
		if past := r.store.Task(task.ID).Attempts; len(past) > 0 {
			from = text.FirstOf(past[len(past)-1].Runner, to)
		}
	}
	if from == to {
		return ""
	}
	return r.pool.Turn(from, to, now, clockText)
}

// unable says why nobody can be asked for a task in this run.
func (r *run) unable(task *epic.Task) string {
	name, yes := r.pool.Hopeless(task.Runner, r.instant())
	if !yes {
		why, _ := r.pool.Spent(task.ID, task.Runner)
		return why
	}
	return name + text.Because(r.pool.Why(name))
}

// clockText is for people, who look at their own clock.
func clockText(t time.Time) string { return t.Local().Format(time.RFC3339) }

// recalled are the events of a run that begins, and what a person should know, about runners that an earlier one was told
// not to ask.
func (r *run) rememberedCooldowns() (events []attempts.Event, notes []string) {
	if r.o.AskNow {
		r.store.View(func(l *attempts.Ledger) {
			for _, name := range slices.Sorted(maps.Keys(l.Cooldowns)) {
				if l.Cooldowns[name].Until.After(r.now()) {
					events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: &attempts.Cooldown{Runner: name, Why: "a person wants it asked at once"}})
				}
			}
		})
		return events, nil
	}
	now := r.instant()
	for _, c := range r.pool.Cooldowns(now) {
		notes = append(notes, fmt.Sprintf("%s is not asked before %s, as an earlier run was told%s; relay work --ask-now asks it at once",
			c.Runner, clockText(c.Until), text.Because(c.Why)))
	}
	return events, notes
}

// judges are the reviewers that every agent's work needs: none is asked where changes belong to no task.
func (o *Options) judges() []string {
	if o.Isolation == engine.IsolationShared {
		return nil
	}
	var names []string
	for _, r := range o.Review.Reviewers {
		names = append(names, r.Name)
	}
	return names
}

// since is how long ago an earlier run says something was; its clock may have been wrong.
func (r *run) since(day time.Time) time.Duration { return max(0, r.now().Sub(day)) }

func (r *run) counts() Counts { return countsOf(r.store) }
