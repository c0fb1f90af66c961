package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/status"
)

type ledgerOptions struct {
	app    *app
	repair bool
	json   bool
}

func newLedgerCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Examine or repair the memory of the epic",
		Long: `Examine or repair the memory of the epic: attempt-ledger.yml and the event logs
of all runs below runs/.`,
	}
	cmd.AddCommand(newLedgerValidateCommand(a), newLedgerRepairCommand(a), newLedgerAcceptCommand(a), newLedgerLogCommand(a))
	return cmd
}

func newLedgerValidateCommand(a *app) *cobra.Command {
	opts := ledgerOptions{app: a}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Look for damage in ledger and logs",
		Long:  "Look for damage in ledger and logs. With --repair it does what relay ledger\nrepair does.",
		RunE:  func(cmd *cobra.Command, _ []string) error { return runLedgerValidate(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.repair, "repair", false, "put right what is wrong; a copy is kept")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func newLedgerRepairCommand(a *app) *cobra.Command {
	opts := ledgerOptions{app: a, repair: true}
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Put damage right from what can still be read",
		Long: `Put damage right: ledger and logs are written anew from everything that can
still be read, and a copy of what was there is kept.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runLedgerValidate(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func newLedgerAcceptCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "accept",
		Short: "Take in an edit of attempt-ledger.yml",
		Long:  "Take in what somebody changed in attempt-ledger.yml, as an event like any other.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runLedgerAccept(cmd.Context(), ledgerOptions{app: a})
		},
	}
}

func newLedgerLogCommand(a *app) *cobra.Command {
	opts := ledgerOptions{app: a}
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print every event, oldest first",
		RunE:  func(cmd *cobra.Command, _ []string) error { return runLedgerLog(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "one JSON object on each line")
	return cmd
}

// ledgerAnswer is what relay ledger validate --json prints.
type ledgerAnswer struct {
	OK     bool          `json:"ok"`
	Faults []ledgerFault `json:"faults"`
	Copy   string        `json:"copy,omitempty"` // of what was there before the repair
}

type ledgerFault struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func runLedgerValidate(ctx context.Context, opts ledgerOptions) error {
	p, pl, err := opts.app.planned(ctx, nil)
	if err != nil {
		return err
	}
	faults, err := attempts.Validate(p.Dir, pl.Epic, pl.Graph)
	if err != nil {
		return err
	}
	answer := ledgerAnswer{OK: len(faults) == 0, Faults: []ledgerFault{}}
	for _, f := range faults {
		answer.Faults = append(answer.Faults, ledgerFault(f))
	}
	if !answer.OK && opts.repair {
		repaired, err := attempts.Repair(p.Dir, pl.Epic, pl.Graph, opts.app.now())
		if err != nil {
			return err
		}
		answer.OK, answer.Copy = true, p.Rel(p.File(repaired.Copy))
	}
	if opts.json {
		if err := opts.app.printJSON(answer); err != nil {
			return err
		}
	} else {
		tellFaults(opts, faults, answer)
	}
	if !answer.OK {
		return exit.Code(exit.Failure)
	}
	return nil
}

func tellFaults(opts ledgerOptions, faults []attempts.Fault, answer ledgerAnswer) {
	for _, f := range faults {
		fmt.Fprintln(opts.app.out, exit.Message(f))
		if f.Hint != "" && answer.Copy == "" {
			fmt.Fprintf(opts.app.out, "  %s\n", safe(f.Hint))
		}
	}
	switch {
	case len(faults) == 0:
		fmt.Fprintln(opts.app.out, "ledger and logs are whole")
	case answer.Copy != "":
		fmt.Fprintf(opts.app.out, "repaired; what was there is in %s\n", answer.Copy)
	default:
		fmt.Fprintf(opts.app.out, "%s; relay ledger repair puts right what can be\n", count(len(faults), "fault"))
	}
}

func runLedgerAccept(ctx context.Context, opts ledgerOptions) error {
	p, pl, err := opts.app.planned(ctx, nil)
	if err != nil {
		return err
	}
	view, err := attempts.Read(p.Dir, pl.Epic, pl.Graph)
	if err != nil {
		return err
	}
	if view.Edit == "" && view.Broken == nil {
		fmt.Fprintln(opts.app.out, "attempt-ledger.yml is as relay wrote it: there is nothing to take in")
		return nil
	}
	if err := attempts.Accept(p.Dir, pl.Epic, pl.Graph, opts.app.now()); err != nil {
		return err
	}
	fmt.Fprintf(opts.app.out, "taken in:\n%s\n", strings.TrimRight(view.Edit, "\n"))
	return nil
}

func runLedgerLog(ctx context.Context, opts ledgerOptions) error {
	p, err := opts.app.locate(ctx, nil)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(opts.app.out)
	return attempts.Replay(p.Dir, func(e attempts.Event) error {
		if opts.app.out.Err != nil { // nobody reads any more
			if err := opts.app.out.Failure(); err != nil {
				return err
			}
			return exit.Code(exit.OK)
		}
		if opts.json {
			return enc.Encode(e)
		}
		_, err := fmt.Fprintf(opts.app.out, "%6d %s %s\n", e.Seq, e.At.UTC().Format(time.RFC3339), eventText(e))
		return err
	})
}

// eventText is one event in words.
func eventText(e attempts.Event) string {
	who := strings.TrimSpace(fmt.Sprintf("%s %s", e.Type, e.Task))
	if e.Attempt > 0 {
		who += fmt.Sprintf(" attempt %d", e.Attempt)
	}
	switch {
	case e.RunStarted != nil:
		return fmt.Sprintf("%s %s, process %d, jobs %d", who, e.Run, e.RunStarted.PID, e.RunStarted.Jobs)
	case e.RunStopped != nil:
		return fmt.Sprintf("%s: %s, exit code %d", who, e.RunStopped.Reason, e.RunStopped.ExitCode)
	case e.Started != nil:
		return line(fmt.Sprintf("%s: %s %s at %.12s", who, e.Started.Runner, e.Started.Model, e.Started.Base), maxLine)
	case e.Landing != nil:
		return line(fmt.Sprintf("%s: %.12s", who, e.Landing.Landed), maxLine)
	case e.Ended != nil:
		text := fmt.Sprintf("%s: %s (%s, %s)", who, e.Ended.Result, e.Ended.Outcome, status.ChargeText(e.Ended.Charged))
		if e.Ended.Gate != nil {
			text += ", gated: " + string(e.Ended.Gate.Reason)
		}
		return line(text+after(e.Ended.Receipt.ErrorSummary), maxLine)
	case e.Gate != nil:
		return line(fmt.Sprintf("%s: %s%s", who, e.Gate.Reason, after(e.Gate.Detail)), maxLine)
	case e.Type == attempts.TypeWritten:
		return "attempt-ledger.yml written"
	case e.Finished != nil:
		f := e.Finished
		return line(fmt.Sprintf("%s landed on %s by %s: %.12s..%.12s", f.Branch, f.Into, f.How, f.From, f.To), maxLine)
	case e.Cooling != nil, e.Waiting != nil:
		return line(cooldownText(who, e), maxLine)
	case e.Reviewed != nil:
		return line(who+": "+heardWords(e.Reviewed), maxLine)
	case e.Note != nil:
		return line(fmt.Sprintf("%s %s: %s", who, e.Note.Kind, e.Note.Text), maxLine)
	}
	return line(who, maxLine)
}

// heardWords says what reviewers have said of an attempt under way.
func heardWords(h *attempts.Heard) string {
	var words []string
	for _, s := range h.Said {
		words = append(words, s.Reviewer+" has answered")
	}
	for _, r := range h.Rounds {
		words = append(words, fmt.Sprintf("%s, and the agent mends it in round %d", r.Verdict, r.Number))
	}
	return strings.Join(words, "; ")
}

// cooldownText is an event that keeps tasks from starting, in words.
func cooldownText(who string, e attempts.Event) string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	c := e.Cooling
	switch {
	case c == nil:
		return fmt.Sprintf("%s until %s for %s%s", who, at(e.Waiting.Until), e.Waiting.For, after(e.Waiting.Why))
	case c.Until.IsZero():
		return fmt.Sprintf("%s: %s may be asked again%s", who, c.Runner, after(c.Why))
	}
	return fmt.Sprintf("%s: %s is not asked before %s%s", who, c.Runner, at(c.Until), after(c.Why))
}
