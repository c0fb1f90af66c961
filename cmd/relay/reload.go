package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/epic"
)

type reloadOptions struct {
	app  *app
	json bool
}

func newReloadCommand(a *app) *cobra.Command {
	opts := reloadOptions{app: a}
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Apply an edited epic.yml to the current run",
		Long: `Apply an edited epic.yml to the current run. A run keeps to the plan it
began with, whatever becomes of the file. After relay reload it starts nothing
new, lets the attempts that run come to their end, and begins again with the new
plan, in the same process and with the same settings. An epic.yml with mistakes
is refused here, and the run is not told.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runReload(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// reloadAnswer is what relay reload prints with --json.
type reloadAnswer struct {
	Version int      `json:"version"`
	Run     string   `json:"run"`
	PID     int      `json:"pid"`
	Told    bool     `json:"told"`    // false: the run goes by this plan already
	Running []string `json:"running"` // tasks whose attempts come to their end before
	planChanges
}

// planChanges are the tasks in which two plans differ.
type planChanges struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

func runReload(ctx context.Context, opts reloadOptions) error {
	p, pl, err := opts.app.planned(ctx, nil)
	if err != nil {
		return err
	}
	if err := p.CheckAgents(pl); err != nil {
		return err
	}
	run, err := p.ActiveRun(ctx)
	if err != nil {
		return err
	}
	if have := run.Ledger.EpicID; have != pl.Epic.ID {
		return &attempts.EpicError{Path: p.Rel(p.File(attempts.LedgerFile)), Have: have, Want: pl.Epic.ID}
	}
	answer := reloadAnswer{Version: 1, Run: run.Ledger.Folded.Run, PID: run.Holder.PID, Running: []string{}}
	for id, rec := range run.Ledger.Tasks {
		if rec.Running() != nil {
			answer.Running = append(answer.Running, id)
		}
	}
	slices.Sort(answer.Running)
	source := p.RunPlanSource(answer.Run)
	kept, _ := project.ParsePlan(p.RunPlanFile(answer.Run), source)
	answer.planChanges = compare(kept, pl)
	if !bytes.Equal(source, pl.Source) {
		if err := askReload(run.Holder); err != nil {
			return err
		}
		answer.Told = true
	}
	if opts.json {
		return opts.app.printJSON(answer)
	}
	answer.tell(opts.app.out)
	return nil
}

// tell says what becomes of the run.
func (r *reloadAnswer) tell(w io.Writer) {
	if !r.Told {
		fmt.Fprintf(w, "run %s goes by this plan already\n", r.Run)
		return
	}
	if text := r.planChanges.String(); text != "" {
		fmt.Fprintf(w, "the plan: %s\n", text)
	}
	if len(r.Running) == 0 {
		fmt.Fprintf(w, "process %d is told, and goes on with it at once\n", r.PID)
		return
	}
	fmt.Fprintf(w, "process %d is told: it starts nothing new, and goes on with it after %s\n", r.PID, some(r.Running, 5))
}

// String names the tasks in words, "" when there are none.
func (c planChanges) String() string {
	var parts []string
	for _, part := range []struct {
		ids       []string
		one, many string
	}{{c.Added, "is new", "are new"}, {c.Changed, "has changed", "have changed"}, {c.Removed, "is gone", "are gone"}} {
		if len(part.ids) > 0 {
			parts = append(parts, some(part.ids, 5)+" "+verb(len(part.ids), part.one, part.many))
		}
	}
	return strings.Join(parts, "; ")
}

// compare finds the tasks in which a plan differs from the one before; of one that cannot be read nothing is said.
func compare(before, after *project.Plan) planChanges {
	c := planChanges{Added: []string{}, Changed: []string{}, Removed: []string{}}
	if before == nil {
		return c
	}
	for i := range after.Epic.Tasks {
		now := after.Epic.Tasks[i]
		was, ok := before.Epic.Task(now.ID)
		switch {
		case !ok:
			c.Added = append(c.Added, now.ID)
		case !sameTask(*was, now):
			c.Changed = append(c.Changed, now.ID)
		}
	}
	for i := range before.Epic.Tasks {
		if id := before.Epic.Tasks[i].ID; !after.Has(id) {
			c.Removed = append(c.Removed, id)
		}
	}
	return c
}

func sameTask(a, b epic.Task) bool {
	a.Line, b.Line = 0, 0
	return reflect.DeepEqual(a, b)
}

// askReload sends the signal to a run of this machine, and to nobody else who has its pid by now.
func askReload(h *attempts.Holder) error {
	run, err := os.FindProcess(h.PID) // before it is looked at: what is found stays the same process
	if err != nil {
		return project.ErrNoRun()
	}
	defer func() { _ = run.Release() }()
	if !h.Reachable() {
		return &exit.Hinted{Err: fmt.Errorf("the run is %s, which cannot be told from here", exit.HolderText(h)),
			Hint: "type relay reload on " + line(h.Host, 80) + "; or stop the run there, and relay work goes on with the new plan"}
	}
	return untold(h, sendReload(run))
}

// untold says why a run could not be told.
func untold(h *attempts.Holder, err error) error {
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return project.ErrNoRun()
	case errors.Is(err, errors.ErrUnsupported):
		return &exit.Hinted{Err: errors.New("a run on this system cannot be told to reload"),
			Hint: "stop it with Ctrl-C, then relay work goes on with the new plan; nothing is lost"}
	case errors.Is(err, os.ErrPermission):
		return &exit.Hinted{Err: fmt.Errorf("process %d is another user's", h.PID), Hint: "have whoever began that run type relay reload"}
	case err != nil:
		return fmt.Errorf("tell process %d: %w", h.PID, err)
	}
	return nil
}
