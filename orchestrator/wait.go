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
func (n *run) idle(now clock.Instant) (*job, *waiting, error) {
	name, at := n.opens(now)
	wait := &waiting{changed: n.changed}
	if name != "" {
		wait.rest = at.Rest(now)
	}
	if n.plan.CountRunning() > 0 {
		return nil, wait, nil
	}
	if name != "" && n.pointless(at, now) {
		why := fmt.Sprintf("%s is not asked before %s%s; the run's deadline is %s", name, clockText(at.Day), text.Because(n.pool.Why(name)), clockText(n.deadline.Day))
		return nil, nil, n.stop(Deadline, why)
	}
	if name != "" {
		return nil, wait, n.tellWaiting(UpdateWaiting, attempts.Waiting{Until: at.Day.UTC(), For: name, Why: n.pool.Why(name)})
	}
	if name, yes := n.pool.Hopeless("", now); yes {
		return nil, nil, &NoRunnerError{Runner: name, Outcome: n.pool.Last(name), Why: n.pool.Why(name)}
	}
	return nil, nil, nil
}

// opens returns when the first runner for a task that is ready may be asked; "" when there is none left for any.
func (n *run) opens(now clock.Instant) (name string, at clock.Deadline) {
	asked := make(map[string]bool)
	for i := range n.plan.Ready() {
		task := n.plan.Task(i)
		lacking := n.plan.MissingReviewers(i)
		waits := lacking != nil
		like := !waits && !n.pool.Known(task.ID)
		if like && asked[task.Runner] {
			continue
		}
		var who string
		var when clock.Deadline
		if waits {
			who, when = n.pool.Latest(task.ID, lacking, now)
		} else {
			asked[task.Runner] = asked[task.Runner] || like
			who, when = n.pool.Opens(task.ID, task.Runner, n.wanted(), now)
		}
		if sooner := when.Rest(now) - at.Rest(now); who != "" && (name == "" || sooner < 0 || sooner == 0 && who < name) {
			name, at = who, when
		}
	}
	return name, at
}

// tellWaiting says once what the night waits for, however many workers do. It is recorded by then: who hears of it and
// asks for the status is told the same. The caller holds mu.
func (n *run) tellWaiting(kind UpdateKind, w attempts.Waiting) error {
	if n.told.Runner == w.For && n.told.Until.Equal(w.Until) {
		return nil
	}
	n.told = Update{Kind: kind, Runner: w.For, Until: w.Until, Text: w.Why, Outcome: n.pool.Last(w.For)}
	if err := n.store.AppendLater(attempts.Event{Type: attempts.TypeWaiting, Waiting: &w}); err != nil {
		return err
	}
	n.tell(n.told)
	return nil
}

// turn says why a task goes to another runner than the task before it, or than it went to itself the last time; "" when
// it does not. The caller holds mu.
func (n *run) turn(i int, to string, now clock.Instant) string {
	from := ""
	task := n.plan.Task(i)
	if task.Runner == "" {
		from = text.FirstOf(n.asked, n.pool.Order[0])
		n.asked = to
	}
	if from == "" || from == to {
		from = to
		if past := n.store.Task(task.ID).Attempts; len(past) > 0 {
			from = text.FirstOf(past[len(past)-1].Runner, to)
		}
	}
	if from == to {
		return ""
	}
	return n.pool.Turn(from, to, now, clockText)
}

// unable says why nobody can be asked for a task in this run.
func (n *run) unable(task *epic.Task) string {
	name, yes := n.pool.Hopeless(task.Runner, n.instant())
	if !yes {
		why, _ := n.pool.Spent(task.ID, task.Runner)
		return why
	}
	return name + text.Because(n.pool.Why(name))
}

// clockText is for people, who look at their own clock.
func clockText(t time.Time) string { return t.Local().Format(time.RFC3339) }

// recalled are the events of a run that begins, and what a person should know, about runners that an earlier one was told
// not to ask.
func (n *run) recalled() (events []attempts.Event, notes []string) {
	if n.o.AskNow {
		n.store.View(func(l *attempts.Ledger) {
			for _, name := range slices.Sorted(maps.Keys(l.Cooldowns)) {
				if l.Cooldowns[name].Until.After(n.now()) {
					events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: &attempts.Cooldown{Runner: name, Why: "a person wants it asked at once"}})
				}
			}
		})
		return events, nil
	}
	now := n.instant()
	for _, c := range n.pool.Cooldowns(now) {
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
func (n *run) since(day time.Time) time.Duration { return max(0, n.now().Sub(day)) }

func (n *run) counts() Counts { return countsOf(n.store) }
