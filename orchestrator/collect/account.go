package collect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
	"relay/review"
	"relay/runners"
)

// Account is what is known of an attempt besides the evidence: what the ledger will record, and what its further turns need.
type Account struct {
	engine.Result
	changes.Found

	End       verdict.TurnEnd // of the last turn
	Used      runners.Usage   // by the runs of Session, without what reviewers used
	AgentHead string          // before relay committed what was left
	Rounds    int             // in which the agent mended what reviewers found
	Judged    string          // head that the last review was about
	Wanted    []review.Raised // by the last review
	Before    []review.Raised // by the one before it
	Earlier   string          // the same as markdown
	Answered  string          // what the agent said it has done about them

	Left    []string        // files left uncommitted that are no part of the work
	Written []string        // protected files that checks have changed, on the base or on the work
	PutBack []string        // protected files left uncommitted, which relay has put back
	OnBase  checks.Baseline // what the checks said before the agent; nil: they were not asked

	Took     []string // whose files were taken into the work: those of checks, of the pre-commit hook
	Unproved string   // what other files the checks have written, which are in no commit: a note; "": none

	ClaimedFiles []string // as the agent listed them; compared with git's list and then forgotten
}

// Spend adds what another turn of the agent has used.
func (f *Account) Spend(turn engine.Result) {
	f.Usage.Add(turn.Usage)
	f.Tools = Tools(f.Tools, turn.Tools)
}

// Record fills in what the ledger records of the ruling.
func (f *Account) Record(e *verdict.Evidence, r verdict.Ruling) {
	f.Rule(e, r)
	f.NoteRefused()
	if used := engine.UsageOf(f.Used); !r.Lands() && f.Session != "" && used != f.Usage {
		f.Receipt.SessionUsage = &used // a later attempt may continue it
	}
	if e.End == nil {
		return
	}
	f.Receipt.AlreadyDone = e.AlreadyDone(r)
	if r.Lands() {
		f.Receipt.Looks = verdict.Looks(e)
	}
	if e.WithoutResult() {
		f.Receipt.ResultFrom = ""
	}
}

// AccountOf turns what a runner reports into a state. A claimed success is only a claim; evidence decides it later.
func AccountOf(r runners.Report) Account {
	f := Account{
		Result: engine.Result{Model: r.Model, Session: r.Session, ResetAt: r.ResetAt, Usage: engine.UsageOf(r.Usage), Tools: ToolsUsed(r.Tools)},
		Used:   r.Usage,
		End:    verdict.TurnEnd{Is: r.Outcome, Said: r.Detail, Session: r.Session != ""},
	}
	f.Receipt.Refused = strings.Fields(r.Exit.Refused)
	switch {
	case r.Result != nil:
		f.recordClaim(r.Result)
	case lacksResult(r):
		f.End.NoResult = true
		f.Receipt.Summary = plaintext.Capped(r.FinalText, maxWords)
	}
	if r.Exit.Strays > 0 {
		f.Note("stray", "ended "+plaintext.Processes(r.Exit.Strays)+" the agent had left behind")
	}
	return f
}

// lacksResult reports whether an agent ended without a result that can be read, and without a fault that its CLI knows of. It has not
// failed for that: its word would be a claim only. Evidence decides instead: the task's own checks, or the reviewers whose
// findings it was to mend. Where there is none, its session is asked once for the result alone.
func lacksResult(r runners.Report) bool {
	switch r.Outcome {
	case runners.NoResult, runners.BadResult, runners.PermissionDenied:
		return r.Result == nil
	default:
		return r.EndedWell && r.Result == nil
	}
}

// maxWords bounds how much of an agent's last message a receipt holds.
const maxWords = 500

// recordClaim takes in what the agent said of itself.
func (f *Account) recordClaim(r *runners.Result) {
	f.Receipt.Claimed = r.Status
	if r.Loose {
		f.Receipt.ResultFrom = attempts.ResultLoose
	}
	f.Receipt.Summary = r.Summary
	f.Receipt.Statement = r.Statement
	f.Receipt.Suggestion = r.Suggestion
	f.Receipt.Learning = r.Learning
	f.Receipt.PatternTags = r.PatternTags
	f.ClaimedFiles = r.FilesChanged
	// An agent that failed though it claims success says nothing of its failure: how it ended does.
	if !f.End.OfAgent() || r.Status != runners.StatusFailure {
		return
	}
	f.End.Said = plaintext.FirstOf(r.ErrorSummary, r.Summary, f.End.Words())
	switch c := attempts.Category(strings.TrimSpace(r.ErrorCategory)); c {
	case "", attempts.CodeError:
	case attempts.MissingDependency, attempts.TestFailure, attempts.QualityGate, attempts.CLIError:
		f.End.Category = c
	default: // free text is data: it says something to a person, and names no category
		f.End.Said = r.ErrorCategory + ": " + f.End.Said
	}
}

// Presume has evidence decide in place of the result that the agent did not give.
func (f *Account) Presume(by attempts.ResultSource) {
	if f.End.NoResult {
		f.End.By = by
		f.Receipt.ResultFrom = by
	}
}

// Folder is where the answers of a round are.
func (f *Account) Folder(review string) string {
	if f.Rounds == 0 {
		return review
	}
	return filepath.Join(review, fmt.Sprintf("round-%d", f.Rounds+1))
}

// AccountOfEarlier returns the State after an earlier attempt whose work lacks nothing but its review: that it is done.
func AccountOfEarlier(of attempts.Attempt) Account {
	in := of.Receipt
	f := Account{Result: engine.Result{Model: of.Model}, Earlier: in.Review.Earlier, Answered: in.Review.Answer}
	f.End.Is = runners.Claimed
	f.Receipt.Claimed, f.Receipt.Summary, f.Receipt.Suggestion = in.Claimed, in.Summary, in.Suggestion
	f.Receipt.Learning, f.Receipt.PatternTags, f.Receipt.Statement = in.Learning, in.PatternTags, in.Statement
	return f
}

// Recall restores what the reviewers wanted before a round. When the log does not say, for it was damaged, the attempt ends.
func (f *Account) Recall(h *attempts.ReviewProgress, number int) bool {
	if h != nil {
		for _, r := range slices.Backward(h.Rounds) {
			if r.Number == number {
				f.Receipt.Review = &attempts.Reviewed{Rounds: number - 1, Opinions: h.Opinions}
				f.Receipt.Verdict, f.Receipt.Findings = r.Verdict, review.Markdown(r.Wanted)
				f.Wanted, f.Judged = r.Wanted, r.Head
				return true
			}
		}
	}
	f.End = verdict.TurnEnd{Is: runners.Stopped, Said: "relay ended while the agent fixed what reviewers had found"}
	return false
}

// Follow makes f what it is after the agent's next turn.
func (f *Account) Follow(next Account) {
	if next.End.NoResult && next.End.OfAgent() {
		next.Presume(attempts.ResultReviewers) // who look at it again
	}
	next.Receipt.ResultFrom = cmp.Or(next.Receipt.ResultFrom, f.Receipt.ResultFrom)
	next.Rounds, next.Before, next.Judged = f.Rounds+1, f.Wanted, f.Judged
	next.End.Round, next.End.AskedWhy, next.End.Why = next.Rounds, f.End.AskedWhy, f.End.Why
	next.Notes, next.Unable = append(f.Notes, next.Notes...), f.Unable
	next.Spend(f.Result)
	next.Answered, next.OnBase = next.Receipt.Summary, f.OnBase
	next.Receipt.Summary = JoinSummaries(f.Receipt.Summary, next.Receipt.Summary, next.Rounds)
	next.Receipt.Refused = append(next.Receipt.Refused, f.Receipt.Refused...)
	next.Receipt.Statement = LaterStatement(f.Receipt.Statement, next.Receipt.Statement)
	next.Receipt.Learning = plaintext.FirstOf(next.Receipt.Learning, f.Receipt.Learning)
	next.Earlier, next.Receipt.Review = f.Receipt.Findings, f.Receipt.Review
	f.ForgetChecks()
	next.Receipt.Checks = f.Receipt.Checks
	if !next.End.Claims() { // the findings are still open, and what it has done in this turn is collected all the same
		next.Receipt.Verdict, next.Receipt.Findings = f.Receipt.Verdict, f.Receipt.Findings
	}
	*f = next
}

// TellUnproved returns what to tell the agent of files that the checks have written. The notes lack it then: the checks run again after the
// agent's turn.
func (f *Account) TellUnproved() string {
	if f.Unproved == "" || f.Rounds > 0 {
		return ""
	}
	f.Notes = slices.DeleteFunc(f.Notes, func(n attempts.Note) bool { return n.Text == f.Unproved })
	return "\n\nrelay adds: " + f.Unproved + ". If your task changes it, commit it as the checks left it."
}

// ForgetChecks forgets what checks have said of the work.
func (f *Account) ForgetChecks() {
	f.Receipt.Checks = slices.DeleteFunc(slices.Clone(f.Receipt.Checks),
		func(r attempts.CheckRun) bool { return r.Phase != attempts.PhaseBaseline })
}

// Repeated returns a finding that was there in the round before.
func Repeated(before, now []review.Raised) string {
	for _, one := range now {
		if slices.ContainsFunc(before, func(other review.Raised) bool { return review.Same(one.Finding, other.Finding) }) {
			return one.Issue
		}
	}
	return ""
}

// Turned is what a further turn of the agent came to, by what it reports.
func (f *Account) Turned(report runners.Report) Account {
	next := AccountOf(report)
	next.Session = plaintext.FirstOf(next.Session, f.Session)
	if next.Session == f.Session {
		next.Used = f.Used.Plus(report.Usage)
	}
	next.End.Session = next.Session != ""
	return next
}

// Answer makes f what the agent said when its session was asked for its result. A stop or a fault of the provider meanwhile ends the
// attempt, at no cost; its work is there for the next one.
func (f *Account) Answer(report runners.Report) {
	next := f.asked(report)
	switch {
	case report.Result != nil && (report.Outcome == runners.Claimed || report.Outcome == runners.Failed || report.Outcome == runners.Asked):
		f.ClaimedFiles, f.End = next.ClaimedFiles, next.End
		checks := f.Receipt.Checks
		f.Receipt = next.Receipt
		f.Receipt.Checks, f.Receipt.DiffStat, f.Receipt.FilesChanged = checks, "", nil // git is asked again
		f.Receipt.ResultFrom, f.Took = attempts.ResultAsked, nil
	case next.End.Blames(), report.Outcome == runners.NoSession, report.Outcome == runners.PermissionDenied:
		f.End.Asked, f.End.By = true, ""
	default:
		f.End, f.ResetAt = next.End, next.ResetAt
		f.End.NoResult = false
	}
}

// Explain makes f what the agent said when its session was asked why it changed tests. Its work is looked at again, also without an answer.
func (f *Account) Explain(report runners.Report) {
	next := f.asked(report)
	unable := next.End.NoResult || report.Outcome == runners.NoSession || report.Outcome != runners.Failed && next.End.Blames()
	if !next.End.Claims() && !unable {
		f.End, f.ResetAt = next.End, next.ResetAt
	}
	f.Took = nil
	f.End.AskedWhy, f.End.Why = true, plaintext.Capped(strings.Join(strings.Fields(next.Receipt.Summary), " "), maxWords)
	f.ForgetChecks()
	f.Notes = slices.DeleteFunc(f.Notes, func(n attempts.Note) bool { return n.Kind == "tests" || n.Kind == "checks" })
	f.Receipt.DiffStat, f.Receipt.FilesChanged = "", nil // git is asked again
}

// asked returns what the answer to a question comes to, and has f count what it has used.
func (f *Account) asked(report runners.Report) Account {
	next := f.Turned(report)
	f.Used = next.Used
	f.Notes = append(f.Notes, next.Notes...)
	f.Spend(next.Result)
	return next
}
