// Package planner asks an agent outside a run: for a plan, its missing parts, or to go on from a recorded conversation.
//
// planner.go has an agent write a plan from an idea, an issue or a rough plan, or what a plan lacks. The agent is only asked: it works in
// a checkout of its own that ends with it. relay reads its answer as a blueprint, runs the checks on the commit, and asks it again with
// what is wrong. Nothing is written but the record of it, in the folder of a run: the plan is for a person to take.
//
// fork.go has an agent go on from a recorded conversation in another way than was done then, outside of the plan.
package planner

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/blueprint"
	"relay/orchestrator"
	"relay/orchestrator/bench"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/limits"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/worker"
	"relay/reanchor"
)

// MostTasks is how many tasks a plan may have that its request does not name: a person reads them before agreeing.
const MostTasks = 100

// Request is what is to be planned.
type Request struct {
	Run     string     // id of the run whose folder has the record
	From    string     // where the text comes from, in words
	Text    string     // an idea, an issue or a rough plan
	Lines   bool       // Text is a document of several lines: tasks that it names are kept
	Fill    *epic.Epic // Text is this plan, of which only criteria and checks that are missing are wanted; nil: a plan is wanted
	Review  *epic.Epic // that relay made of Text: only what was misread is wanted; nil: a plan is wanted
	Runners []string   // who is asked, the next one when one cannot be
	Model   string     // "" : that of the options
	Base    string     // the commit it is about
	Rounds  int        // how often the agent answers at most
	Now     func() time.Time
}

// Result is what came of it.
type Result struct {
	Epic     *epic.Epic       // nil: no answer can be used
	Graph    *epic.Graph      // of it
	Told     []blueprint.Told // lines of the answer, in the file Kept, of which nothing was made, and those of a document that it leaves out
	Tried    []bench.TriedCheck
	Added    []Added   // with Fill
	Found    []Finding // with Review
	Wrong    []string  // with the last answer, if it cannot be used
	Finished bool      // by the answer, all tasks of a document are: no plan is made
	Runner   string
	Asked    int // times
	Usage    attempts.Usage
	Over     *limits.ExhaustedError // the cap that ended it; nil: none did

	Folder string // of briefs and transcripts, absolute
	Kept   string // file with the last answer, unchanged, absolute; "" : there was none
	Notes  []attempts.Note
	Stay   []string // in words, what could not be removed afterwards
}

// runMark ends the ids of runs in which a plan is made.
const runMark = "-plan"

// NewRun returns an id for the folder of what is made now. It begins as that of any run.
func NewRun(now time.Time) string {
	return attempts.NewRunID(now) + runMark
}

// IsRun reports whether a run of that id has made a plan, and belongs to no epic.
func IsRun(id string) bool { return strings.HasSuffix(id, runMark) }

// Task is the name that the agent is asked under where else a task's id is.
const Task = "plan"

// Run asks for the plan. Its errors are *UnableError when no agent could answer, the cause of a cancelled ctx, and failures of this
// machine; the result tells what was used also then. observe is called with what the agent does, from one goroutine.
func Run(ctx context.Context, o orchestrator.Options, r Request, observe func(engine.Event)) (Result, error) {
	o.Epic, o.Plan, o.Run, o.Begin = &epic.Epic{ID: "planning", Title: "A plan"}, nil, r.Run, r.Base
	o.Isolation, o.Review.Reviewers = engine.IsolationWorktree, nil
	r.Text = o.Secrets.Text(r.Text)
	o.CommandEnv = nil // checks that an agent has written get no login that the agent does not get
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	task := epic.Task{ID: Task, Title: "A plan"}
	s := &session{
		options: &o, request: &r, attempt: engine.Attempt{Run: r.Run, Number: 1, Base: r.Base, Task: task}, stop: cancel,
		end:      r.Now().Add(o.Limits.WallFor(&task)),
		spending: limits.NewTracker(limits.Caps{Attempt: o.Budget.Attempt}, attempts.Usage{}, &attempts.Ledger{}),
		result:   Result{Folder: filepath.Join(o.Dir, attempts.RunsDir, r.Run, Task, "1")},
	}
	s.spending.Begin(&task, attempts.Usage{})
	err := apart(ctx, &o, work{finish.AsidePlans, r.Run, "make plans"}, observe, func(with studying, events chan<- engine.Event) (err error) {
		s.events = events
		s.result.Notes, s.result.Stay, err = with.Study(ctx, s.attempt, s.plan)
		return err
	})
	if over, ok := errors.AsType[*limits.ExhaustedError](context.Cause(ctx)); ok {
		s.result.Over = over
		return s.result, nil
	}
	return s.result, cmp.Or(context.Cause(ctx), err)
}

// work is what an engine is wanted for outside of a run, in the folder of an id.
type work struct {
	kind       finish.AsideKind
	id, wanted string
}

// keepsLedger is an engine that writes to a ledger.
type keepsLedger interface {
	SetLedger(engine.Ledger, engine.Lock)
}

// apart has an engine do work outside of a run. observe is called with its events, from one goroutine.
func apart[E keepsLedger](
	ctx context.Context, o *orchestrator.Options, w work, observe func(engine.Event), do func(E, chan<- engine.Event) error,
) error {
	aside, err := finish.HoldAside(ctx, o.Worktree.Dir, w.kind, w.id)
	if err != nil {
		return err
	}
	defer func() { _ = aside.Release() }() // a lock that stays is not held
	o.Worktree.Dir = aside.Dir
	events, told := make(chan engine.Event, 256), make(chan struct{})
	with, err := orchestrator.OpenApart[E](ctx, o, events, w.wanted)
	if err != nil {
		return err
	}
	go func() {
		defer close(told)
		for e := range events {
			observe(e)
		}
	}()
	err = do(with, events)
	close(events)
	<-told
	return err
}

// studying is an engine that gives an agent a checkout to study, outside of a plan.
type studying interface {
	keepsLedger
	Study(
		ctx context.Context, a engine.Attempt, use func(context.Context, *worker.Study) error,
	) (notes []attempts.Note, stay []string, err error)
}

// brief returns the agent's brief.
func (s *session) brief() reanchor.Planning {
	r := s.request
	p := reanchor.Planning{
		Wanted: r.Text, Lines: r.Lines, From: r.From, Form: blueprint.Form, Most: MostTasks, Base: r.Base, Wall: s.left(),
		USD: s.options.Budget.Attempt.USD, Tokens: s.options.Budget.Attempt.Tokens,
	}
	if r.Review != nil {
		text, _ := r.Review.Encode() // it was read from a file
		p.Epic = s.options.Secrets.Text(string(text))
	}
	if r.Fill != nil {
		p.Form, p.Lacks = fillForm, lacking(r.Fill)
	}
	return p
}

// record writes whose session this is, for the agents ledger.
func (s *session) record(runner, dir, summary string) error {
	f := sessionkeeper.Fork{
		Plan: true, Query: s.request.From, Runner: runner, Base: s.request.Base, Dir: dir, Summary: summary,
		Model: cmp.Or(s.request.Model, s.options.Model),
	}
	if s.options.CLIOf != nil {
		f.Kind, _ = s.options.CLIOf(runner)
	}
	return f.Write(s.result.Folder)
}
