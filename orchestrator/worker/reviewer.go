package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"relay/orchestrator/git/gitcmd"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/reanchor"
	"relay/review"
	"relay/runners"
)

// panelSession is where a panel works: what it is asked about, and a checkout of the head for each reviewer.
type panelSession struct {
	c      *checkout
	a      engine.Attempt
	folder string // of the answers of this round
	// room gives a reviewer a checkout of its own; nil: all read in the attempt's, one after another.
	room func(ctx context.Context) (repo *reanchor.Git, leave func(), err error)

	mu    sync.Mutex
	usage attempts.Usage            // of the attempt: the agent's, and of the answers so far
	live  map[string]attempts.Usage // of the reviewers that are still at it
	notes []attempts.Note

	unkept attempts.Usage // what of usage is in no event yet
}

// askOnce asks a reviewer for its opinion, unless it has been asked the same before. Whatever it writes into its checkout
// ends there, and is told.
func (d *panelSession) askOnce(ctx context.Context, r engine.Reviewer, s review.Subject) (attempts.Opinion, error) {
	s.Focus, s.Instructions = r.Focus, r.Instructions
	question, err := d.c.question(ctx, s)
	if err != nil {
		return attempts.Opinion{}, err
	}
	if before, known := answered(d.a, r, question); known {
		before.Head = s.Head
		d.note("review", r.Name+" was asked the same before, and its answer counts: nothing has changed since")
		return before, nil
	}
	if unable := closed(d.a, r.Name, d.c.now()); unable != nil {
		return attempts.Opinion{}, unable
	}
	d.c.tell(engine.Event{Task: d.a.Task.ID, Kind: engine.KindReviewing, Detail: runners.Event{Text: r.Name}})
	repo := d.c.repo
	if d.room != nil {
		own, leave, err := d.room(ctx)
		if err != nil {
			return attempts.Opinion{}, err
		}
		defer leave()
		repo = own
	}
	back, err := d.c.unsteer(ctx, repo, s.Head)
	if err != nil {
		return attempts.Opinion{}, err
	}
	said, err := d.ask(ctx, r, repo, s)
	said.Question = question
	if d.room == nil {
		err = errors.Join(err, back())
	}
	if err == nil {
		err = d.keep(said)
	}
	return said, err
}

// ask has a reviewer read a checkout and say what it thinks of it.
func (d *panelSession) ask(ctx context.Context, r engine.Reviewer, repo *reanchor.Git, s review.Subject) (attempts.Opinion, error) {
	before, err := edits(ctx, repo)
	if err != nil {
		return attempts.Opinion{}, err
	}
	v, asked, err := review.Ask(ctx, &reviewerProcess{panelSession: d, who: r, root: repo.Root()}, s)
	if after, looking := edits(ctx, repo); looking == nil && after != before {
		d.note("review", "reviewer "+r.Name+" changed files: that is no part of the work")
	}
	if errors.Is(err, review.ErrNoVerdict) {
		return attempts.Opinion{}, &reviewerError{
			name: r.Name, outcome: attempts.Environment, category: attempts.QualityGate, told: true,
			detail: fmt.Sprintf("no verdict, asked %d times; its answers are in %s", asked, d.c.relative(filepath.Join(d.folder, r.Name))),
		}
	}
	var unable *reviewerError
	if errors.As(err, &unable) && unable.outcome == attempts.Environment {
		unable.detail += "; what it printed is in " + d.c.relative(filepath.Join(d.folder, r.Name))
	}
	return attempts.Opinion{Reviewer: r.Name, Model: r.Model, Head: s.Head, Verdict: v}, err
}

// keep makes an answer durable: it is paid for. The whole epic is no attempt of a task; what is said of it stands in a
// review that is not over.
func (d *panelSession) keep(said attempts.Opinion) error {
	if d.a.Task.ID != engine.WholeEpic {
		return d.c.recordReviewProgress(d.a, attempts.ReviewProgress{Opinions: []attempts.Opinion{said}})
	}
	said.Decision = said.Verdict.Decision
	r := &attempts.EpicReview{Base: d.a.Base, Head: said.Head, Why: "not every reviewer has answered yet", Reviewed: attempts.Reviewed{Opinions: []attempts.Opinion{said}}}
	d.mu.Lock()
	used := d.unkept
	d.unkept = attempts.Usage{}
	d.mu.Unlock()
	if used != (attempts.Usage{}) {
		r.Usage = &used
	}
	return d.c.ledger.Append(attempts.Event{Type: attempts.TypeEpicReviewed, EpicReviewed: redact.Redactor{Redactor: d.c.o.Secrets}.EpicReview(r)})
}

// edits is what stands in a checkout beside its commit, to be compared.
func edits(ctx context.Context, repo *reanchor.Git) (string, error) {
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"status", "--porcelain", "-z", "--untracked-files=all"}, Limit: gitcmd.MaxPrinted})
	head, _ := repo.Head(ctx)
	return head + string(out), err
}

func (d *panelSession) note(kind, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, attempts.Note{Kind: kind, Text: text})
}

// spend takes in what a reviewer has used for an answer, or so far for one that is not over.
func (d *panelSession) spend(name string, u runners.Usage, over bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live == nil {
		d.live = make(map[string]attempts.Usage)
	}
	if d.live[name] = usageOf(u); over {
		delete(d.live, name)
		d.usage.Add(usageOf(u))
		d.unkept.Add(usageOf(u))
	}
	sum := d.usage
	for _, more := range d.live {
		sum.Add(more)
	}
	d.c.used(d.a, sum)
}

// reviewerProcess asks one reviewer's CLI. Each question is a fresh process with its own folder.
type reviewerProcess struct {
	*panelSession
	who   engine.Reviewer
	root  string
	asked int
}

// Ask puts one prompt to the reviewer's CLI.
func (r *reviewerProcess) Ask(ctx context.Context, prompt []byte) (string, error) {
	folder := ""
	for there := true; there; { // of a run that was killed there may be answers: what they have cost is read from them
		r.asked++
		folder = filepath.Join(r.folder, r.who.Name, fmt.Sprint(r.asked))
		there = exists(folder)
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := errors.Join(r.c.makeRoom(in("prompt.md")), os.WriteFile(in("prompt.md"), withoutSecrets(r.c.o, prompt), 0o600)); err != nil {
		return "", err
	}
	o := r.c.o
	runner, err := o.NewRunner(r.who.Name, o.Supervisor)
	if err != nil {
		return "", &reviewerError{name: r.who.Name, outcome: attempts.Start, category: attempts.CLIError, detail: err.Error()}
	}
	report, err := runner.Run(ctx, runners.Request{
		Mark: r.a.Mark() + "/review", Question: true, Dir: r.root, Prompt: in("prompt.md"), Result: in("result.json"), Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"), End: in("end.json"),
		Schema: review.Schema(), Model: r.who.Model, Env: r.c.agentEnv(r.a, ""),
		Limits: runners.Limits{Wall: o.Review.Wall, Silence: o.Limits.Silence, FirstAnswer: o.Limits.FirstAnswer, Linger: o.Limits.Linger, StopGrace: o.Limits.StopGrace, TranscriptCap: o.Limits.OutputCap},
		Observe: func(e runners.Event) {
			if e.Kind == runners.EventUsage {
				r.spend(r.who.Name, e.Usage, false)
			}
		},
	})
	if err = errors.Join(err, makePrivate(o, in("result.json"))); err != nil {
		return "", err
	}
	r.spend(r.who.Name, report.Usage, true)
	switch report.Outcome {
	case runners.Claimed:
		return report.FinalText, nil
	case runners.NoResult, runners.BadResult:
		return "", nil // asked once more, and then no verdict: never an approval
	default:
		return "", unableTo(r.who.Name, report)
	}
}
