// Package status says how an epic and a run stand: the report of relay status, the summary of a run, what a dry run would do, and
// what a person should type next.
package status

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // of the schema
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/cmd/relay/internal/project"
	"relay/configs"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
	"relay/orchestrator/report"
	"relay/orchestrator/schedule"
	"relay/orchestrator/verdict"
	"relay/orchestrator/view"
	"relay/review"
	"relay/runners/kinds"
)

// Schema is the JSON Schema of Report.
//
//go:embed status.schema.json
var Schema []byte

// Report is the state of an epic: relay status --json prints it, and relay status writes it as text. Its JSON Schema is
// status.schema.json.
type Report struct {
	Version     int               `json:"version"`
	Epic        report.Epic       `json:"epic"`
	Run         Run               `json:"run"`
	Branch      string            `json:"branch,omitempty"`   // the epic's integration branch
	From        string            `json:"from,omitempty"`     // the branch that the epic began from; "" : none, HEAD was detached
	Finished    string            `json:"finished,omitempty"` // the branch that relay finish put all of that on
	Waiting     *attempts.Waiting `json:"waiting,omitempty"`  // the run starts nothing for a while
	Paused      time.Time         `json:"paused,omitzero"`    // since when a person has the run start nothing new
	Cooldowns   []Cooldown        `json:"cooling,omitempty"`  // runners that are not to be asked yet
	Refused     []Refusal         `json:"refused,omitempty"`  // runners that would not work when they were last asked
	Counts      decide.Counts     `json:"counts"`
	Usage       attempts.Usage    `json:"usage"`
	Spenders    view.Spenders     `json:"spenders,omitempty"`
	Tasks       []Task            `json:"tasks"`
	Judged      *EpicReview       `json:"epic_review,omitempty"` // the newest review of the whole epic
	Forecast    *Forecast         `json:"forecast,omitempty"`
	Regressions []string          `json:"relapsed,omitempty"` // checks of completed tasks, and of the epic, that fail on what has landed
	Edited      bool              `json:"edited"`             // somebody else changed attempt-ledger.yml

	PlanChanged bool     `json:"plan_changed"` // epic.yml is not the plan the newest run began with
	Warnings    []string `json:"warnings"`

	Discussions []discussion.Thread `json:"open_discussions,omitempty"`

	// Night is the model that all views show, with its pictures; only --json has it.
	Night *view.Night `json:"night,omitempty"`

	Needs []*view.Row `json:"-"` // tasks that need a person, in the order to do it
	Ahead string      `json:"-"` // the forecast in words

	outlook schedule.Estimator // of the plan and the ledger the report is about
	of      *attempts.View
	model   *view.Builder
}

// Run is what is known of the newest run. It has crashed if it ended without saying so.
type Run struct {
	ID        string       `json:"id,omitempty"`
	State     report.State `json:"state"`
	PID       int          `json:"pid,omitempty"`
	Host      string       `json:"host,omitempty"`
	StartedAt time.Time    `json:"started_at,omitzero"`
	StoppedAt time.Time    `json:"stopped_at,omitzero"`
	ExitCode  *int         `json:"exit_code,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Why       string       `json:"why,omitempty"`  // in words, of a reason that is a limit of the run
	Until     time.Time    `json:"until,omitzero"` // the deadline of a run that is on
}

// Task is one task of a report. Attempt counts the charged attempts, and the running one if there is one.
type Task struct {
	ID          string             `json:"id"`
	Title       string             `json:"title"`
	Status      attempts.Status    `json:"status"`
	Attempt     int                `json:"attempt"`
	MaxAttempts int                `json:"max_attempts"`
	Tries       int                `json:"tries"` // every attempt there ever was
	Runner      string             `json:"runner,omitempty"`
	StartedAt   time.Time          `json:"started_at,omitzero"` // of the running attempt
	Reason      attempts.Reason    `json:"reason,omitempty"`    // why it is gated
	Detail      string             `json:"detail,omitempty"`
	LastError   string             `json:"last_error,omitempty"`
	Stopped     time.Time          `json:"stopped,omitzero"`       // when a person stopped it: the run does not try it again
	WaitsFor    []string           `json:"waits_for,omitempty"`    // dependencies that are not completed
	RootCauses  []string           `json:"root_causes,omitempty"`  // gated tasks that keep it from running, at most 3
	Already     bool               `json:"already_done,omitempty"` // completed without a change: its checks passed before
	Unverified  bool               `json:"unverified,omitempty"`   // completed, but neither check nor reviewer proved it
	Looks       []attempts.Look    `json:"looks,omitempty"`        // completed, and a person has to look at this
	Questions   []string           `json:"questions,omitempty"`    // of its agent, that are open
	Usage       attempts.Usage     `json:"usage,omitzero"`         // of all its attempts
	Attempts    []attempts.Attempt `json:"attempts,omitempty"`     // with --verbose

	Row *view.Row `json:"-"`
}

// New puts an epic and its ledger together. It calls functions that add more to the report beside its own work.
func New(p *project.Plan, v *attempts.View, maxAttempts int, verbose bool, beside ...func(s *Report)) *Report {
	s := &Report{
		Version: 1, Epic: report.Epic{ID: p.Epic.ID, Title: p.Epic.Title, Source: p.Epic.Source}, Run: runOf(v),
		Tasks: make([]Task, len(p.Epic.Tasks)), Edited: v.Edit != "", Branch: v.Ledger.Integration.Branch, From: v.Ledger.Integration.From,
		Finished: v.Ledger.Integration.Finished, Regressions: v.Ledger.Regressed, Warnings: append([]string{}, v.Warnings...),
		of: v, outlook: schedule.Estimator{Epic: p.Epic, Graph: p.Graph, Ledger: v.Ledger, Jobs: v.Jobs},
	}
	s.model = view.New(view.Input{Epic: p.Epic, Graph: p.Graph, Ledger: v.Ledger, Running: v.Running, MaxAttempts: maxAttempts})
	var all sync.WaitGroup
	defer all.Wait()
	for _, add := range beside {
		all.Go(func() { add(s) })
	}
	s.Needs = s.model.Night(time.Time{}).Needs
	for i, row := range s.model.Rows() {
		rec, t := v.Ledger.Record(row.ID), &s.Tasks[i]
		*t = taskOf(row, rec)
		if t.Status = v.Ledger.StatusOf(p.Graph, t.ID); t.Status == attempts.BlockedOn {
			t.WaitsFor = v.Ledger.WaitsFor(p.Graph, t.ID)
		}
		if verbose {
			t.Attempts = rec.Attempts
		}
		if v.Running && t.open() {
			t.Stopped = v.Ledger.Held[t.ID]
		}
	}
	if v.Running {
		s.Paused = v.Ledger.Paused
	}
	money := view.MoneyOf(p.Epic, v.Ledger, nil, limits.Caps{})
	s.Usage, s.Spenders, s.Counts = money.Epic, money.By, decide.CountTasks(v.Ledger, p.Graph)
	s.addEpicReview(v.Ledger)
	return s
}

// pick returns the tasks that fit.
func (s *Report) pick(fits func(t *Task) bool) (list []*Task) {
	for i := range s.Tasks {
		if fits(&s.Tasks[i]) {
			list = append(list, &s.Tasks[i])
		}
	}
	return list
}

// HasWork reports whether there is something left to do, for a run or a person.
func (s *Report) HasWork() bool {
	return s.Counts.Completed < s.Counts.Total || len(s.Refused)+len(s.Needs) > 0
}

// Unproved lists the completed tasks that neither a check nor a reviewer proved.
func (s *Report) Unproved() []*Task { return s.pick(func(t *Task) bool { return t.Unverified }) }

// Looking returns the completed tasks that a person has to look at.
func (s *Report) Looking() []*Task { return s.pick(func(t *Task) bool { return len(t.Looks) > 0 }) }

// Asking returns the tasks with open questions that do not wait for the answer.
func (s *Report) Asking() []*Task {
	return s.pick(func(t *Task) bool { return len(t.Questions) > 0 && t.Reason != attempts.AwaitsAnswer })
}

func (t *Task) open() bool { return t.Status != attempts.Completed }

func taskOf(r *view.Row, rec *attempts.TaskRecord) Task {
	t := Task{
		ID: r.ID, Title: r.Title, Attempt: r.Attempt, MaxAttempts: r.Max, Tries: r.Tries, Looks: r.Looks, Questions: rec.OpenQuestions(),
		Usage: r.Usage, RootCauses: r.BlockedBy, Already: r.Already, Unverified: r.Unproven, Row: r,
	}
	if running := rec.Running(); running != nil {
		t.Runner, t.StartedAt = running.Runner, running.StartedAt
	}
	if rec.Gate != nil {
		t.Reason, t.Detail = rec.Gate.Reason, rec.Gate.Detail
	}
	for i := range rec.Attempts {
		if last := &rec.Attempts[i]; last.Result == attempts.ResultSuccess {
			t.LastError = ""
		} else if last.Result != attempts.ResultInProgress {
			t.LastError = last.Receipt.ErrorSummary
		}
	}
	return t
}

func runOf(v *attempts.View) Run {
	status := v.Ledger.Status
	r := Run{ID: v.Ledger.Folded.Run, State: report.Stopped, PID: status.PID, StartedAt: status.StartedAt, Reason: status.LastExitReason}
	switch {
	case v.Running:
		r.State, r.Reason = report.Running, ""
		if status.State == "running" {
			r.Until = v.Ledger.Until
		}
		if h := v.Holder; h != nil {
			r.PID, r.Host, r.StartedAt = h.PID, h.Host, h.Since
		}
	case status.State == "":
		return Run{State: report.Never}
	case status.State == "running":
		if r.State, r.Reason = report.Crashed, "crashed"; v.Foreign {
			r.PID, r.Host = v.Holder.PID, v.Holder.Host
		}
	default:
		r.StoppedAt, r.ExitCode, r.Why = status.StoppedAt, &status.LastExitCode, v.Ledger.Why
	}
	return r
}

// GoesOn reports whether another run will follow this one in a moment.
func (r *Run) GoesOn(now time.Time) bool {
	return r.State == report.Stopped && r.Reason == project.Reloading && !r.StoppedAt.IsZero() && now.Sub(r.StoppedAt) < project.ReloadWait
}

// Ending says in words how the newest run has ended.
func (s *Report) Ending() string {
	said := report.Ended(decide.EndReason(s.Run.Reason), *s.Run.ExitCode, len(s.Looking()))
	if code := *s.Run.ExitCode; code != 0 {
		said += fmt.Sprintf(" (exit code %d)", code)
	}
	return said
}

// Read returns the report of the project as it is now, with its forecast, and writes nothing. It fails when plan or ledger cannot be read.
func Read(ctx context.Context, p *project.Project, verbose bool) (*Report, error) {
	plan, view, warning, err := p.Read(ctx)
	if err != nil {
		return nil, err
	}
	now := p.Session.Now()
	s := New(plan, view, p.Config.Relay.MaxAttemptsPerTask, verbose, func(s *Report) { s.estimate(p, now) })
	s.sayForecast(p, now)
	s.AddCooldowns(now)
	s.Warnings = append([]string{}, slices.Concat(NeverBegan(p, view.Ledger.Status.StartedAt), s.Warnings, p.Damage)...)
	s.Refused, s.Discussions = Refusing(p, plan, view.Ledger), discussion.OpenIn(p.Root)
	if warning != "" {
		s.PlanChanged = true
		s.Warnings = append(s.Warnings, warning)
	}
	return s, nil
}

// AfterRun returns the report of a plan whose run is over. An edit of epic.yml since only sets PlanChanged.
func AfterRun(p *project.Project, pl *project.Plan, view *attempts.View) *Report {
	s := New(pl, view, p.Config.Relay.MaxAttemptsPerTask, false)
	s.Refused, s.Discussions = Refusing(p, pl, view.Ledger), discussion.OpenIn(p.Root)
	source, err := project.ReadFile(p.File("epic.yml"), project.MaxPlan)
	s.PlanChanged = err != nil || !bytes.Equal(source, pl.Source)
	return s
}

// EpicReview is the result of the newest review of the whole epic.
type EpicReview struct {
	Decision review.Decision `json:"decision,omitempty"` // "": none, for what Why says
	Why      string          `json:"why,omitempty"`
	Summary  string          `json:"summary,omitempty"`
	Rounds   int             `json:"rounds"` // reviews whose findings became tasks
	Base     string          `json:"base"`
	Head     string          `json:"head"` // judged was base..head
	Findings []review.Raised `json:"findings,omitempty"`
	Added    []string        `json:"added,omitempty"` // tasks made of them

	Text string `json:"-"` // the result in words
}

// addEpicReview adds the newest review of the whole epic.
func (s *Report) addEpicReview(l *attempts.Ledger) {
	r := l.LastEpicReview()
	if r == nil {
		return
	}
	s.Judged = &EpicReview{
		Decision: r.Decision, Why: r.Why, Summary: r.Summary, Rounds: l.EpicRounds(), Base: r.Base, Head: r.Head,
		Findings: r.Findings, Added: r.Added, Text: decide.EpicVerdict(r),
	}
}

// Refusal is a runner that would not work when it was last asked.
type Refusal struct {
	attempts.Refusal
	Fix string `json:"fix"` // what to type

	What string `json:"-"` // what is wrong, in words
}

const afterYou = ", after you "

// Fix returns text that says what to type for a runner that ended so, for this reason; tasks are those of the plan.
func Fix(p *project.Project, tasks []epic.Task, name string, o attempts.Outcome, why string) string {
	agent, class := p.Config.Relay.Agents[name], verdict.ClassOf(o)
	how := kinds.FactsOf(agent.Type).Login
	switch {
	case class.Model:
		return "relay check --ask" + afterYou + "correct " + modelSetting(p, tasks, name, why)
	case !class.Login:
		return "relay check --ask"
	case how == "":
		return "relay config relay.agents." + name
	}
	program := cmp.Or(strings.Join(agent.Argv, " "), agent.Type)
	return program + strings.ReplaceAll(how, "%s", program)
}

// modelSetting names the setting of a model that is not available, and its place: the one whose model the CLI names, else the strongest.
func modelSetting(p *project.Project, tasks []epic.Task, name, why string) string {
	type setting struct{ model, where string }
	var all []setting
	for _, key := range []string{"relay.model", "relay.agents." + name + ".model", "relay.review.model"} {
		if v, ok := p.Config.Lookup(key); ok && v.Value != "" {
			at := []configs.Value{v}
			project.RelativeOrigins(p, at)
			all = append(all, setting{v.String(), key + " (" + at[0].Origin + ")"})
		}
	}
	for _, t := range tasks {
		if t.Model != "" {
			all = append(all, setting{t.Model, "the model of task " + t.ID + " (" + p.Rel(p.File("epic.yml")) + ")"})
		}
	}
	if len(all) == 0 {
		return "the model in the settings of its CLI"
	}
	return all[max(slices.IndexFunc(all, func(s setting) bool { return strings.Contains(why, s.model) }), 0)].where
}

// wrong says, by what a person has to fix, what is wrong with a runner.
func wrong(name string, o attempts.Outcome) string {
	switch class := verdict.ClassOf(o); {
	case class.Login:
		return name + " is not logged in, or may not be used"
	case class.Model:
		return "the model of " + name + " is not available"
	}
	return name + " could not be started"
}

// Refusing returns the runners of this configuration that would not work when they were last asked.
func Refusing(p *project.Project, pl *project.Plan, l *attempts.Ledger) []Refusal {
	used := append(slices.Clone(p.Config.Relay.Runners), p.Agents.Reviewers()...)
	var list []Refusal
	for _, r := range l.Refusing() {
		if slices.Contains(used, r.Runner) || slices.ContainsFunc(pl.Epic.Tasks, func(t epic.Task) bool { return t.Runner == r.Runner }) {
			list = append(list, Refusal{r, Fix(p, pl.Epic.Tasks, r.Runner, r.Outcome, r.Why), wrong(r.Runner, r.Outcome)})
		}
	}
	return list
}

// ForReport returns the same as a report has them.
func ForReport(list []Refusal) []view.Refused {
	var all []view.Refused
	for _, r := range list {
		fix, before, _ := strings.Cut(r.Fix, afterYou)
		all = append(all, view.Refused{Runner: r.Runner, What: r.What + plaintext.Because(before), Why: r.Why, Since: r.Since, Type: fix})
	}
	return all
}
