package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/orchestrator/landing"
)

type statusOptions struct {
	app     *app
	verbose bool
	json    bool
	watch   bool
	schema  bool
}

//go:embed status.schema.json
var statusSchema []byte

func newStatusCommand(a *app) *cobra.Command {
	opts := statusOptions{app: a}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the epic stands and what needs you",
		Long: `Show how the epic stands: what is done, what runs, what is gated and why, and
what a blocked task waits for. It writes nothing, and works during a run.
Of an epic with more than 50 tasks only those that run or need a person are
listed; --verbose lists all, with the receipt of every attempt. relay report
tells a whole night.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "every task, with the receipts of its attempts")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&opts.watch, "watch", "w", false, "follow until the run ends")
	cmd.Flags().BoolVar(&opts.schema, "schema", false, "print the JSON Schema of --json")
	cmd.MarkFlagsMutuallyExclusive("json", "watch", "schema")
	return cmd
}

func runStatus(ctx context.Context, opts statusOptions) error {
	if opts.schema {
		return opts.app.printJSON(json.RawMessage(statusSchema))
	}
	p, err := opts.app.locateAnyhow(ctx)
	if err != nil {
		return err
	}
	if opts.watch {
		return watch(ctx, opts, p)
	}
	s, err := p.standing(ctx, opts.verbose)
	if err != nil {
		return err
	}
	s.held(opts.app.now())
	s.foresee(p, opts.app.now())
	if opts.json {
		return opts.app.printJSON(s)
	}
	tellStanding(opts.app.out, s, listing{now: opts.app.now(), width: columns(opts.app.out.w), verbose: opts.verbose})
	return nil
}

// standing reads how the epic of this place stands, and writes nothing.
func (p *place) standing(ctx context.Context, verbose bool) (*standing, error) {
	now, view, warning, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	s := stand(now, view, p.config.Relay.MaxAttemptsPerTask, verbose)
	s.Warnings = append(s.Warnings, p.damage...)
	s.Refused = p.refusing(now, view.Ledger)
	if warning != "" {
		s.PlanChanged = true
		s.Warnings = append(s.Warnings, warning)
	}
	return s, nil
}

// read reads plan and ledger side by side: of an epic of ten thousand tasks each takes its time. While a run is on, its own
// plan counts; when that and epic.yml differ, the warning says so.
func (p *place) read(ctx context.Context) (now *plan, view *attempts.View, warning string, err error) {
	var reading error
	done := make(chan struct{})
	go func() {
		defer close(done)
		view, reading = attempts.Read(p.dir, nil, nil)
	}()
	pl, err := p.plan()
	<-done
	if errors.Is(reading, attempts.ErrNoLedger) {
		view, reading = &attempts.View{Ledger: &attempts.Ledger{}}, nil
	}
	switch {
	case err != nil && reading != nil:
		return nil, nil, "", err
	case reading != nil:
		return nil, nil, "", reading
	}
	if now, warning, err = p.inForce(view, pl, err); err != nil {
		return nil, nil, "", err
	}
	if have := view.Ledger.EpicID; have != "" && have != now.epic.ID {
		return nil, nil, "", &attempts.EpicError{Path: p.shown(p.file(attempts.LedgerFile)), Have: have, Want: now.epic.ID}
	}
	return now, view, warning, p.undone(ctx, view.Ledger)
}

// undone forgets that relay finish has landed the work when the branch no longer has it, as after git reset --keep.
func (p *place) undone(ctx context.Context, l *attempts.Ledger) error {
	if l.Integration.Finished == "" || l.Landed == "" {
		return nil
	}
	there, err := landing.NewTrunk(p.git, l.EpicID, landing.Merge).Contains(ctx, "refs/heads/"+l.Integration.Finished, l.Landed)
	if err == nil && !there {
		l.Integration.Finished = ""
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil // a branch that is gone has been merged elsewhere, perhaps
}

// standingBy is the standing of a plan whose run is over, whatever has become of epic.yml by now.
func (p *place) standingBy(pl *plan, view *attempts.View) *standing {
	s := stand(pl, view, p.config.Relay.MaxAttemptsPerTask, false)
	s.Refused = p.refusing(pl, view.Ledger)
	source, err := readFile(p.file("epic.yml"), maxPlan)
	s.PlanChanged = err != nil || !bytes.Equal(source, pl.source)
	return s
}

// inForce decides between epic.yml as it is, which may have mistakes, and the plan that the newest run began with. When
// they differ a person should know, whoever has changed it.
func (p *place) inForce(view *attempts.View, pl *plan, mistakes error) (now *plan, warning string, err error) {
	if mistakes != nil && !isUnderWay(view) {
		return p.lastPlan(view, mistakes)
	}
	run := view.Ledger.Folded.Run
	kept := p.keptSource(run)
	if kept == nil || pl != nil && bytes.Equal(kept, pl.source) {
		return pl, "", mistakes
	}
	if !isUnderWay(view) {
		return pl, "epic.yml has changed since the last run, which went by " + p.shown(p.keptFile(run)), nil
	}
	if now, err = parsePlan(p.shown(p.keptFile(run)), kept); err != nil {
		return pl, "", mistakes
	}
	warning = "epic.yml has changed since this run began, which goes by the plan it had then: relay reload applies it"
	if mistakes != nil {
		warning = "epic.yml has changed since this run began, and has mistakes now; the run goes by the plan it had then: relay reload names them"
	}
	return now, warning, nil
}

// watchEvery is how often a watched status is read anew.
const watchEvery = time.Second

// watch shows the status again and again, until the run is over.
func watch(ctx context.Context, opts statusOptions, p *place) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	live := isTerminal(opts.app.out.w)
	for {
		s, err := p.standing(ctx, opts.verbose)
		if err != nil {
			return err
		}
		s.held(opts.app.now())
		s.foresee(p, opts.app.now())
		if live {
			// Home, and erase what was there: these bytes are relay's own and go past the scrubber.
			_, _ = opts.app.out.w.Write([]byte("\x1b[H\x1b[2J"))
		}
		tellStanding(opts.app.out, s, listing{now: opts.app.now(), width: columns(opts.app.out.w), verbose: opts.verbose})
		if s.Run.State != runOn && !s.Run.goesOn(opts.app.now()) || opts.app.out.err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
