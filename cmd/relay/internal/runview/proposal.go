package runview

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/briefing"
	"relay/orchestrator/decide"
	"relay/review"
)

// Proposal is what the review of the whole epic wants to be done, and what agents have found besides.
type Proposal struct {
	Judged     attempts.EpicReview // its Decision is empty when there is none
	Round      int                 // the round that adding it begins, from 1
	Tasks      []epic.Task         // of the review that are not in the epic yet
	There      []string            // that are: relay was killed before it could say so
	Discovered []epic.Task         // of agents; a person has to agree to them
}

// NewProposal makes tasks of what the newest review of the whole epic found, and of what agents have found and left. redact takes secrets
// out of what they say. It fails when there is no review and nothing else to propose.
func NewProposal(e *epic.Epic, l *attempts.Ledger, redact func(string) string) (Proposal, error) {
	p, err := Reviewed(e, l)
	source := briefing.LearningsOf(e, l)
	source.Redact = redact
	found := briefing.Discovered(source)
	for _, t := range p.Tasks {
		found = slices.DeleteFunc(found, func(f briefing.Discovery) bool { return f.Says(t.Title) })
	}
	p.Discovered = briefing.DiscoveredTasks(found, func(id string) bool { return alreadyTaken(e, l, id) })
	if len(p.Discovered) > 0 {
		err = nil
	}
	return p, err
}

// alreadyTaken reports whether a task has or had an id.
func alreadyTaken(e *epic.Epic, l *attempts.Ledger, id string) bool {
	_, inEpic := e.Task(id)
	return inEpic || l.Tasks[id] != nil
}

// Reviewed makes tasks of what the newest review of the whole epic found. It fails when there is no such review.
func Reviewed(e *epic.Epic, l *attempts.Ledger) (Proposal, error) {
	last := l.LastEpicReview()
	if last == nil || last.Decision == "" {
		why := "the whole epic has not been reviewed"
		if last != nil {
			why = "the whole epic " + decide.EpicVerdict(last)
		}
		return Proposal{}, &terminal.Hinted{Err: errors.New(why), Hint: "with quality_gate.epic: true, relay work asks the reviewers when every task is completed"}
	}
	p := Proposal{Judged: *last, Round: l.EpicRounds() + 1}
	if len(last.Added) > 0 {
		return p, nil
	}
	tasks := review.Propose(last.Findings, func(id string) bool { return alreadyTaken(e, l, id) })
	for _, t := range tasks {
		at := slices.IndexFunc(e.Tasks, func(o epic.Task) bool {
			earlier := slices.ContainsFunc(l.EpicReviews, func(r attempts.EpicReview) bool { return slices.Contains(r.Added, o.ID) })
			return o.Title == t.Title && o.Description == t.Description && !earlier // the next review may find the same, in the same words
		})
		if at < 0 {
			p.Tasks = append(p.Tasks, t)
		} else {
			p.There = append(p.There, e.Tasks[at].ID)
		}
	}
	return p, nil
}

// Allowed fails when the tasks may not be added unless a person says so. rounds is how often they may.
func (p Proposal) Allowed(rounds int) error {
	switch {
	case p.Judged.Decision == review.Blocked:
		return &terminal.Hinted{
			Err: errors.New("the reviewers block the whole epic: a person must decide"), Code: terminal.Gated,
			Hint: "relay init --append shows what they found, and adds it when you say so",
		}
	case p.Round > rounds:
		return &terminal.Hinted{
			Err: fmt.Errorf("tasks were added %s already, and quality_gate.epic_rounds is %d", plaintext.Count(p.Round-1, "time"), rounds), Code: terminal.Gated,
			Hint: "relay init --append shows what the reviewers want now, and adds it when you say so",
		}
	}
	return nil
}

// AddProposed writes the tasks into epic.yml, and those of the review into the ledger, and returns the ids of these. The store is open, so
// that no run is active. It fails when epic.yml has changed since it was read, as by an editor.
func AddProposed(p *project.Project, store *attempts.Store, pl *project.Plan, found Proposal) (ids []string, err error) {
	path := p.File("epic.yml")
	more := slices.Concat(found.Tasks, found.Discovered)
	source, err := epic.Append(p.Rel(path), pl.Source, more)
	if err != nil {
		return nil, &terminal.Hinted{Err: err, Code: terminal.Invalid, Hint: "write the tasks that relay init --append --dry-run shows into epic.yml yourself"}
	}
	if len(more) > 0 {
		if now, err := project.ReadFile(path, project.MaxPlan); err != nil || !bytes.Equal(now, pl.Source) {
			return nil, errors.Join(err, &terminal.Hinted{Err: errors.New(p.Rel(path) + " was changed meanwhile: nothing has been added"), Hint: "relay init --append"})
		}
		if err := project.ReplacePrivate(path, source); err != nil {
			return nil, err
		}
	}
	ids = append(found.There, each.Of(found.Tasks, func(t epic.Task) string { return t.ID })...)
	if len(ids) == 0 {
		return nil, nil // the ledger holds what became of a review
	}
	return ids, store.Append(attempts.Event{Type: attempts.TypeTasksAdded, TasksAdded: &attempts.TasksAdded{Tasks: ids}})
}

// AddUnasked adds what the review of the whole epic has found, if that is allowed without a person, and returns the ids.
func AddUnasked(p *project.Project, pl *project.Plan) (ids []string, err error) {
	store, err := p.Open(pl)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close(store, pl)) }()
	var found Proposal
	store.View(func(l *attempts.Ledger) { found, err = Reviewed(pl.Epic, l) })
	if err != nil || len(found.Tasks)+len(found.There) == 0 {
		return nil, err
	}
	if err := found.Allowed(p.Config.QualityGate.EpicRounds); err != nil {
		return nil, err
	}
	return AddProposed(p, store, pl, found)
}

// Write prints the verdict and the tasks.
func (p Proposal) Write(w io.Writer, l status.Printer) { l.Print(w, "", "proposal", p) }

// Verdict is the result of the review in words.
func (p Proposal) Verdict() string { return decide.EpicVerdict(&p.Judged) }

// ProposalAnswer is what relay init --append --json prints.
type ProposalAnswer struct {
	Version    int             `json:"version"`
	Round      int             `json:"round"`
	Decision   review.Decision `json:"decision"` // "": the whole epic has not been reviewed
	Head       string          `json:"head"`     // commit that was judged
	Tasks      []ProposedTask  `json:"tasks"`    // of the review
	Discovered []ProposedTask  `json:"discovered"`
	Added      bool            `json:"added"`
}

// ProposedTask is a task in an Answer.
type ProposedTask struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Priority    int      `json:"priority"`
	Files       []string `json:"files,omitempty"`
}

// More counts the tasks that are to be added.
func (p Proposal) More() int { return len(p.Tasks) + len(p.Discovered) }

// Answer returns the proposal for JSON; added reports whether its tasks are in the epic now.
func (p Proposal) Answer(added bool) ProposalAnswer {
	answer := ProposalAnswer{Version: 1, Round: p.Round, Decision: p.Judged.Decision, Head: p.Judged.Head, Added: added}
	answer.Tasks, answer.Discovered = answers(p.Tasks), answers(p.Discovered)
	return answer
}

func answers(tasks []epic.Task) []ProposedTask {
	return append([]ProposedTask{}, each.Of(tasks, func(t epic.Task) ProposedTask {
		return ProposedTask{t.ID, t.Title, t.Description, t.Priority, t.Files}
	})...) // nil would be printed as null
}
