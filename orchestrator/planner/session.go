package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/orchestrator/worker"
	"relay/runners"
	"relay/runners/sandbox"
)

// session is one conversation with an agent about a plan.
type session struct {
	options  *orchestrator.Options
	request  *Request
	attempt  engine.Attempt
	events   chan<- engine.Event
	stop     context.CancelCauseFunc
	end      time.Time // of the time for all of it
	spending *limits.Tracker
	result   Result
	over     *limits.ExhaustedError // with an answer that was given all the same: no other is asked for
	turns    int                    // folders of the conversation that are taken
	cut      bool                   // only the beginning of the last answer was read

	id    string        // of the CLI's session; "" : none that can go on
	spent runners.Usage // in that session
}

// UnableError means that an agent could not be asked, or did not come to an answer.
type UnableError struct {
	Runner  string
	Outcome attempts.Outcome
	Detail  string

	gone bool // its session cannot continue
}

func (e *UnableError) Error() string { return e.Runner + " has written no plan: " + e.Detail }

// plan asks until an answer can be used, or there have been enough.
func (s *session) plan(ctx context.Context, place *worker.Study) error {
	var failed error
	for _, name := range s.request.Runners {
		s.result.Runner, s.id, s.spent = name, "", runners.Usage{}
		failed = s.converse(ctx, place)
		unable, ok := errors.AsType[*UnableError](failed)
		if !ok || verdict.ClassOf(unable.Outcome).Runner != verdict.RunnerFailed || ctx.Err() != nil {
			return failed
		}
		s.say(unable.Error())
	}
	return failed
}

// converse has one agent answer, again and again with what is wrong.
func (s *session) converse(ctx context.Context, place *worker.Study) error {
	about := s.brief()
	for s.result.Asked < s.request.Rounds {
		prompt := about.Prompt()
		if s.id != "" && about.Wrong != nil {
			prompt = about.Again()
		}
		answer, err := s.ask(ctx, place, prompt)
		if unable, ok := errors.AsType[*UnableError](err); ok && unable.gone && s.id != "" {
			s.id, s.spent = "", runners.Usage{}
			answer, err = s.ask(ctx, place, about.Prompt())
		}
		if err != nil {
			return err
		}
		s.result.Asked++
		wrong, err := s.judge(ctx, place, answer)
		if err != nil || len(wrong) == 0 {
			return errors.Join(err, s.record(s.result.Runner, place.Root, s.summary()))
		}
		s.result.Wrong, about.Wrong, about.Answer, about.Wall = wrong, wrong, answer, s.left()
		if s.result.Over = s.over; s.over != nil {
			break
		}
		s.say(fmt.Sprintf("answer %d of %d cannot be used: %s", s.result.Asked, s.request.Rounds, plaintext.Line(plaintext.Some(wrong, 1))))
	}
	return s.record(s.result.Runner, place.Root, s.summary())
}

func (s *session) summary() string {
	if s.result.Finished {
		return "Nothing is left to do in " + s.request.From
	}
	if s.result.Epic == nil {
		return fmt.Sprintf("No plan after %d answers: %s", s.result.Asked, plaintext.Line(cmp.Or(plaintext.Some(s.result.Wrong, 1), "no answer")))
	}
	if s.request.Review != nil {
		return fmt.Sprintf("%d findings in %s", len(s.result.Found), s.request.From)
	}
	return fmt.Sprintf("A plan of %d tasks: %s", len(s.result.Epic.Tasks), s.result.Epic.Title)
}

// left is the time that is left for all of it.
func (s *session) left() time.Duration { return max(s.end.Sub(s.request.Now()), time.Second) }

// say tells who watches something of relay's own.
func (s *session) say(text string) {
	s.events <- engine.Event{Task: Task, Kind: engine.KindMending, Detail: runners.Event{Text: text}}
}

// ask puts one prompt to the agent, in its session if that can go on, and returns its last message.
func (s *session) ask(ctx context.Context, place *worker.Study, prompt []byte) (string, error) {
	folder := s.result.Folder
	if s.turns > 0 {
		folder = filepath.Join(folder, relayfiles.TurnFolder(s.turns))
	}
	s.turns++
	files, name := relayfiles.In(folder), s.result.Runner
	if err := errors.Join(files.Give(s.options.Dir, prompt), s.record(name, place.Root, "")); err != nil {
		return "", err
	}
	runner, err := s.options.NewRunner(name, s.options.Supervisor)
	if err != nil {
		return "", &UnableError{Runner: name, Outcome: verdict.OutcomeOf(runners.CannotStart).Outcome, Detail: err.Error()}
	}
	req, before := files.Request(&s.options.Limits, s.left()), s.result.Usage
	req.Mark, req.Question, req.Dir, req.Env, req.Role = s.attempt.Mark(), true, place.Root, place.Env, sandbox.Reviewer
	req.Model, req.Session, req.Spent = cmp.Or(s.request.Model, s.options.Model), s.id, s.spent
	req.Observe = func(e runners.Event) { s.observe(e, before) }
	report, err := runner.Run(ctx, req)
	if err = errors.Join(err, relayfiles.MakePrivate(s.options.Secrets, files.Result)); err != nil {
		return "", err
	}
	s.cut = report.CutOff()
	s.over = s.use(report.Usage, before)
	if report.Session != s.id {
		s.spent = runners.Usage{}
	}
	s.id, s.spent = report.Session, s.spent.Plus(report.Usage)
	switch report.Outcome {
	case runners.Claimed:
		return report.FinalText, nil
	case runners.NoResult, runners.BadResult:
		return "", nil // asked again, as for any answer that cannot be used
	case runners.NoSession:
		return "", &UnableError{Runner: name, Detail: report.Detail, gone: true}
	default:
	}
	row := verdict.OutcomeOf(report.Outcome)
	return "", &UnableError{Runner: name, Outcome: row.Outcome, Detail: cmp.Or(report.Detail, row.Words)}
}

// observe passes on what an agent does. before is what was used until its turn.
func (s *session) observe(e runners.Event, before attempts.Usage) {
	if e.Kind == runners.EventUsage {
		if over := s.use(e.Usage, before); over != nil {
			s.stop(over)
		}
		return
	}
	select {
	case s.events <- engine.Event{Task: Task, Runner: s.result.Runner, Kind: engine.KindActivity, Detail: e}:
	default: // the listener is busy
	}
}

// use notes what a turn has used, and returns the cap that is passed, or nil.
func (s *session) use(u runners.Usage, before attempts.Usage) *limits.ExhaustedError {
	before.Add(engine.UsageOf(u))
	s.result.Usage = before
	return s.spending.Record(Task, before)
}
