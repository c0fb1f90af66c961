package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator"
	"relay/review"
)

// proposal is what the review of the whole epic wants to be done.
type proposal struct {
	judged attempts.EpicReview
	round  int         // the round that adding it begins, from 1
	tasks  []epic.Task // that are not in the epic yet
	there  []string    // that are: relay was killed before it could say so
}

// proposed makes tasks of what the newest review of the whole epic found.
func proposed(e *epic.Epic, l *attempts.Ledger) (proposal, error) {
	last := l.LastEpicReview()
	if last == nil || last.Decision == "" {
		why := "the whole epic has not been reviewed"
		if last != nil {
			why = "the whole epic " + orchestrator.EpicVerdict(last)
		}
		return proposal{}, &exit.Hinted{Err: errors.New(why), Hint: "with quality_gate.epic: true, relay work asks the reviewers when every task is completed"}
	}
	p := proposal{judged: *last, round: l.EpicRounds() + 1}
	if len(last.Added) > 0 {
		return p, nil
	}
	tasks := review.Propose(last.Findings, func(id string) bool {
		_, inEpic := e.Task(id)
		return inEpic || l.Tasks[id] != nil
	})
	for _, t := range tasks {
		at := slices.IndexFunc(e.Tasks, func(o epic.Task) bool {
			return o.Title == t.Title && o.Description == t.Description && !earlier(l, o.ID)
		})
		if at < 0 {
			p.tasks = append(p.tasks, t)
		} else {
			p.there = append(p.there, e.Tasks[at].ID)
		}
	}
	return p, nil
}

// earlier reports whether a task was added for a review: the next one may find the same again, in the same words.
func earlier(l *attempts.Ledger, id string) bool {
	return slices.ContainsFunc(l.EpicReviews, func(r attempts.EpicReview) bool { return slices.Contains(r.Added, id) })
}

// unasked says why the tasks of a proposal are not to be added without a person; nil when they may be.
func (p proposal) unasked(rounds int) error {
	switch {
	case p.judged.Decision == review.Blocked:
		return &exit.Hinted{Err: errors.New("the reviewers block the whole epic: a person must decide"), Code: exit.Gated,
			Hint: "relay init --append shows what they found, and adds it when you say so"}
	case p.round > rounds:
		return &exit.Hinted{Err: fmt.Errorf("tasks were added %s already, and quality_gate.epic_rounds is %d", times(p.round-1), rounds), Code: exit.Gated,
			Hint: "relay init --append shows what the reviewers want now, and adds it when you say so"}
	}
	return nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return count(n, "time")
}

// addTasks writes the tasks into epic.yml, and that into the ledger. The store is open, so that no run is on; but a person can
// have an editor open.
func addTasks(p *project.Project, store *attempts.Store, pl *project.Plan, found proposal) (ids []string, err error) {
	path := p.File("epic.yml")
	source, err := epic.Append(p.Rel(path), pl.Source, found.tasks)
	if err != nil {
		return nil, &exit.Hinted{Err: err, Code: exit.Invalid, Hint: "write the tasks that relay init --append --dry-run shows into epic.yml yourself"}
	}
	if len(found.tasks) > 0 {
		if now, err := project.ReadFile(path, project.MaxPlan); err != nil || !bytes.Equal(now, pl.Source) {
			return nil, errors.Join(err, &exit.Hinted{Err: errors.New(p.Rel(path) + " was changed meanwhile: nothing has been added"), Hint: "relay init --append"})
		}
		if err := project.ReplacePrivate(path, source); err != nil {
			return nil, err
		}
	}
	ids = found.there
	for i := range found.tasks {
		ids = append(ids, found.tasks[i].ID)
	}
	return ids, store.Append(attempts.Event{Type: attempts.TypeTasksAdded, TasksAdded: &attempts.TasksAdded{Tasks: ids}})
}

// addFindings adds what the review of the whole epic has found unasked, as far as that may be.
func addFindings(p *project.Project, pl *project.Plan) (ids []string, err error) {
	store, err := p.Open(pl)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var found proposal
	store.View(func(l *attempts.Ledger) { found, err = proposed(pl.Epic, l) })
	if err != nil || len(found.tasks)+len(found.there) == 0 {
		return nil, err
	}
	if err := found.unasked(p.Config.QualityGate.EpicRounds); err != nil {
		return nil, err
	}
	return addTasks(p, store, pl, found)
}

// appendAnswer is what relay init --append --json prints.
type appendAnswer struct {
	Version  int             `json:"version"`
	Round    int             `json:"round"`
	Decision review.Decision `json:"decision"`
	Head     string          `json:"head"` // commit that was judged
	Tasks    []proposedTask  `json:"tasks"`
	Added    bool            `json:"added"`
}

type proposedTask struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Priority    int      `json:"priority"`
	Files       []string `json:"files,omitempty"`
}

// runAppend adds what the review of the whole epic found as tasks, when a person says so or has said so before.
func runAppend(ctx context.Context, opts initOptions) (err error) {
	a := opts.app
	p, pl, err := a.planned(ctx, nil)
	if err != nil {
		return err
	}
	store, err := p.Open(pl)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var found proposal
	store.View(func(l *attempts.Ledger) { found, err = proposed(pl.Epic, l) })
	if err != nil {
		return err
	}
	if opts.auto && len(found.tasks) > 0 {
		if err := found.unasked(p.Config.QualityGate.EpicRounds); err != nil {
			return err
		}
	}
	if !opts.json {
		tellProposal(a.out, found, status.Printer{Width: terminal.Columns(a.out.Dest)})
	}
	sure, err := opts.sure(len(found.tasks))
	if err != nil {
		return err
	}
	if sure || len(found.there) > 0 && !opts.dryRun {
		if !sure {
			found.tasks = nil
		}
		if _, err := addTasks(p, store, pl, found); err != nil {
			return err
		}
	}
	return opts.tellAppended(p, found, sure)
}

// sure reports whether to add so many tasks.
func (o initOptions) sure(n int) (bool, error) {
	switch {
	case n == 0 || o.dryRun:
		return false, nil
	case o.yes || o.auto:
		return true, nil
	case o.json || !isTerminalInput(o.app):
		return false, &exit.UsageError{Message: "stdin is not a terminal: relay cannot ask whether to add " + count(n, "task"), Hint: "pass --yes to add them, or --dry-run to print them"}
	}
	return o.app.confirm("add " + count(n, "task") + " to epic.yml?"), nil
}

// confirm asks a person a question that only a yes answers.
func (a *app) confirm(question string) bool {
	fmt.Fprint(a.err, question+" [y/N] ")
	said, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && said == "" {
		fmt.Fprintln(a.err)
	}
	said = strings.ToLower(strings.TrimSpace(said))
	return said == "y" || said == "yes"
}

func tellProposal(w io.Writer, p proposal, l status.Printer) {
	text := fmt.Sprintf("the whole epic at %.12s: %s", p.judged.Head, orchestrator.EpicVerdict(&p.judged))
	fmt.Fprintln(w, terminal.Wrap(text, l.Width, ""))
	for i := range p.tasks {
		t := &p.tasks[i]
		fmt.Fprintf(w, "\n%s  p%d  %s\n", t.ID, t.Priority, line(t.Title, max(l.Width-10, 20)))
		for text := range strings.SplitSeq(t.Description, "\n") {
			if text != "" {
				fmt.Fprintln(w, terminal.Wrap(text, l.Width, "    "))
			}
		}
	}
}

func (o initOptions) tellAppended(p *project.Project, found proposal, added bool) error {
	out := o.app.out
	switch {
	case o.json:
		answer := appendAnswer{Version: 1, Round: found.round, Decision: found.judged.Decision, Head: found.judged.Head, Added: added, Tasks: []proposedTask{}}
		for _, t := range found.tasks {
			answer.Tasks = append(answer.Tasks, proposedTask{t.ID, t.Title, t.Description, t.Priority, t.Files})
		}
		return o.app.printJSON(answer)
	case added:
		fmt.Fprintf(out, "\nadded to %s\nnext:  relay work\n", p.Rel(p.File("epic.yml")))
	case len(found.there) > 0:
		fmt.Fprintf(out, "\n%s in %s already\nnext:  relay work\n", strings.Join(found.there, ", ")+" "+verb(len(found.there), "is", "are"), p.Rel(p.File("epic.yml")))
	case len(found.tasks) == 0:
		fmt.Fprint(out, "\nnothing to add\n")
	case !o.dryRun:
		fmt.Fprint(out, "\nnothing has been added\n")
	}
	return nil
}
