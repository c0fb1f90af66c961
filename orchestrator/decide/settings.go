package decide

import (
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/budget"
	"relay/orchestrator/engine"
	"relay/orchestrator/updates"
)

// Settings are what the decisions of a run go by.
type Settings struct {
	Run   string
	Epic  *epic.Epic
	Graph *epic.Graph

	Tasks     []string // the run is about these, and what they depend on; none: all
	Jobs      int
	Isolation engine.Isolation
	Runners   []string  // names in order of preference
	Reviewers []string  // that every agent's work needs
	AskNow    bool      // what earlier runs knew of runners does not count
	Until     time.Time // the run's deadline; zero: none

	Limits     engine.Limits
	SlowChecks time.Duration // how long checks take from which on several landings share one run of them
	Budget     budget.Caps
	Spent      attempts.Usage // by earlier runs, as far as it counts against this run's cap

	Free   func() Free                            // what the machine has left; nil: nobody asks
	Jitter func(most time.Duration) time.Duration // draws what a wait for a runner takes longer; nil: nothing
	Drain  <-chan struct{}                        // closed: nothing new is started
	Notify func(updates.Update)                   // called from one goroutine at a time; nil: nobody listens
}

// rules returns the settings that the run's decisions go by.
func (s *State) rules(merges bool) *attempts.Rules {
	o, lim := s.O, &s.O.Limits
	return &attempts.Rules{
		Jobs: o.Jobs, Isolation: string(o.Isolation), Merges: merges, Runners: o.Runners, Reviewers: o.Reviewers,
		Tasks: o.Tasks, AskNow: o.AskNow, Until: o.Until,
		MaxAttempts: lim.MaxAttempts, MaxUncharged: lim.MaxUncharged, MaxUnchargedRun: lim.MaxUnchargedRun, MaxUndone: lim.MaxUndone,
		FailedInARow: lim.FailedInARow, SameError: lim.SameError, TaskFaults: lim.TaskFaults, OutAfter: lim.OutAfter,
		OutPeriod: lim.OutPeriod, Patience: lim.Patience, Backoff: lim.Backoff, BackoffMax: lim.BackoffMax, FloorWait: lim.FloorWait,
		DiskFloor: lim.DiskFloor, MemoryFloor: lim.MemoryFloor, SlowChecks: o.SlowChecks,
		RunCap: attempts.Cap(o.Budget.Run), EpicCap: attempts.Cap(o.Budget.Epic), TaskCap: attempts.Cap(o.Budget.Task),
		AttemptCap: attempts.Cap(o.Budget.Attempt), Spent: o.Spent,
	}
}

// SettingsOf returns the settings that a run has recorded: of its plan, and without what is no data.
func SettingsOf(u *attempts.Rules) *Settings {
	return &Settings{
		Tasks: u.Tasks, Jobs: u.Jobs, Isolation: engine.Isolation(u.Isolation), Runners: u.Runners, Reviewers: u.Reviewers, AskNow: u.AskNow,
		Until: u.Until, Spent: u.Spent, SlowChecks: u.SlowChecks,
		Limits: engine.Limits{
			MaxAttempts: u.MaxAttempts, MaxUncharged: u.MaxUncharged, MaxUnchargedRun: u.MaxUnchargedRun, MaxUndone: u.MaxUndone,
			FailedInARow: u.FailedInARow, SameError: u.SameError, TaskFaults: u.TaskFaults, OutAfter: u.OutAfter,
			OutPeriod: u.OutPeriod, Patience: u.Patience, Backoff: u.Backoff, BackoffMax: u.BackoffMax, FloorWait: u.FloorWait,
			DiskFloor: u.DiskFloor, MemoryFloor: u.MemoryFloor,
		},
		Budget: budget.Caps{
			Run: budget.Cap(u.RunCap), Epic: budget.Cap(u.EpicCap), Task: budget.Cap(u.TaskCap), Attempt: budget.Cap(u.AttemptCap),
		},
	}
}
