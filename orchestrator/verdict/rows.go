package verdict

import (
	"slices"

	"relay/attempts"
	"relay/orchestrator/text"
)

// rows is the table: the first row that holds rules.
var rows = slices.Concat(machineRows, endRows, earlyRows, workRows, checkRows, panelRows, []row{{
	Cause: "proved", Outcome: attempts.Success, Next: Land,
	Seen:  "none of the above holds, and all parts are gathered",
	needs: []Part{Readied, Base, Started, Turn, Worked, Marked, Checked, Hooked, OldView, Judged},
	holds: func(*Evidence) bool { return true },
}})

// Rows about commands that say nothing, of the work and of the tree that it lands on.
var (
	stoppedRow = row{
		Cause: "stopped", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: Resume,
		Seen:  "the run was stopped while the place was made ready or checks ran",
		holds: func(e *Evidence) bool { return e.mishap().Stopped != "" },
		words: func(e *Evidence) string { return "the run was stopped " + e.mishap().Stopped },
	}
	lostRow = row{
		Cause: "command lost", Outcome: attempts.Environment, Category: attempts.CLIError, Next: Resume,
		Seen:  "the process that watched a command died, so how it ended is not known",
		holds: func(e *Evidence) bool { return e.mishap().Unseen != "" },
		words: func(e *Evidence) string {
			return "the process that watched " + e.mishap().Unseen + " died; how it ended is unknown"
		},
	}
	spoiledRow = row{
		Cause: "checkout spoiled", Outcome: attempts.Environment, Category: attempts.CLIError, Next: Resume,
		Seen:  "what git knows of a checkout was changed while checks ran in it",
		holds: func(e *Evidence) bool { return e.mishap().Spoiled },
		words: func(*Evidence) string {
			return "what git knows of the checkout was changed while the checks ran; they prove nothing"
		},
	}
	setUpRow = row{
		Cause: "set-up failed", Outcome: attempts.Environment, Category: attempts.MissingDependency, Next: Resume,
		Seen:  "a set-up command fails, without the work or where that is not known",
		holds: func(e *Evidence) bool { m := e.mishap(); return m.SetUp != "" && !m.ByWork },
		words: func(e *Evidence) string { return e.mishap().SetUp },
	}
	unknownRow = row{
		Cause: "nothing is known", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "a check of the epic fails on the work, and fails on the base where it has passed before",
		holds: func(e *Evidence) bool { return e.mishap().Offline != "" && !e.doneAlready() },
		words: func(e *Evidence) string { return e.mishap().Offline },
	}
)

// machineRows are about this machine and the run, before and beside the work, and about what nobody may touch.
var machineRows = []row{
	{
		Cause: "damaged", Outcome: attempts.Environment, Category: attempts.CLIError, Next: Resume,
		Seen:  "git cannot read the attempt's checkout or commits; the user's repository and the disk are well",
		holds: func(e *Evidence) bool { return e.Damage != "" },
		words: func(e *Evidence) string {
			return "the checkout or the commits of this attempt were damaged: " + e.Damage
		},
	},
	stoppedRow,
	{
		Cause: "branch in use", Outcome: attempts.Environment, Category: attempts.CLIError, Gate: attempts.Infrastructure, Next: Gate,
		Seen: "a person has the task's branch checked out", Lifts: "switch to another branch there",
		needs: []Part{Readied},
		holds: func(e *Evidence) bool { return e.Ready.InUse != "" },
		words: func(e *Evidence) string {
			return "the branch " + e.Ready.Branch + " is checked out in " + e.Ready.InUse + "; git switch to another one there"
		},
	},
	{
		Cause: "stopped agent", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: Resume,
		Seen:  "the run was stopped while the agent worked",
		needs: []Part{Readied},
		holds: func(e *Evidence) bool { return e.End != nil && endOf(e).Outcome == attempts.Stopped && !e.presumed() },
		words: endWords,
	},
	{
		Cause: "tampering", Outcome: attempts.Tamper, Category: attempts.Tampered, Gate: attempts.TamperedWith, Next: Gate,
		Seen:  "what is not the attempt's was changed, and it is known to be its doing; relay has put it back",
		Lifts: "a person: relay ungate",
		holds: func(e *Evidence) bool { return e.Guard != nil && e.Guard.Why != "" },
		words: func(e *Evidence) string { return e.Guard.Why },
	},
	lostRow,
	spoiledRow,
	setUpRow,
	unknownRow,
	{
		Cause: "cannot run", Outcome: attempts.Environment, Category: attempts.MissingDependency, Held: true, Next: Hold,
		Seen:  "a check cannot run at all on the base, whatever an agent does, and nothing else would prove the work",
		Lifts: "what it lacks is there",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.CannotRun != "" },
		words: func(e *Evidence) string { return e.Base.CannotRun },
	},
	{
		Cause: "base too slow", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "a check that must fail before the work takes too long there",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.Late != "" },
		words: func(e *Evidence) string {
			return e.Base.Late + " before the work, so it cannot prove it (expect: red_then_green)"
		},
	},
	{
		Cause: "green before", Outcome: attempts.Environment, Category: attempts.TestFailure, Gate: attempts.Infrastructure, Next: Gate,
		Seen:  "a check that must fail before the work passes there, while others of the task fail",
		Lifts: "the check or its expect is changed",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.Green != "" },
		words: func(e *Evidence) string { return PassesBefore(e.Base.Green) },
	},
	{
		Cause: "hook broken", Outcome: attempts.Environment, Category: attempts.MissingDependency, Held: true, Next: Hold,
		Seen:  "the pre-commit hook was seen to fail where nothing has changed, and still does",
		Lifts: "the hook passes there",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.Hook != "" },
		words: func(e *Evidence) string { return e.Base.Hook + hookIsBroken },
	},
	{
		Cause: "no leave", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: Resume,
		Seen:  "the runner has failed others since it was chosen, and the wait would be long",
		needs: []Part{Started},
		holds: func(e *Evidence) bool { return e.Leave.Refused != "" },
		words: func(e *Evidence) string { return e.Leave.Refused },
	},
}

const hookIsBroken = ", and in the same way where nothing has changed: git commit --allow-empty would show it"

// PassesBefore returns text that says that a check had to fail before the work, and did not.
func PassesBefore(check string) string {
	return check + " passes before the work, so it cannot prove it (expect: red_then_green)"
}

// endRows are about how a turn of the agent ended.
var endRows = []row{
	{
		Cause: "not mended", Outcome: attempts.Review, Category: attempts.QualityGate, Next: Retry,
		Seen:  "a turn that was to mend what reviewers found failed",
		needs: []Part{Turn},
		holds: func(e *Evidence) bool { return e.End.Round > 0 && !e.presumed() && endOf(e).Outcome.Charged() },
		words: func(e *Evidence) string {
			return "the agent did not fix what the reviewers found: " + endWords(e)
		},
	},
	{
		Cause: "cannot prove", Outcome: attempts.Environment, Category: attempts.TestFailure, Gate: attempts.Infrastructure, Next: Gate,
		Seen:  "all checks of the task pass before the work though some had to fail, and the agent has not found it done already",
		Lifts: "the checks or their expect are changed",
		needs: []Part{Base, Turn},
		holds: unproven,
		words: func(e *Evidence) string {
			why := PassesBefore(text.Listed(e.Base.Early))
			if own, yes := e.agentFault(); yes {
				why += "; its agent: " + own
			}
			return why
		},
	},
	{
		Cause: "no result, yet", Next: AskResult, ends: true,
		Seen:  "the agent ended well without a result, nothing decides in its place, and its session can be asked",
		needs: []Part{Turn},
		holds: func(e *Evidence) bool { return withoutResult(e) && e.End.Session && !e.End.Asked },
		words: endWords,
	},
	{
		Cause: "no result", Next: Retry, ends: true,
		Seen:  "the agent ended well without a result, nothing decides in its place, and asking for it has brought none",
		needs: []Part{Turn},
		holds: withoutResult,
		words: func(e *Evidence) string {
			if e.End.Asked && e.End.Session {
				return endWords(e) + ", and gave none when it was asked once more"
			}
			return endWords(e)
		},
	},
}

// unproven reports whether the checks of the task prove nothing, since all of them pass without the work.
func unproven(e *Evidence) bool {
	if len(e.Base.Early) == 0 || e.End.NoResult || e.doneAlready() {
		return false
	}
	if _, yes := e.agentFault(); yes {
		return true
	}
	return e.claims() && e.Work != nil && len(e.Work.Protected) == 0
}

// agentFault returns the failure of the agent that was seen before its diff was looked at.
func (e *Evidence) agentFault() (why string, yes bool) {
	for i := range earlyRows {
		if r := &earlyRows[i]; e.hasAll(r.needs) && r.holds(e) {
			return r.words(e), r.ruling(e).Outcome == attempts.Agent
		}
	}
	return "", false
}

// withoutResult reports whether the attempt ends without a result: nothing decides in its place, or what was to decide cannot. An agent
// that its mode or its provider kept from its work is not to blame for a check that fails.
func withoutResult(e *Evidence) bool {
	if !e.End.NoResult {
		return false
	}
	if !e.presumed() {
		return true
	}
	if e.Work != nil && e.Work.Empty && !e.Task.MayBeNothing && !e.Work.Unattributed {
		return true
	}
	r, yes := e.against()
	return yes && r.Changed == "" && !endOf(e).Outcome.Charged()
}

// endOf returns the row of the table of ends that a turn's end is in.
func endOf(e *Evidence) RunnerOutcome {
	row := OutcomeOf(e.End.Is)
	if e.End.Category != "" {
		row.Category = e.End.Category
	}
	return row
}

func endWords(e *Evidence) string { return text.FirstOf(e.End.Said, endOf(e).Words) }

// earlyRows are about what is seen of the agent and its work before the diff is looked at.
var earlyRows = []row{
	{
		Cause: "agent ended", Next: Retry, ends: true,
		Seen:  "the agent failed, ran out of time or context, or its runner failed it: the table of ends",
		needs: []Part{Turn},
		holds: func(e *Evidence) bool { return !e.claims() },
		words: endWords,
	},
	atWork("checkout destroyed", "the agent removed the checkout it worked in", func(w *Work) string {
		return when(w.Destroyed, "the agent destroyed its worktree")
	}),
	atWork("half done", "the agent left a merge, rebase or the like under way", func(w *Work) string {
		return when(w.HalfDone != "", "the agent left a "+w.HalfDone+" half done; its work is kept, but not landed")
	}),
	atWork("left in conflict", "the agent left conflicts in the index", func(w *Work) string {
		return when(w.Unmerged != "", "the agent left "+w.Unmerged+" in conflict; its work is kept, but not landed")
	}),
	atWork("not taken", "the agent left what git does not take in place of files", func(w *Work) string {
		return when(len(w.Untaken) > 0, "git does not take what the agent left in place of "+text.Listed(w.Untaken)+"; its other work is kept, but not landed")
	}),
	atWork("refused by a filter", "a filter or an encoding refuses files of the work", func(w *Work) string {
		return when(len(w.Refused) > 0, "git does not take "+text.Listed(w.Refused)+": "+w.RefusedBy+"; the work is kept as it is, but not landed")
	}),
	atWork("off the branch", "the work lies on another branch than the task's", func(w *Work) string {
		return when(w.OffBranch != "", "the agent left the branch "+w.OffBranch+"; its work is kept, but not landed")
	}),
	atWork("rewrote history", "the work does not build on the base", func(w *Work) string {
		return when(w.Rewrote, "the agent rewrote commits that were there before it; its work is kept, but not landed")
	}),
	atWork("too large", "git cannot list the change within bounds", func(w *Work) string {
		return when(w.TooLarge != "", "the change is too large to be looked at: "+w.TooLarge)
	}),
	atWork("repository inside", "the commits have another repository's name, and not its content", func(w *Work) string {
		return when(w.Repository != "", "the agent put a repository into the commit: "+w.Repository+"; its content would not land")
	}),
	atWork("submodule inside", "the agent committed in a submodule of the slot", func(w *Work) string {
		return when(w.Submodule != "", "the agent committed in submodule "+w.Submodule+", and only this worktree has that commit; it would not land")
	}),
	atWork("brought files committed", "files that relay had brought, and that the user has in no commit, are in the commits", func(w *Work) string {
		return when(len(w.Brought) > 0, "the agent committed "+text.Listed(w.Brought)+", which the user has in no commit and relay had brought here; it is kept, but not landed")
	}),
}

// workRows are about what there is of work.
var workRows = []row{
	{
		Cause: "protected files", Outcome: attempts.Tamper, Category: attempts.Tampered, Next: Retry,
		Seen:  "the commits change protected files; relay has taken these changes back",
		needs: []Part{Worked},
		holds: func(e *Evidence) bool { return len(e.Work.Protected) > 0 },
		words: func(e *Evidence) string {
			return protectedWords(slices.Concat(e.Work.Protected, e.Work.LeftProtected), "")
		},
	},
	{
		Cause: "protected files left", Outcome: attempts.Tamper, Category: attempts.Tampered, Next: Retry,
		Seen:  "protected files were left changed, otherwise than checks leave them; relay has put them back",
		needs: []Part{Worked},
		holds: func(e *Evidence) bool {
			_, red := e.against()
			looked := e.Work.Empty && !e.Task.HasChecks || red || e.Hook != nil
			return looked && len(e.Work.LeftProtected) > 0 && !cannotRun(e) && !brokenBefore(e)
		},
		words: func(e *Evidence) string {
			more := ""
			if r, red := e.against(); red {
				more = redWords(e, r)
			}
			return protectedWords(e.Work.LeftProtected, more)
		},
	},
	{
		Cause: "nothing done", Outcome: attempts.Agent, Category: attempts.NoChange, Next: Retry,
		Seen:  "the agent claims success and has changed nothing, and the task has no check, or one that fails",
		needs: []Part{Worked},
		holds: func(e *Evidence) bool {
			if !e.Work.Empty || e.Task.MayBeNothing || e.End.NoResult || e.Work.Unattributed {
				return false
			}
			return !e.Task.HasChecks || notDone(e) != ""
		},
		words: func(e *Evidence) string {
			why := "the agent claims success, but nothing has changed"
			if len(e.Work.Left) > 0 {
				why += " but " + text.Listed(e.Work.Left) + ", which is no part of the work"
			} else if len(e.Work.Outside) > 0 {
				why += " but " + text.Listed(e.Work.Outside) + ", which git does not take into a commit"
			}
			if red := notDone(e); red != "" {
				why += ", and " + red
			}
			return why
		},
	},
	{
		Cause: "tests deleted", Outcome: attempts.Agent, Category: attempts.Tampered, Next: Retry,
		Seen:  "the work deletes tests that the task does not name",
		needs: []Part{Worked},
		holds: func(e *Evidence) bool { return len(e.Work.DeletedTests) > 0 },
		words: func(e *Evidence) string {
			return "the agent deleted tests that the task does not name under files: " + text.Listed(e.Work.DeletedTests)
		},
	},
	{
		Cause: "nothing mended", Outcome: attempts.Review, Category: attempts.QualityGate, Next: Retry,
		Seen:  "the turn that was to mend what reviewers found has changed nothing",
		needs: []Part{Worked},
		holds: func(e *Evidence) bool { return e.Work.AsJudged != "" },
		words: func(e *Evidence) string {
			return "the reviewers want changes, and the agent made none: " + e.Work.AsJudged
		},
	},
	{
		Cause: "unfit commits", Outcome: attempts.Agent, Category: attempts.CodeError, Next: Retry,
		Seen:  "git cannot land a commit of the work",
		needs: []Part{Marked},
		holds: func(e *Evidence) bool { return e.Mark.Unfit != "" },
		words: func(e *Evidence) string { return e.Mark.Unfit + "; it is kept, but not landed" },
	},
	{
		Cause: "commits refused", Outcome: attempts.Agent, Category: attempts.CodeError, Next: Retry,
		Seen:  "git does not take what the agent has committed, and takes everything else",
		needs: []Part{Marked},
		holds: func(e *Evidence) bool { return e.Mark.Refused != "" },
		words: func(e *Evidence) string { return "git does not take what the agent has committed: " + e.Mark.Refused },
	},
}

// atWork is a row about work that cannot land as it lies; why returns "" where it does not hold.
func atWork(cause Cause, seen string, why func(*Work) string) row {
	return row{
		Cause: cause, Outcome: attempts.Agent, Category: attempts.CodeError, Next: Retry, Seen: seen,
		needs: []Part{Worked},
		holds: func(e *Evidence) bool { return why(e.Work) != "" },
		words: func(e *Evidence) string { return why(e.Work) },
	}
}

func when(holds bool, words string) string {
	if holds {
		return words
	}
	return ""
}

func protectedWords(paths []string, more string) string {
	why := "the agent changed " + text.Listed(paths) + ", which is protected; relay put it back"
	if more != "" {
		why += ", and then " + more
	}
	return why
}
