package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
)

// Decision is what a person wants of a task.
type Decision struct {
	App     *cli.App
	Task    string
	Reason  string // or the note of an approval, or an answer
	Cascade bool
	Same    bool   // also decide on the tasks that share its row of what needs a person
	flag    string // that names the epic to other commands; see [project.Project.EpicFlag]
}

// Decide turns what a person wants into events, with what to tell them.
type Decide func(o Decision, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error)

// Decided is what became of a decision, as gate, ungate and retry print it with --json.
type Decided struct {
	Task    string   `json:"task"`
	Changed []string `json:"changed"` // tasks whose state was changed
	Message string   `json:"message"`
}

// Make decides on the ledger, or, while a run is on, has that do it.
func (o Decision) Make(
	ctx context.Context, p *project.Project, pl *project.Plan, what attempts.RequestKind, decide Decide,
) (done Decided, err error) {
	o.flag = p.EpicFlag()
	t, err := pl.Task(o.Task)
	if err != nil {
		return done, err
	}
	if o.Same {
		return o.makeAll(ctx, p, pl, what, decide)
	}
	store, err := p.Open(pl)
	if held, ok := errors.AsType[*attempts.HeldError](err); ok {
		return askRunInstead(ctx, o, p, held, what)
	}
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, p.Close(store, pl)) }()
	var events []attempts.Event
	var message string
	store.View(func(l *attempts.Ledger) { events, message, err = decide(o, pl, l, t) })
	if err != nil {
		return done, err
	}
	if err := store.Append(events...); err != nil {
		return done, err
	}
	changed := each.Of(events, func(e attempts.Event) string { return e.Task })
	return Decided{Task: t.ID, Changed: append([]string{}, changed...), Message: message}, nil
}

// makeAll decides on each task of the row that has the task among what needs a person.
func (o Decision) makeAll(
	ctx context.Context, p *project.Project, pl *project.Plan, what attempts.RequestKind, decide Decide,
) (all Decided, err error) {
	known, err := p.View(pl)
	if err != nil {
		return all, err
	}
	tasks := []string{o.Task}
	for _, row := range view.New(status.Input(p, pl, known, "")).Night(o.App.Now()).Needs {
		if of := append([]string{row.ID}, row.Also...); slices.Contains(of, o.Task) {
			tasks = of
		}
	}
	all, o.Same = Decided{Task: o.Task}, false
	for _, o.Task = range tasks {
		done, err := o.Make(ctx, p, pl, what, decide)
		if err != nil {
			return all, err
		}
		all.Changed, all.Message = append(all.Changed, done.Changed...), strings.TrimPrefix(all.Message+"\n"+done.Message, "\n")
	}
	return all, nil
}

// Gate holds a task.
func Gate(o Decision, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	switch l.StatusOf(p.Graph, t.ID) {
	case attempts.Completed:
		return nil, "", &terminal.Hinted{Err: fmt.Errorf("%s is completed", t.ID), Hint: "relay retry " + t.ID + o.flag + " makes it pending again; then it can be gated"}
	case attempts.Gated:
		if decide.InPlaceOf(l.Record(t.ID)) == "" {
			return nil, fmt.Sprintf("%s is gated already: %s", t.ID, l.Tasks[t.ID].Gate.Reason.Words()), nil
		}
	default: // the others can be gated
	}
	message := t.ID + " is gated" + decide.InPlaceOf(l.Record(t.ID))
	if n := p.Waiting(l, t.ID); n > 0 {
		message += ", which blocks " + plaintext.Count(n, "task")
	}
	gate := &attempts.Gate{Reason: attempts.UserBlocked, Detail: plaintext.Capped(o.App.Secrets.Text(o.Reason), 500), At: o.App.Now().UTC()}
	return []attempts.Event{{Type: attempts.TypeGated, Task: t.ID, Gate: gate}}, message, nil
}

// Approve takes a completed task as it is, or as done by a person.
func Approve(o Decision, _ *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	rec := l.Record(t.ID)
	if (t.Kind != epic.KindPerson || rec.Completed) && len(rec.Looks()) == 0 {
		return nil, "", &terminal.Hinted{Err: fmt.Errorf("%s has nothing to approve", t.ID), Hint: "relay status" + o.flag +
			" lists what needs you"}
	}
	note := attempts.Note{Kind: "approved", Text: plaintext.Capped(o.App.Secrets.Text(o.Reason), 500)}
	return []attempts.Event{{Type: attempts.TypeApproved, Task: t.ID, Note: &note}}, decide.Approved(t, rec), nil
}

// Ungate lets a gated task be tried again.
func Ungate(o Decision, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	if len(l.Record(t.ID).Looks()) > 0 {
		return Approve(o, p, l, t)
	}
	if status := l.StatusOf(p.Graph, t.ID); status != attempts.Gated {
		return nil, "", &terminal.Hinted{Err: fmt.Errorf("%s is not gated, but %s", t.ID, status), Hint: fmt.Sprintf("relay status%s lists the gated tasks", o.flag)}
	}
	ungated := attempts.Event{Type: attempts.TypeUngated, Task: t.ID, Answer: o.said(l)}
	if t.Kind == epic.KindPerson {
		return []attempts.Event{ungated}, t.ID + " is gated again when its turn comes; when you have done it: relay approve " + t.ID + o.flag, nil
	}
	return []attempts.Event{ungated}, t.ID + " will be tried again: relay work" + o.flag, nil
}

// said returns what the person says to the task's next agent, without secrets; nil: nothing.
func (o Decision) said(l *attempts.Ledger) *attempts.Answer {
	return l.Record(o.Task).AnswerTo(o.App.Secrets.Text(o.Reason))
}

// Answer says something to the next agent of a task, which lifts a gate that waits for it.
func Answer(o Decision, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	message := t.ID + "'s next agent gets your answer"
	switch status := l.StatusOf(p.Graph, t.ID); {
	case status == attempts.Completed:
		message = t.ID + " is completed, and your answer is recorded: relay retry " + t.ID + o.flag + " repeats it with the answer"
	case status == attempts.Gated && l.Tasks[t.ID].Gate.Reason == attempts.AwaitsAnswer:
		message = t.ID + " continues with your answer: relay work" + o.flag
	case status == attempts.Gated:
		message += "; it is still gated: relay ungate " + t.ID + o.flag
	}
	return []attempts.Event{{Type: attempts.TypeAnswered, Task: t.ID, Answer: o.said(l)}}, message, nil
}

// Retry makes a task pending again.
func Retry(o Decision, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	events := []attempts.Event{{Type: attempts.TypeReset, Task: t.ID, Answer: o.said(l)}}
	if o.Cascade {
		for _, id := range p.Downstream(t.ID) {
			if rec := l.Record(id); rec.Completed || rec.Gate != nil {
				events = append(events, attempts.Event{Type: attempts.TypeReset, Task: id})
			}
		}
	}
	message := t.ID + " is pending again"
	stays := ""
	rec := l.Record(t.ID)
	said := o.Reason != "" || slices.ContainsFunc(rec.Answers, func(a attempts.Answer) bool { return a.After == len(rec.Attempts) })
	changed := slices.ContainsFunc(rec.Attempts, func(a attempts.Attempt) bool { return a.Head != a.Base })
	if rec.Completed && !said && changed {
		stays = "\nits commits stay: revert them or change the task in epic.yml, or the agent finds nothing to do"
	}
	if n := len(events) - 1; n > 0 {
		message += fmt.Sprintf(", and so %s %s that depend on it", plaintext.Verb(n, "is", "are"), plaintext.Count(n, "task"))
	}
	return events, message + ": relay work" + o.flag + stays, nil
}

// askRunInstead has the run that holds the epic do what else is done on the ledger. A command that holds it is named, and so is a run of
// another machine.
func askRunInstead(
	ctx context.Context, opts Decision, p *project.Project, held *attempts.HeldError, what attempts.RequestKind,
) (Decided, error) {
	busy := &terminal.Hinted{
		Err: errors.New(terminal.HolderMessage(held, held)), Code: terminal.Running,
		Hint: "interrupt that run (Ctrl-C or TERM), or wait until it ends: relay status --watch" + opts.flag,
	}
	run, err := project.ActiveRun(ctx, p)
	switch {
	case held.Foreign || err != nil && ctx.Err() == nil:
		return Decided{}, busy
	case err != nil:
		return Decided{}, err
	case opts.Cascade:
		return Decided{}, &terminal.Hinted{Err: errors.New("--cascade is not for a run that is on"), Code: terminal.Running, Hint: "type it again when the run has ended: relay status --watch" + opts.flag}
	}
	message, err := Ask(ctx, p, run.Holder, Request{What: what, Task: opts.Task, Reason: opts.Reason})
	return Decided{Task: opts.Task, Changed: []string{opts.Task}, Message: message}, err
}
