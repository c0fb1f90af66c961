package command

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/replay"
	"relay/reanchor/git"
)

type replayOptions struct {
	app    *cli.App
	run    string
	whatIf string
	json   bool
}

func newReplayCommand(a *cli.App) *cobra.Command {
	opts := replayOptions{app: a}
	cmd := &cobra.Command{
		Use:   "replay [RUN]",
		Short: "Replay a run's decisions, or simulate other settings",
		Long: `Replay the decisions of a recorded run: task order, runners, waits, charges,
gates, landings. relay lists where this version would decide otherwise than the
one that wrote the log, and which decisions the log cannot show. It exits with 1
if something differs or the log is damaged. RUN may be shortened; the default is
the last run.
With --what-if relay simulates the same night with other settings: each task
takes as long and ends as it did.`,
		Example: `  relay replay
  relay replay 20260111T2210
  relay replay --what-if jobs=4,runners=codex`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = strings.Join(args, "")
			return runReplay(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.whatIf, "what-if", "", "plan the run with `KEY=VALUE,…`: jobs, runners")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runReplay(ctx context.Context, opts replayOptions) error {
	wish, err := opts.wish()
	if err != nil {
		return err
	}
	p, pl, view, err := opts.app.Viewed(ctx)
	if err != nil {
		return err
	}
	if opts.run, err = pickRun(p, opts.run, view.Ledger.Folded.Run); err != nil {
		return err
	}
	went := project.RunPlan(p, opts.run, pl)
	rec := replay.RecordedIn(p.Dir, opts.run, went.Epic, went.Graph)
	rec.View = view
	report, err := replay.Decide(ctx, rec)
	if err != nil {
		return err
	}
	if wish != nil {
		return opts.plan(*wish, rec, report.Damage)
	}
	lines := report.Lines(func(t time.Time) string { return t.Local().Format(time.TimeOnly) })
	return cli.PrintJudged(opts.app, report.AsRecorded(), opts.json, report, lines...)
}

// wish returns the settings to plan with; nil: the run is replayed.
func (o *replayOptions) wish() (*replay.WhatIf, error) {
	if o.whatIf == "" {
		return nil, nil
	}
	w, err := replay.ParseWhatIf(o.whatIf)
	if wrong, ok := errors.AsType[*replay.SettingError](err); ok {
		return nil, &terminal.UsageError{Message: wrong.Message, Hint: wrong.Hint}
	}
	return &w, err
}

// plan prints the run planned with other settings.
func (o *replayOptions) plan(w replay.WhatIf, rec replay.Recorded, damage []string) error {
	night, err := replay.ReadNight(rec.Run, rec.Epic, rec.Graph, rec.Events)
	if err != nil {
		return err
	}
	plan, err := night.Plan(w)
	if err != nil {
		return err
	}
	plan.Damage = damage
	return cli.PrintJudged(o.app, len(damage) == 0, o.json, plan, plan.Lines()...)
}

// pickRun returns the run that the user named: its id, or the only one that begins or ends so; the last one for "".
func pickRun(p *project.Project, named, last string) (string, error) {
	entries, _ := os.ReadDir(p.File(attempts.RunsDir)) // none: there has been no run
	runs := each.Where(entries, func(e os.DirEntry) (string, bool) {
		return e.Name(), git.Exists(p.File(attempts.EventsPath(e.Name())))
	})
	switch {
	case named == "" && slices.Contains(runs, last):
		return last, nil
	case named == "" && len(runs) > 0:
		return runs[len(runs)-1], nil
	}
	fits := slices.DeleteFunc(slices.Clone(runs), func(run string) bool {
		return run != named && (named == "" || !strings.HasPrefix(run, named) && !strings.HasSuffix(run, named))
	})
	switch {
	case slices.Contains(fits, named):
		return named, nil
	case len(fits) == 1:
		return fits[0], nil
	case len(fits) > 1:
		return "", &terminal.UsageError{Message: terminal.Quote(named) + " can be several runs", Hint: "they are " + strings.Join(fits, ", ")}
	}
	unknown := noRun(named, runs)
	if near, ok := epic.Nearest(named, runs); ok {
		return "", &terminal.UsageError{Message: unknown.Error(), Hint: "did you mean " + near + "?"}
	}
	return "", unknown
}
