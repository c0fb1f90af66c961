package main

import (
	"slices"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/epic"
	"relay/orchestrator"
)

// standing is how an epic stands: what relay status --json prints, and what its text is made of. The schema of it is
// status.schema.json.
type standing struct {
	Version  int                 `json:"version"`
	Epic     epicName            `json:"epic"`
	Run      runState            `json:"run"`
	Branch   string              `json:"branch,omitempty"`   // the epic's integration branch
	From     string              `json:"from,omitempty"`     // the branch that the epic began from; "" : none, HEAD was detached
	Finished string              `json:"finished,omitempty"` // the branch that relay finish put all of that on
	Waiting  *pause              `json:"waiting,omitempty"`  // the run starts nothing for a while
	Cooling  []cooling           `json:"cooling,omitempty"`  // runners that are not to be asked yet
	Refused  []refused           `json:"refused,omitempty"`  // runners that would not work when they were last asked
	Counts   orchestrator.Counts `json:"counts"`
	Usage    attempts.Usage      `json:"usage"`
	Spenders attempts.Spenders   `json:"spenders,omitempty"`
	Tasks    []taskState         `json:"tasks"`
	Judged   *epicState          `json:"epic_review,omitempty"` // the newest review of the whole epic
	Forecast *forecast           `json:"forecast,omitempty"`
	Relapsed []string            `json:"relapsed,omitempty"` // checks of completed tasks, and of the epic, that fail on what has landed
	Edited   bool                `json:"edited"`             // somebody else changed attempt-ledger.yml

	PlanChanged bool     `json:"plan_changed"` // epic.yml is not the plan the newest run began with
	Warnings    []string `json:"warnings"`

	outlook orchestrator.Outlook // of the plan and the ledger this is about
}

type epicName struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Source string `json:"source,omitempty"`
}

// runState is what is known of the newest run. State is never, running, stopped, or crashed: a run that ended without
// saying so.
type runState struct {
	ID        string     `json:"id,omitempty"`
	State     string     `json:"state"`
	PID       int        `json:"pid,omitempty"`
	Host      string     `json:"host,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	StoppedAt *time.Time `json:"stopped_at,omitempty"`
	ExitCode  *int       `json:"exit_code,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Why       string     `json:"why,omitempty"`   // in words, of a reason that is a limit of the run
	Until     *time.Time `json:"until,omitempty"` // the deadline of a run that is on
}

// The words of runState.State.
const (
	runNever   = "never"
	runOn      = "running"
	runStopped = "stopped"
	runCrashed = "crashed"
)

// taskState is one task of a standing. Attempt counts the charged attempts, and the running one if there is one.
type taskState struct {
	ID          string             `json:"id"`
	Title       string             `json:"title"`
	Status      attempts.Status    `json:"status"`
	Attempt     int                `json:"attempt"`
	MaxAttempts int                `json:"max_attempts"`
	Tries       int                `json:"tries"` // every attempt there ever was
	Runner      string             `json:"runner,omitempty"`
	StartedAt   *time.Time         `json:"started_at,omitempty"` // of the running attempt
	Reason      attempts.Reason    `json:"reason,omitempty"`     // why it is gated
	Detail      string             `json:"detail,omitempty"`
	LastError   string             `json:"last_error,omitempty"`
	WaitsFor    []string           `json:"waits_for,omitempty"`    // dependencies that are not completed
	RootCauses  []string           `json:"root_causes,omitempty"`  // gated tasks that keep it from running, at most 3
	Already     bool               `json:"already_done,omitempty"` // completed without a change: its checks passed before
	Unverified  bool               `json:"unverified,omitempty"`   // completed, but neither check nor reviewer proved it
	Doubtful    []string           `json:"weaker_tests,omitempty"` // completed, but these prove less, and nobody has approved that
	Usage       *attempts.Usage    `json:"usage,omitempty"`        // of all its attempts
	Attempts    []attempts.Attempt `json:"attempts,omitempty"`     // with --verbose
}

// stand puts an epic and its ledger together.
func stand(p *project.Plan, v *attempts.View, maxAttempts int, verbose bool) *standing {
	s := &standing{
		Version: 1, Epic: epicName{p.Epic.ID, p.Epic.Title, p.Epic.Source}, Run: runOf(v),
		Tasks: make([]taskState, len(p.Epic.Tasks)), Edited: v.Edit != "", Branch: v.Ledger.Integration.Branch, From: v.Ledger.Integration.From, Finished: v.Ledger.Integration.Finished, Relapsed: v.Ledger.Relapsed, Warnings: append([]string{}, v.Warnings...),
		outlook: orchestrator.Outlook{Epic: p.Epic, Graph: p.Graph, Ledger: v.Ledger, Jobs: v.Jobs},
	}
	if v.Ledger.Settings.MaxAttemptsPerTask > 0 && v.Running {
		maxAttempts = v.Ledger.Settings.MaxAttemptsPerTask
	}
	causes := attempts.AllRootCauses(v.Ledger, p.Graph)
	for i := range p.Epic.Tasks {
		t := &p.Epic.Tasks[i]
		rec := v.Ledger.Tasks[t.ID]
		if rec == nil {
			rec = &attempts.TaskRecord{}
		}
		state := taskOf(t, rec, maxAttempts)
		state.Status = v.Ledger.StatusOf(p.Graph, t.ID)
		if state.Status == attempts.BlockedOn {
			state.RootCauses = causes[i]
			state.WaitsFor = v.Ledger.WaitsFor(p.Graph, t.ID)
		}
		if verbose {
			state.Attempts = rec.Attempts
		}
		s.Tasks[i] = state
		s.Counts.Add(state.Status)
		s.spend(rec)
		if used := rec.Used(); used != (attempts.Usage{}) {
			s.Tasks[i].Usage = &used
		}
	}
	s.judge(v.Ledger)
	s.Spenders.Rank()
	return s
}

// open reports whether there is something left to do, for a run or a person.
func (s *standing) open() bool {
	doubtful := func(t taskState) bool { return len(t.Doubtful) > 0 }
	return s.Counts.Completed < s.Counts.Total || len(s.Refused) > 0 || slices.ContainsFunc(s.Tasks, doubtful)
}

func taskOf(t *epic.Task, rec *attempts.TaskRecord, maxAttempts int) taskState {
	state := taskState{ID: t.ID, Title: t.Title, Attempt: rec.Charges(), MaxAttempts: maxAttempts, Tries: len(rec.Attempts), Doubtful: rec.Doubtful()}
	if t.MaxAttempts > 0 {
		state.MaxAttempts = t.MaxAttempts
	}
	if running := rec.Running(); running != nil {
		state.Attempt++
		state.Runner, state.StartedAt = running.Runner, &running.StartedAt
	}
	if rec.Gate != nil {
		state.Reason, state.Detail = rec.Gate.Reason, rec.Gate.Detail
	}
	for i := range rec.Attempts {
		last := &rec.Attempts[i]
		if last.Result == attempts.ResultInProgress {
			continue
		}
		state.LastError = ""
		if last.Result != attempts.ResultSuccess {
			state.LastError = last.Receipt.ErrorSummary
		} else if rec.Completed {
			state.Already = last.Receipt.AlreadyDone
			state.Unverified = len(last.Receipt.Checks) == 0 && last.Receipt.Verdict == ""
		}
	}
	return state
}

func runOf(v *attempts.View) runState {
	status := v.Ledger.Status
	r := runState{ID: v.Ledger.Folded.Run, State: runStopped, PID: status.PID, Reason: status.LastExitReason}
	if !status.StartedAt.IsZero() {
		r.StartedAt = &status.StartedAt
	}
	switch {
	case v.Running:
		r.State, r.Reason = runOn, ""
		if !v.Ledger.Until.IsZero() && status.State == runOn {
			r.Until = &v.Ledger.Until
		}
		if h := v.Holder; h != nil {
			r.PID, r.Host, r.StartedAt = h.PID, h.Host, &h.Since
		}
	case status.State == "":
		return runState{State: runNever}
	case status.State == "running":
		r.State, r.Reason = runCrashed, "crashed"
	default:
		r.StoppedAt, r.ExitCode, r.Why = &status.StoppedAt, &status.LastExitCode, v.Ledger.Why
	}
	return r
}

// goesOn reports whether another run will follow this one in a moment.
func (r *runState) goesOn(now time.Time) bool {
	return r.State == runStopped && r.Reason == project.Reloading && now.Sub(*r.StoppedAt) < turnWait
}

// tally counts the tasks of an epic by state.
func tally(l *attempts.Ledger, g *epic.Graph) orchestrator.Counts {
	var c orchestrator.Counts
	for i := range g.Len() {
		c.Add(l.StatusOf(g, g.ID(i)))
	}
	return c
}
