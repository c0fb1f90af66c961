package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator"
	"relay/orchestrator/text"
	"relay/runners"
)

type showOptions struct {
	app                      *app
	task                     string
	attempt                  int
	brief, log, diff, checks bool
	review                   bool
	json                     bool
}

func newShowCommand(a *app) *cobra.Command {
	opts := showOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show TASK",
		Short: "Show a task, its attempts and what they left",
		Long: `Show a task: what was asked, every attempt with its receipt, and the gate.
The flags show what one attempt left behind; --attempt picks which, the last
one otherwise; --brief alone shows what the next one would be told. Into a file
or pipe they go unchanged.`,
		Example: `  relay show T5
  relay show T5 --attempt 2 --log | less
  relay show T5 --attempt 1 --diff | git apply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.task = args[0]
			return runShow(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.IntVar(&opts.attempt, "attempt", 0, "attempt number `N`")
	f.BoolVar(&opts.brief, "brief", false, "print the brief of the next attempt (with --attempt N, of attempt N)")
	f.BoolVar(&opts.log, "log", false, "what the agent printed")
	f.BoolVar(&opts.diff, "diff", false, "what the attempt changed")
	f.BoolVar(&opts.checks, "checks", false, "the output of its acceptance commands")
	f.BoolVar(&opts.review, "review", false, "what the reviewers said, and how each criterion was proved")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("brief", "log", "diff", "checks", "review", "json")
	return cmd
}

// shown is what relay show --json prints.
type shown struct {
	ID          string             `json:"id"`
	Title       string             `json:"title"`
	Description string             `json:"description,omitempty"`
	Status      attempts.Status    `json:"status"`
	Files       []string           `json:"files,omitempty"`
	DependsOn   []string           `json:"depends_on,omitempty"`
	Criteria    []string           `json:"acceptance_criteria,omitempty"`
	Checks      []string           `json:"checks,omitempty"`
	Gate        *attempts.Gate     `json:"gate,omitempty"`
	RootCauses  []string           `json:"root_causes,omitempty"`
	Doubtful    []string           `json:"weaker_tests,omitempty"` // of a completed task, and nobody has approved that
	Attempts    []attempts.Attempt `json:"attempts"`
}

// tried is a task with its place, its plan and what the ledger knows of it.
type tried struct {
	project *project.Project
	plan    *project.Plan
	view    *attempts.View
	task    *epic.Task
	rec     *attempts.TaskRecord
}

// find looks up the task the user named.
func (opts showOptions) find(ctx context.Context) (*tried, error) {
	p, pl, err := opts.app.known(ctx)
	if err != nil {
		return nil, err
	}
	t, err := pl.Task(opts.task)
	if err != nil {
		return nil, err
	}
	view, err := p.View(pl)
	if err != nil {
		return nil, err
	}
	rec := view.Ledger.Tasks[t.ID]
	if rec == nil {
		rec = &attempts.TaskRecord{}
	}
	return &tried{project: p, plan: pl, view: view, task: t, rec: rec}, nil
}

func runShow(ctx context.Context, opts showOptions) error {
	f, err := opts.find(ctx)
	if err != nil {
		return err
	}
	if opts.brief && opts.attempt == 0 && !f.rec.Completed {
		return opts.nextBrief(ctx, f.project, f.plan, f.view, f.task)
	}
	one := opts.brief || opts.log || opts.diff || opts.checks || opts.review
	s := describe(f.task, f.rec, f.view.Ledger, f.plan.Graph)
	if one || opts.attempt != 0 {
		at, err := pick(f.task.ID, f.rec, opts.attempt)
		if err != nil {
			return err
		}
		if one {
			return opts.file(ctx, f.project, f.task.ID, at)
		}
		s.Attempts = []attempts.Attempt{*at}
	}
	if opts.json {
		return opts.app.printJSON(s)
	}
	tellTask(opts.app.out, s, status.Printer{Now: opts.app.now(), Width: terminal.Columns(opts.app.out.Dest), Dead: !f.view.Running})
	return nil
}

func describe(t *epic.Task, rec *attempts.TaskRecord, l *attempts.Ledger, g *epic.Graph) *shown {
	s := &shown{
		ID: t.ID, Title: t.Title, Description: t.Description, Status: l.StatusOf(g, t.ID), Files: t.Files,
		Gate: rec.Gate, Doubtful: rec.Doubtful(), RootCauses: attempts.RootCauses(l, g, t.ID), Attempts: append([]attempts.Attempt{}, rec.Attempts...),
	}
	if i, ok := g.Index(t.ID); ok {
		for _, d := range g.Deps(i) {
			s.DependsOn = append(s.DependsOn, g.ID(d))
		}
	}
	for _, c := range t.Criteria {
		s.Criteria = append(s.Criteria, c.Text)
	}
	for _, c := range t.Checks {
		s.Checks = append(s.Checks, c.Run)
	}
	return s
}

// pick finds an attempt by its number, or the last one.
func pick(task string, rec *attempts.TaskRecord, number int) (*attempts.Attempt, error) {
	if len(rec.Attempts) == 0 {
		return nil, &exit.Hinted{Err: fmt.Errorf("%s has not been tried yet", task), Hint: "relay work runs what is pending"}
	}
	if number == 0 {
		return &rec.Attempts[len(rec.Attempts)-1], nil
	}
	for i := range rec.Attempts {
		if rec.Attempts[i].ID == number {
			return &rec.Attempts[i], nil
		}
	}
	return nil, &exit.UsageError{Message: fmt.Sprintf("%s has no attempt %d", task, number), Hint: "relay show " + task + " lists its attempts"}
}

func tellTask(w io.Writer, s *shown, l status.Printer) {
	state := strings.ReplaceAll(string(s.Status), "_", " ")
	if l.Dead && s.Status == attempts.InProgress {
		state = status.InterruptedText
	}
	fmt.Fprintf(w, "%s  %s  %s\n", s.ID, state, line(s.Title, 200))
	if s.Gate != nil {
		fmt.Fprintln(w, terminal.Wrap(fmt.Sprintf("gated %s: %s: %s", status.FormatTime(s.Gate.At, l.Now), s.Gate.Reason, s.Gate.Detail), l.Width, "  "))
		fmt.Fprintf(w, "  relay ungate %s to try again\n", s.ID)
	}
	if len(s.Doubtful) > 0 {
		fmt.Fprintf(w, "  its tests prove less than before:\n  relay ungate %s takes them as they are, relay retry %s has it done again\n", s.ID, s.ID)
	}
	if len(s.RootCauses) > 0 && s.Status == attempts.BlockedOn {
		fmt.Fprintf(w, "  blocked by %s (gated)\n", some(s.RootCauses, 8))
	}
	if s.Description != "" {
		fmt.Fprintf(w, "\n%s\n", terminal.WrapLines(s.Description, l.Width, "  "))
	}
	tellList(w, "files", s.Files, l)
	tellList(w, "depends on", s.DependsOn, l)
	tellList(w, "acceptance criteria", s.Criteria, l)
	tellList(w, "checks", s.Checks, l)
	for i := range s.Attempts {
		fmt.Fprintln(w)
		status.WriteAttempt(w, &s.Attempts[i], l, "")
	}
	if len(s.Attempts) > 0 {
		fmt.Fprintf(w, "\nmore:  relay show %s --brief, --log, --diff, --checks or --review\n", s.ID)
	}
}

func tellList(w io.Writer, label string, items []string, l status.Printer) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", label)
	for _, item := range items {
		fmt.Fprintln(w, "  - "+strings.TrimPrefix(terminal.Wrap(item, l.Width, "    "), "    "))
	}
}

// nextBrief shows what the next attempt would be told now.
func (opts showOptions) nextBrief(ctx context.Context, p *project.Project, pl *project.Plan, view *attempts.View, t *epic.Task) error {
	work := workOptions{app: opts.app}
	brief, err := orchestrator.NextBrief(ctx, work.options(ctx, p, pl), view, t)
	if err != nil {
		return err
	}
	_, err = opts.app.raw().Write(brief)
	return err
}

// file shows what an attempt left behind.
func (opts showOptions) file(ctx context.Context, p *project.Project, task string, at *attempts.Attempt) error {
	if opts.review {
		return opts.app.tellReview(task, at)
	}
	if opts.diff { // for git apply, too
		return opts.changes(ctx, p, task, at, opts.app.raw())
	}
	out := p.Redactor().Stream(opts.app.raw())
	return errors.Join(opts.text(out, p, task, at), out.Flush())
}

// text shows what an agent or a command wrote, without secrets.
func (opts showOptions) text(out io.Writer, p *project.Project, task string, at *attempts.Attempt) error {
	folder := p.File("runs", at.Run, task, fmt.Sprint(at.ID))
	switch {
	case opts.brief:
		return copyFile(out, filepath.Join(folder, "brief.md"))
	case opts.log:
		err := copyFile(out, filepath.Join(folder, "transcript.jsonl"))
		var none *exit.Hinted
		if errors.As(err, &none) && len(at.Receipt.Checks) > 0 {
			none.Hint = "no agent has begun (relay show " + task + " --checks says why), or somebody removed it"
		}
		return err
	}
	for _, c := range at.Receipt.Checks {
		fmt.Fprintf(out, "== %s: %s, %.1f s (%s)\n", c.Name, text.Exit(c.ExitCode), c.Seconds, c.Phase)
		if !filepath.IsLocal(filepath.FromSlash(c.Log)) {
			continue
		}
		sum, err := copySummed(out, p.File(filepath.FromSlash(c.Log)))
		if err != nil {
			return err
		}
		if c.SHA256 != "" && sum != c.SHA256 {
			fmt.Fprintf(out, "\n== this is not what %s printed: somebody has changed %s since\n", c.Name, c.Log)
		}
	}
	if len(at.Receipt.Checks) == 0 {
		return &exit.Hinted{Err: fmt.Errorf("attempt %d of %s ran no checks", at.ID, task), Hint: "relay show " + task}
	}
	return nil
}

// raw is the output for what agents and commands wrote: unchanged for files and pipes, harmless for a terminal.
func (a *app) raw() io.Writer {
	if terminal.IsTerminal(a.out.Dest) {
		return a.out
	}
	return a.out.Dest
}

func copyFile(w io.Writer, path string) error {
	_, err := copySummed(w, path)
	return err
}

// copySummed writes a file out and returns its SHA-256, in hex. An agent can have put anything in its place.
func copySummed(w io.Writer, path string) (sum string, err error) {
	f, err := runners.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &exit.Hinted{Err: fmt.Errorf("there is no %s", path), Hint: "the attempt ended before it was written, or somebody removed it"}
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(w, hash), f)
	return hex.EncodeToString(hash.Sum(nil)), err
}
