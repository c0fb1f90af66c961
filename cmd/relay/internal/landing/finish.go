package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/planning"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/report"
)

// Finish lands the work of an epic, or of the epics of a playlist, as the flags of relay finish say.
type Finish struct {
	App      *cli.App
	PR       bool
	Into     string
	Playlist string
	DryRun   bool
	JSON     bool
	Tick     bool
	Yes      bool
	NoChecks bool
}

// Run lands the work and prints what it did.
func (o Finish) Run(ctx context.Context) error {
	if o.Playlist != "" {
		return o.list(ctx)
	}
	p, pl, err := o.App.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	f := &finishing{Finish: o, project: p, plan: pl}
	if err := f.finish(ctx); err != nil {
		return err
	}
	return f.print()
}

// finished is what relay finish --json prints.
type finished struct {
	Version     int                `json:"version"`
	Epic        string             `json:"epic"`
	Branch      string             `json:"branch"` // that is landed
	Tip         string             `json:"tip"`
	Into        string             `json:"into"`
	From        string             `json:"from"` // commits Into was at, and is at
	To          string             `json:"to"`
	How         finish.How         `json:"how"`
	Commits     int                `json:"commits"`
	DryRun      bool               `json:"dry_run"`
	Untested    bool               `json:"untested"`           // Into had changed since, and no checks have run on the two together
	Squashed    string             `json:"squashed,omitempty"` // commit of Into that has all of it, or its beginning
	LeftOut     []string           `json:"left_out,omitempty"` // commits that were taken off Into, each with its subject
	Undo        string             `json:"undo,omitempty"`
	Landed      []string           `json:"landed"`          // completed tasks
	Looks       []*status.Task     `json:"looks,omitempty"` // those of them that a person has to look at
	Open        []status.Task      `json:"open"`            // the others
	Again       []string           `json:"again,omitempty"` // those of Open that had landed before relay retry
	Judged      *status.EpicReview `json:"epic_review,omitempty"`
	Regressions []string           `json:"relapsed,omitempty"` // checks that fail on what has landed, as the newest run found in which something did
	Request     *pullRequest       `json:"pull_request,omitempty"`
	Ticked      []planning.Ticked  `json:"ticked,omitempty"`
	ExitCode    int                `json:"exit_code"`

	Unverified []*status.Task `json:"unverified,omitempty"` // those of Landed that nothing proved
}

// finishing is one relay finish under way.
type finishing struct {
	Finish
	project *project.Project
	plan    *project.Plan
	view    *attempts.View
	step    *finish.Step
	answer  finished
}

// finish lands the epic, or says in its answer what it would do.
func (f *finishing) finish(ctx context.Context) (err error) {
	p, pl := f.project, f.plan
	store, err := p.Open(pl) // no run may begin meanwhile
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close(store, pl)) }()
	if f.view, err = p.View(pl); err != nil {
		return err
	}
	f.App.WarnKilled(f.view)
	if err := f.prepare(ctx); err != nil {
		return err
	}
	ask := func(question string) bool {
		return f.Yes || f.DryRun || !f.JSON && f.App.CanAsk() && f.App.Confirm(question)
	}
	l := status.Printer{Width: terminal.Columns(f.App.Err.Dest), Flag: p.EpicFlag()}
	if err = status.AskLooks(f.App.Err, l, f.JSON, f.answer.Looks, ask); err == nil {
		f.answer.Untested, err = candidate{&f.Finish, f.project, f.plan, f.view, f.step, store}.check(ctx)
	}
	if err == nil {
		err = f.land(ctx, store)
	}
	if err == nil && f.Tick && !f.DryRun {
		err = f.tickSources(ctx)
	}
	return err
}

// land takes the step, or opens a pull request for it.
func (f *finishing) land(ctx context.Context, store *attempts.Store) (err error) {
	switch {
	case f.PR && f.step.How != finish.NothingToLand:
		text, wrong := report.PullRequest(f.plan.Epic, f.plan.Graph, f.view.Ledger)
		if wrong != nil {
			return wrong
		}
		f.answer.Request, err = opener{f.App, f.DryRun, f.project, f.plan, f.step}.open(ctx, text)
		err = errors.Join(err, f.requested(store))
	case f.PR:
	case !f.DryRun && f.step.How != finish.NothingToLand:
		if err = f.step.Land(ctx, func() error { return relayfiles.Unoccupied(f.project.Git) }); err == nil {
			err = f.written(store)
		}
	case !f.DryRun && f.view.Ledger.Integration.Finished == "": // somebody merged it by hand
		err = f.written(store)
	}
	return err
}

// prepare plans the step and says which tasks are in it.
func (f *finishing) prepare(ctx context.Context) (err error) {
	into := cmp.Or(f.Into, f.view.Ledger.Integration.From)
	f.step, err = finish.Plan(ctx, finish.Options{
		Git: f.project.Git, Epic: f.plan.Epic, Into: strings.TrimPrefix(into, "refs/heads/"), Base: f.view.Ledger.Integration.Base,
		Landing: integration.Mode(f.project.Config.Relay.Landing), Sign: f.project.Config.Relay.Sign, Apart: f.PR,
		Ledger: relayfiles.LedgerViewOf(f.view.Ledger, f.project.Dir),
	})
	if err != nil {
		return err
	}
	s := f.step
	if why := s.Unsigned(); why != "" {
		fmt.Fprintf(f.App.Err, "relay: warning: it lands without a signature: %s\n", why)
	}
	f.answer = finished{
		Version: 1, Epic: f.plan.Epic.ID, Branch: s.Name, Tip: s.Tip, Into: s.Into, From: s.Old, To: s.New, How: s.How, Commits: s.Commits,
		DryRun: f.DryRun, Landed: []string{}, Open: []status.Task{},
		LeftOut: s.Dropped, Squashed: s.Content.As,
	}
	if s.How != finish.NothingToLand && !f.PR {
		f.answer.Undo = s.Undo()
	}
	report := status.New(f.plan, f.view, f.project.Config.Relay.MaxAttemptsPerTask, false)
	f.answer.Judged, f.answer.Regressions, f.answer.Unverified = report.Judged, report.Regressions, report.Unproved()
	for _, t := range report.Tasks {
		if t.Status == attempts.Completed {
			f.answer.Landed = append(f.answer.Landed, t.ID)
			if len(t.Looks) > 0 && s.How != finish.NothingToLand {
				f.answer.Looks = append(f.answer.Looks, &t)
				if f.DryRun && !f.Yes {
					f.answer.ExitCode = terminal.Gated
				}
			}
			continue
		}
		f.answer.Open, f.answer.ExitCode = append(f.answer.Open, t), terminal.Gated
		if there, err := f.landed(ctx, t.ID); err != nil {
			return err
		} else if there {
			f.answer.Again = append(f.answer.Again, t.ID)
		}
	}
	return nil
}

// landed reports whether something of a task is in what relay finish lands, as of one that a person had begin again.
func (f *finishing) landed(ctx context.Context, task string) (bool, error) {
	for _, a := range f.view.Ledger.Record(task).Attempts {
		if a.Landed != "" {
			if there, err := f.step.Has(ctx, a.Landed); err != nil || there {
				return there, err
			}
		}
	}
	return false, nil
}

// written records that the work is where it belongs.
func (f *finishing) written(store *attempts.Store) error {
	a := &f.answer
	how := strings.ReplaceAll(string(a.How), string(finish.NothingToLand), "hand")
	return store.Append(attempts.Event{Type: attempts.TypeFinished, Finished: &attempts.Finished{
		Branch: a.Branch, Into: a.Into, How: how, From: a.From, To: a.To,
	}})
}

// requested records that a pull request was opened, if its host has said where.
func (f *finishing) requested(store *attempts.Store) error {
	r := f.answer.Request
	if r == nil || r.URL == "" {
		return nil
	}
	return store.Append(attempts.Event{Type: attempts.TypePullRequest, PullRequest: &attempts.PullRequest{
		URL: f.App.Secrets.Text(plaintext.Capped(r.URL, maxURL)), Branch: r.Head, Into: r.Base,
	}})
}

// maxURL bounds an address that a host's program has printed.
const maxURL = 2000

func (f *finishing) print() error {
	if !f.JSON {
		f.text()
	}
	return cmp.Or(cli.Print(f.App, f.JSON, f.answer), terminal.Exit(f.answer.ExitCode))
}

// text tells a person what was done, what is missing, and how to take it back.
func (f *finishing) text() {
	a, w := &f.answer, f.App.Out
	if a.Request != nil {
		a.Request.write(w)
	} else {
		fmt.Fprintln(w, f.headline())
	}
	if len(f.step.Dropped) > 0 {
		fmt.Fprintf(w, "left out, as %s has it no longer: %s\n", a.Into, plaintext.Some(f.step.Dropped, 5))
	}
	l := status.Printer{Now: f.App.Now(), Width: terminal.Columns(f.App.Out.Dest), Dead: true}
	if len(a.Landed) > 0 {
		fmt.Fprintln(w, "in it: "+terminal.Hang(plaintext.Some(a.Landed, status.MaxTasks), l.Width, "       "))
	}
	l.Print(w, "", "unproved", a.Unverified)
	var in, out []*status.Task
	for i := range a.Open {
		if t := &a.Open[i]; slices.Contains(a.Again, t.ID) {
			in = append(in, t)
		} else {
			out = append(out, t)
		}
	}
	l.OpenTasks(w, "included, and to be done again:", in)
	l.OpenTasks(w, "not included:", out)
	l.EpicReview(w, a.Judged)
	if a.Untested && a.Request == nil {
		fmt.Fprintf(w, "%s had changed: the merged result has not been tested\n", a.Into)
	}
	if a.Undo != "" && !f.DryRun {
		fmt.Fprintf(w, "undo:  %s\n", a.Undo)
	}
	if a.Request == nil && !f.step.Here && !f.DryRun && a.How != finish.NothingToLand {
		fmt.Fprintf(w, "look:  git switch %s\n", plaintext.ShellWord(a.Into))
	}
	status.WriteRegressions(w, a.Regressions)
	a.writeTicked(w)
}

func (f *finishing) headline() string {
	a := &f.answer
	verb := "landed"
	switch {
	case a.How == finish.NothingToLand && a.Squashed != "":
		return fmt.Sprintf("the night's work is in %s already (squashed as %.7s)", a.Into, a.Squashed)
	case a.How == finish.NothingToLand:
		return fmt.Sprintf("%s has everything of %s already", a.Into, a.Branch)
	case f.DryRun:
		verb = "would land"
	}
	return fmt.Sprintf("%s %s of %s on %s by %s: %.12s..%.12s", verb, plaintext.Count(a.Commits, "commit"), a.Branch, a.Into, a.How, a.From, a.To)
}

// tickSources ticks completed tasks in the plan that they come from, in this checkout.
func (f *finishing) tickSources(ctx context.Context) error {
	on, err := f.project.Git.Branch(ctx)
	if err != nil {
		return err
	}
	if on != f.answer.Into {
		return &terminal.Hinted{
			Err:  fmt.Errorf("the work is on %s, which is not checked out here: nothing was ticked", f.answer.Into),
			Hint: "git switch " + plaintext.ShellWord(f.answer.Into) + ", then relay finish --tick",
		}
	}
	f.answer.Ticked, err = planning.Tick(f.project, f.plan.Epic, f.answer.Landed)
	return err
}

// writeTicked says what was ticked, and what could not be.
func (a *finished) writeTicked(w io.Writer) {
	for _, t := range a.Ticked {
		if len(t.Tasks) > 0 {
			fmt.Fprintf(w, "ticked %s in %s: commit it as you like\n", plaintext.Count(len(t.Tasks), "task"), t.File)
		}
		for _, why := range t.Left {
			fmt.Fprintf(w, "%s: %s\n", t.File, plaintext.Fit(why, 200))
		}
	}
}
