package verdict

import (
	"cmp"
	"fmt"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/runners"
)

// Evidence is what was observed of one attempt. A nil part was not looked at. It is data: the event log keeps it, and a replay decides
// again from it.
type Evidence struct {
	Task   Task     `json:"task,omitzero"`
	Damage string   `json:"damage,omitempty"` // git cannot read the attempt's checkout or its commits: what it says
	Ready  *Ready   `json:"ready,omitempty"`
	Base   *Before  `json:"base,omitempty"`
	Leave  *Leave   `json:"leave,omitempty"`
	End    *TurnEnd `json:"end,omitempty"`
	Guard  *Guard   `json:"guard,omitempty"`
	Work   *Work    `json:"work,omitempty"`
	Mark   *Mark    `json:"mark,omitempty"`
	Checks *Runs    `json:"checks,omitempty"`
	Hook   *Hook    `json:"hook,omitempty"`
	Old    *Old     `json:"old,omitempty"`
	Panel  *Panel   `json:"panel,omitempty"`

	Landing *Landing `json:"landing,omitempty"` // nil: the work is not proved yet
}

// Task is what the plan says of the task.
type Task struct {
	HasChecks    bool `json:"has_checks,omitempty"`     // of its own, or the epic has some that ran on its work
	MayBeNothing bool `json:"may_be_nothing,omitempty"` // it may be done without a change
	Verify       bool `json:"verify,omitempty"`         // it only asks to see that the checks pass
}

// Ready is what came of making the place of the attempt ready.
type Ready struct {
	Branch string `json:"branch,omitempty"` // of the task, which is checked out …
	InUse  string `json:"in_use,omitempty"` // … in this folder of a person's
	Mishap
}

// Mishap is what kept commands from saying anything. Its zero value is none.
type Mishap struct {
	Stopped string `json:"stopped,omitempty"` // the run was stopped: before or during what
	Unseen  string `json:"unseen,omitempty"`  // the process that watched this command died
	Spoiled bool   `json:"spoiled,omitempty"` // what git knows of the checkout was changed while the commands ran
	SetUp   string `json:"set_up,omitempty"`  // the set-up failed: which command, and how it ended
	Refused string `json:"refused,omitempty"` // a command of the user's fails in the sandbox: what that refuses it
	ByWork  bool   `json:"by_work,omitempty"` // SetUp succeeds without the work
	Offline string `json:"gone,omitempty"`    // a check that had passed on the base fails there now: how
}

// Before is what the checks and the hook say without the work.
type Before struct {
	CannotRun string   `json:"cannot_run,omitempty"` // why a check cannot run at all, so that nothing would prove the work
	Early     []string `json:"early,omitempty"`      // checks that must fail before the work, where all checks of the task pass
	Green     string   `json:"green,omitempty"`      // one of these that passes while others of the task fail
	Late      string   `json:"late,omitempty"`       // one of these that took too long: what it did
	Hook      string   `json:"hook,omitempty"`       // the hook fails where nothing has changed: how
	Mishap
}

// Leave is whether an agent may be asked now.
type Leave struct {
	Refused string `json:"refused,omitempty"` // why not
}

// TurnEnd is how a turn of the agent ended.
type TurnEnd struct {
	Is       runners.Outcome       `json:"is"`
	Said     string                `json:"said,omitempty"`      // what is known of why
	Category attempts.Category     `json:"category,omitempty"`  // of a failure, in the agent's own words; "": that of the end
	NoResult bool                  `json:"no_result,omitempty"` // it gave no result that can be read, and no fault of its CLI is known
	By       attempts.ResultSource `json:"by,omitempty"`        // with NoResult: what decides in place of it; "": nothing
	Asked    bool                  `json:"asked,omitempty"`     // with NoResult: its session was asked for it
	Session  bool                  `json:"session,omitempty"`   // it has one that can be asked
	Round    int                   `json:"round,omitempty"`     // of mending what reviewers found; 0: the first turn
	AskedWhy bool                  `json:"asked_why,omitempty"` // its session was asked why it changed tests that the task does not name
	Why      string                `json:"why,omitempty"`       // what it answered, in a line
}

// Guard is what was done to what is not the attempt's, as far as it is serious and known to be its doing.
type Guard struct {
	Why string `json:"why,omitempty"`
}

// Work is what there is of work.
type Work struct {
	Destroyed     bool     `json:"destroyed,omitempty"` // the checkout is gone
	HalfDone      string   `json:"half_done,omitempty"` // a merge or the like
	Unmerged      string   `json:"unmerged,omitempty"`  // a path in conflict
	Untaken       []string `json:"untaken,omitempty"`   // paths that git does not take
	Refused       []string `json:"refused,omitempty"`   // paths that a filter or an encoding refuses …
	RefusedBy     string   `json:"refused_by,omitempty"`
	OffBranch     string   `json:"off_branch,omitempty"` // the branch that the agent left
	Rewrote       bool     `json:"rewrote,omitempty"`    // commits that were there before
	Others        bool     `json:"others,omitempty"`     // the agent left more work, elsewhere in its slot
	TooLarge      string   `json:"too_large,omitempty"`
	Repository    string   `json:"repository,omitempty"`     // that was put into the commits
	Submodule     string   `json:"submodule,omitempty"`      // in which the agent committed
	Brought       []string `json:"brought,omitempty"`        // files of the user's that relay had brought, committed
	Protected     []string `json:"protected,omitempty"`      // paths in the commits that no agent may change
	LeftProtected []string `json:"left_protected,omitempty"` // the same, not committed, and not as checks leave them
	Left          []string `json:"left,omitempty"`           // uncommitted files that are no part of the work
	LeftOut       []string `json:"left_out,omitempty"`       // products of tools, large files and secrets that relay did not commit, in words
	Unasked       []string `json:"unasked,omitempty"`        // products of tools and large files that the agent committed, in words
	Secrets       []string `json:"secrets,omitempty"`        // that the work adds, in words: file and rule
	Reviewed      []string `json:"reviewed,omitempty"`       // files that a task of the kind review changes and does not name, but for new documents
	Documents     bool     `json:"documents,omitempty"`      // it changes only documents, which the task does not ask for
	Merged        []string `json:"merged,omitempty"`         // branches of the user's that the agent merged
	Outside       []string `json:"outside,omitempty"`        // files that git does not take into a commit
	Ignored       []string `json:"ignored,omitempty"`        // files that the agent made, that the task names and that git ignores
	Empty         bool     `json:"empty,omitempty"`          // nothing has changed
	Further       bool     `json:"further,omitempty"`        // it differs from that of the attempt that this one went on from; without one, from the base
	AsJudged      string   `json:"as_judged,omitempty"`      // nothing has changed since the reviewers found this
	Claimed       []string `json:"claimed,omitempty"`        // with Empty: files that the agent claims to have changed
	Absent        []string `json:"absent,omitempty"`         // with Empty: files that a task without checks of its own names, and that are not there
	DeletedTests  []string `json:"deleted_tests,omitempty"`  // that the task does not name
	Weaker        []string `json:"weaker,omitempty"`         // tests that prove less than before, in words
	Theirs        bool     `json:"theirs,omitempty"`         // a person has committed after the run was killed
	Unattributed  bool     `json:"unattributed,omitempty"`   // changes belong to no task here
}

// Mark is what came of marking the attempt's commits.
type Mark struct {
	Unfit   string `json:"unfit,omitempty"`   // why a commit cannot land
	Refused string `json:"refused,omitempty"` // git does not take what was committed: what it says
}

// Runs are the checks on the work that ran, in their order.
type Runs struct {
	Runs  []Run    `json:"runs,omitempty"`
	Fewer []string `json:"fewer,omitempty"` // checks that ran fewer tests than before, in words
	Flaky []string `json:"flaky,omitempty"` // checks that are flaky for the second time on work of this task, in words
	Mishap
}

// State is how a check ended.
type State string

// States of a check.
const (
	Passed State = "passed"
	Red    State = "red"
	Late   State = "late" // it took too long, or printed too much: it has said nothing
)

// Run is what was seen of one check.
type Run struct {
	Name      string `json:"name"`
	OfEpic    bool   `json:"of_epic,omitempty"`
	Is        State  `json:"is"`
	Before    State  `json:"before,omitempty"`     // on the base; "": not known
	Alike     bool   `json:"alike,omitempty"`      // it fails in the same way on the base
	How       string `json:"how,omitempty"`        // it ended, with the lines that say why
	Short     string `json:"short,omitempty"`      // the same in fewer words
	CannotRun string `json:"cannot_run,omitempty"` // why it cannot run at all, whatever an agent does
	Lacks     string `json:"lacks,omitempty"`      // a dependency that the work has added and that is not installed: what to set
	Changed   string `json:"changed,omitempty"`    // a protected file that decides checks, changed while it ran and not on the base
	LeftOut   string `json:"left_out,omitempty"`   // a file that relay did not commit, which the output names
	NoTest    bool   `json:"no_test,omitempty"`    // its output says that it ran no test, and it did not fail before, or is a single command
	Alone     bool   `json:"alone,omitempty"`      // no other attempt was at work while it ran
	Crowded   bool   `json:"crowded,omitempty"`    // it was repeated beside other checks, and failed again
}

// Excused reports whether the check is one of the epic that fails on the base as well: it is held against no task.
func (r Run) Excused() bool { return r.OfEpic && r.Is != Passed && r.Before == Red }

// fails reports whether the check speaks against the work.
func (r Run) fails() bool { return r.Changed != "" || r.Is != Passed && !r.Excused() }

// Hook is what the user's pre-commit hook says of the work.
type Hook struct {
	How   string `json:"how,omitempty"`   // it failed so; "": it passed, or there is none
	Short string `json:"short,omitempty"` // the same in fewer words
	Alike bool   `json:"alike,omitempty"` // it fails in the same way where nothing has changed
	Mishap
}

// Old is what the checks say with the base's version of the tests.
type Old struct {
	Check   string   `json:"check,omitempty"`   // that fails then, twice; "": none
	How     string   `json:"how,omitempty"`     // it ended
	Changed []string `json:"changed,omitempty"` // what the agent changed of the tests
	Blind   []string `json:"blind,omitempty"`   // code of the work without whose content every check passes too
	Mishap
}

// Panel is what the reviewers said.
type Panel struct {
	Missing []Absent `json:"missing,omitempty"` // who has given no opinion; none while those who did refuse the work
	Blocked bool     `json:"blocked,omitempty"`
	Wants   bool     `json:"wants,omitempty"`    // changes
	First   string   `json:"first,omitempty"`    // finding, or the summary
	MayMend bool     `json:"may_mend,omitempty"` // a round is left, and the last one was not in vain

	Approved bool `json:"approved,omitempty"` // all were asked, and approve
	Seconded bool `json:"seconded,omitempty"` // with Missing: those who gave an opinion approve
}

// Absent is a reviewer that has given no opinion.
type Absent struct {
	Fault ReviewerFault `json:"fault"`
	Why   string        `json:"why,omitempty"`
}

// Landing is what was seen of putting proved work onto the integration branch. Checks has the checks on the merged tree.
type Landing struct {
	Conflict []string `json:"conflict,omitempty"` // files …
	With     string   `json:"with,omitempty"`     // … that these have changed as well, in words
	Since    string   `json:"since,omitempty"`    // what has landed since the work began, in words
}

// gathered holds which parts of the evidence were gathered.
type gathered map[Part]bool

func (e *Evidence) parts() gathered {
	return gathered{
		Readied: e.Ready != nil, Base: e.Base != nil, Started: e.Leave != nil, Turn: e.End != nil, Guarded: e.Guard != nil,
		Worked: e.Work != nil, Marked: e.Mark != nil, Checked: e.Checks != nil, Hooked: e.Hook != nil, OldView: e.Old != nil,
		Judged: e.Panel != nil,
	}
}

// lack returns the first of some parts that was not gathered, or Nothing.
func (p gathered) lack(wanted ...Part) Part {
	for _, part := range wanted {
		if !p[part] {
			return part
		}
	}
	return Nothing
}

// mishap returns what kept commands of the attempt from saying anything.
func (e *Evidence) mishap() Mishap {
	return cmp.Or(
		cmp.Or(e.Ready, &Ready{}).Mishap, cmp.Or(e.Base, &Before{}).Mishap, cmp.Or(e.Checks, &Runs{}).Mishap, cmp.Or(e.Hook, &Hook{}).Mishap,
		cmp.Or(e.Old, &Old{}).Mishap,
	)
}

// against returns the first check that speaks against the work.
func (e *Evidence) against() (r Run, yes bool) {
	for _, r := range cmp.Or(e.Checks, &Runs{}).Runs {
		if r.fails() {
			return r, true
		}
	}
	return r, false
}

// presumed reports whether evidence decides in place of a result that the agent did not give.
func (e *Evidence) presumed() bool { return e.End.NoResult && e.End.By != "" }

// claims reports whether the turn ended as a success, claimed or presumed.
func (e *Evidence) claims() bool {
	return e.End != nil && (e.presumed() || OutcomeOf(e.End.Is).Outcome == attempts.Success)
}

// DoneAlready reports whether the agent found that there was nothing to be done, which the task's checks have to say as well.
func (e *Evidence) DoneAlready() bool {
	return e.claims() && !e.End.NoResult && e.Work != nil && e.Work.Empty && !e.Task.MayBeNothing && e.Task.HasChecks
}

// Claims reports whether the turn ended as a success, claimed or presumed.
func (d TurnEnd) Claims() bool {
	return d.NoResult && d.By != "" || OutcomeOf(d.Is).Outcome == attempts.Success
}

// OfAgent reports whether the end is the agent's failure: not that of its runner, a limit or this machine.
func (d TurnEnd) OfAgent() bool { return OutcomeOf(d.Is).Outcome == attempts.Agent }

// Blames reports whether the end is charged.
func (d TurnEnd) Blames() bool { return OutcomeOf(d.Is).Outcome.Charged() }

// Undecided reports whether the agent gave no result, nothing decides in its place, and it was not asked for it.
func (d TurnEnd) Undecided() bool { return d.NoResult && d.By == "" && !d.Asked }

// Words says why the turn ended.
func (d TurnEnd) Words() string { return plaintext.FirstOf(d.Said, OutcomeOf(d.Is).Words) }

// WithoutResult reports whether the attempt ends without a result: nothing decides in its place, or what was to decide cannot.
func (e *Evidence) WithoutResult() bool { return e.End != nil && withoutResult(e) }

// AlreadyDone reports whether the ledger records, with a ruling, that the task was done before the attempt.
func (e *Evidence) AlreadyDone(r Ruling) bool {
	return e.DoneAlready() && r.Outcome != attempts.Agent && r.Outcome != attempts.Tamper
}

// Unready says why a checkout cannot be set up; "": it is.
func Unready(m Mishap) string {
	if m.Stopped != "" {
		return "the run was stopped " + m.Stopped
	}
	return plaintext.FirstOf(m.Refused, m.SetUp)
}

// GoesOnFrom says what an attempt continues from.
func GoesOnFrom(before *attempts.Attempt) string {
	switch {
	case before.Outcome == attempts.Tamper:
		return fmt.Sprintf("goes on from what attempt %d had done, without its changes of protected files", before.ID)
	case before.AwaitsReview():
		return fmt.Sprintf("what attempt %d had done is reviewed; no agent was asked to do it again", before.ID)
	}
	if before.Outcome == attempts.Asked {
		return fmt.Sprintf("continues the work of attempt %d with your answer", before.ID)
	}
	return fmt.Sprintf("goes on from what attempt %d had done when it was stopped", before.ID)
}
