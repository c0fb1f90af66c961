package verdict

import (
	"slices"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/runners"
)

// rows is the table: the first row that holds rules.
var rows = slices.Concat(machineRows, endRows, earlyRows, workRows, checkRows, panelRows, []row{{
	Cause: "proved", Outcome: attempts.Success, Next: Land,
	Seen:  "no row above applies, and relay has gathered all evidence",
	needs: []Part{Readied, Base, Started, Turn, Worked, Marked, Checked, Hooked, OldView, Judged},
	holds: func(*Evidence) bool { return true },
}})

// Rows about commands that say nothing, of the work and of the tree that it lands on.
var (
	stoppedRow = row{
		Cause: "stopped", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: Resume,
		Seen:  "the run was stopped during set-up or while checks ran",
		holds: func(e *Evidence) bool { return e.mishap().Stopped != "" },
		words: func(e *Evidence) string { return "the run was stopped " + e.mishap().Stopped },
	}
	lostRow = row{
		Cause: "command lost", Outcome: attempts.Environment, Category: attempts.CLIError, Next: Resume,
		Seen:  "the process that supervised a command died, so the command's exit is unknown",
		holds: func(e *Evidence) bool { return e.mishap().Unseen != "" },
		words: func(e *Evidence) string {
			return "the process that watched " + e.mishap().Unseen + " died; how it ended is unknown"
		},
	}
	spoiledRow = row{
		Cause: "checkout spoiled", Outcome: attempts.Environment, Category: attempts.CLIError, Next: Resume,
		Seen:  "git's own data of a checkout changed while checks ran in it",
		holds: func(e *Evidence) bool { return e.mishap().Spoiled },
		words: func(*Evidence) string {
			return "what git knows of the checkout was changed while the checks ran; they prove nothing"
		},
	}
	setUpRow = row{
		Cause: "set-up failed", Outcome: attempts.Environment, Category: attempts.MissingDependency, Next: Resume,
		Seen:  "a set-up command fails, and relay did not see it succeed without the work",
		Often: "repeated up to three times after pauses, in a fresh checkout; on the work, again without it",
		holds: func(e *Evidence) bool {
			m := e.mishap()
			return m.SetUp != "" && !m.ByWork && (!e.DoneAlready() || onlyExcused(e.Checks) == "")
		},
		words: func(e *Evidence) string { return e.mishap().SetUp },
	}
	unknownRow = row{
		Cause: "nothing is known", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "a check of the epic fails on the work; on the base it passed before and fails now",
		Often: "a rerun of the epic's checks on the base",
		holds: func(e *Evidence) bool { return e.mishap().Offline != "" && !e.DoneAlready() },
		words: func(e *Evidence) string { return e.mishap().Offline },
	}
)

// machineRows are about this machine and the run, before and beside the work, and about what no attempt may touch.
var machineRows = []row{
	{
		Cause: "damaged", Outcome: attempts.Environment, Category: attempts.CLIError, Next: Resume,
		Seen:  "git cannot read the attempt's checkout or commits; your repository and the disk are intact",
		holds: func(e *Evidence) bool { return e.Damage != "" },
		words: func(e *Evidence) string {
			return "the checkout or the commits of this attempt were damaged: " + e.Damage
		},
	},
	stoppedRow,
	{
		Cause: "branch in use", Outcome: attempts.Environment, Category: attempts.CLIError, Gate: attempts.Infrastructure, Next: Gate,
		Seen:  "the task's branch is checked out in a folder of yours",
		Lifts: "switch that folder to another branch",
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
		Seen:  "the attempt changed something outside its own work, and relay is certain of it; relay restored it",
		Lifts: "a person: relay ungate",
		holds: func(e *Evidence) bool { return e.Guard != nil && e.Guard.Why != "" },
		words: func(e *Evidence) string { return e.Guard.Why },
	},
	lostRow,
	spoiledRow,
	{
		Cause: causeRefused, Outcome: attempts.Environment, Category: attempts.MissingDependency, Held: true, Next: Hold,
		Seen: "a set-up command, or a check without which nothing would prove the work, fails in the sandbox on a commit without agents' work, " +
			"and succeeds there with what its output says that the sandbox refuses, or with the user's logins; `require` tries only what has a setting",
		Often: "once with that allowed, then twice in the sandbox",
		Lifts: "the settings that its words name",
		holds: func(e *Evidence) bool { return e.mishap().Refused != "" },
		words: func(e *Evidence) string { return e.mishap().Refused },
	},
	setUpRow,
	unknownRow,
	{
		Cause: causeCannotRun, Outcome: attempts.Environment, Category: attempts.MissingDependency, Held: true, Next: Hold,
		Seen:  "a check cannot run on the base whatever an agent does, and no other check would prove the work; or one of the epic takes too long there",
		Lifts: "supply what the check lacks",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.CannotRun != "" },
		words: func(e *Evidence) string { return e.Base.CannotRun },
	},
	{
		Cause: "base too slow", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "a check that must fail before the work takes too long on the base",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.Late != "" },
		words: func(e *Evidence) string {
			return e.Base.Late + " before the work, so it cannot prove it (expect: red_then_green)"
		},
	},
	{
		Cause: "green before", Outcome: attempts.Environment, Category: attempts.TestFailure, Gate: attempts.Infrastructure, Next: Gate,
		Seen:  "a check that must fail before the work passes on the base, while others of the task fail",
		Lifts: "change the check or its expect",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.Green != "" },
		words: func(e *Evidence) string { return PassesBefore(e.Base.Green) },
	},
	{
		Cause: "hook broken", Outcome: attempts.Environment, Category: attempts.MissingDependency, Held: true, Next: Hold,
		Seen:  "the pre-commit hook failed on an unchanged checkout earlier, and fails there again",
		Often: "twice",
		Lifts: "the hook passes on an unchanged checkout",
		needs: []Part{Base},
		holds: func(e *Evidence) bool { return e.Base.Hook != "" },
		words: func(e *Evidence) string { return e.Base.Hook + hookIsBroken },
	},
	{
		Cause: "no leave", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: Resume,
		Seen:  "the runner failed other tasks after relay chose it, and the wait for it would be long",
		needs: []Part{Started},
		holds: func(e *Evidence) bool { return e.Leave.Refused != "" },
		words: func(e *Evidence) string { return e.Leave.Refused },
	},
}

// Causes that are also looked for in ledgers.
const (
	causeRefused   Cause = "refused by the sandbox"
	causeCannotRun Cause = "cannot run"
)

const hookIsBroken = ", and in the same way where nothing has changed: git commit --allow-empty would show it"

// PassesBefore returns text that says that a check had to fail before the work, and did not.
func PassesBefore(check string) string {
	return check + " passes before the work, so it cannot prove it (expect: red_then_green)"
}

// endRows are about how a turn of the agent ended.
var endRows = []row{
	{
		Cause: "not mended", Outcome: attempts.Review, Category: attempts.QualityGate, Next: Retry,
		Seen:  "the agent's turn to fix the reviewers' findings failed",
		needs: []Part{Turn},
		holds: func(e *Evidence) bool { return e.End.Round > 0 && !e.presumed() && endOf(e).Outcome.Charged() },
		words: func(e *Evidence) string {
			return "the agent did not fix what the reviewers found: " + endWords(e)
		},
	},
	{
		Cause: "asks a person", Outcome: attempts.Asked, Category: attempts.Question, Gate: attempts.AwaitsAnswer, Next: Gate,
		Seen:  "the agent says that it needs a person's answer to continue; relay keeps its work and its session",
		Lifts: "relay answer",
		needs: []Part{Turn, Worked},
		holds: func(e *Evidence) bool { return e.End.Is == runners.Asked },
		words: endWords,
	},
	{
		Cause: "cannot prove", Outcome: attempts.Environment, Category: attempts.TestFailure, Gate: attempts.Infrastructure, Next: Gate,
		Seen:  "all checks of the task pass on the base though some must fail there, and the agent did not report the task as already done",
		Lifts: "change the checks or their expect",
		needs: []Part{Base, Turn},
		holds: unproven,
		words: func(e *Evidence) string {
			why := PassesBefore(plaintext.Listed(e.Base.Early))
			if own, yes := agentFault(e); yes {
				why += "; its agent: " + own
			}
			return why
		},
	},
	{
		Cause: "no result, yet", Next: AskResult, ends: true,
		Seen:  "the agent exited normally without a result, other evidence cannot decide, and relay can ask its session for the result",
		needs: []Part{Turn},
		holds: func(e *Evidence) bool { return withoutResult(e) && e.End.Session && !e.End.Asked },
		words: endWords,
	},
	{
		Cause: "no result", Next: Retry, ends: true,
		Seen:  "the agent exited normally without a result, other evidence cannot decide, and its session gave none or cannot be asked",
		needs: []Part{Turn},
		holds: withoutResult,
		words: func(e *Evidence) string {
			if e.End.Asked && e.End.Session {
				return endWords(e) + ", and gave none when it was asked again"
			}
			return endWords(e)
		},
	},
}

// unproven reports whether the checks of the task prove nothing, since all of them pass without the work.
func unproven(e *Evidence) bool {
	if len(e.Base.Early) == 0 || e.End.NoResult || e.DoneAlready() {
		return false
	}
	if _, yes := agentFault(e); yes {
		return true
	}
	return e.claims() && e.Work != nil && len(e.Work.Protected) == 0
}

// agentFault returns the failure of the agent that was seen before its diff was looked at.
func agentFault(e *Evidence) (why string, yes bool) {
	seen := e.parts()
	for i := range earlyRows {
		if r := &earlyRows[i]; seen.lack(r.needs...) == Nothing && r.holds(e) {
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

func endWords(e *Evidence) string { return plaintext.FirstOf(e.End.Said, endOf(e).Words) }

// earlyRows are about what is seen of the agent and its work before the diff is looked at.
var earlyRows = []row{
	unfinished("context full", runners.ContextExhausted, "the agent's context is full"),
	unfinished("turns used up", runners.TurnsSpent, "the agent reached its CLI's limit of turns"),
	{
		Cause: "agent ended", Next: Retry, ends: true,
		Seen:  "the agent failed or reached a limit, or its runner failed (see [how agents end](#how-agents-end))",
		needs: []Part{Turn},
		holds: func(e *Evidence) bool { return !e.claims() },
		words: endWords,
	},
	atWork("checkout destroyed", "the agent removed its checkout", func(w *Work) string {
		return when(w.Destroyed, "the agent destroyed its worktree")
	}),
	atWork("half done", "the agent left a merge, rebase or similar operation unfinished", func(w *Work) string {
		return when(w.HalfDone != "", "the agent left a "+w.HalfDone+" half done; its work is kept, but not landed")
	}),
	atWork("left in conflict", "the agent left conflicts in the index", func(w *Work) string {
		return when(w.Unmerged != "", "the agent left "+w.Unmerged+" in conflict; its work is kept, but not landed")
	}),
	atWork("not taken", "the agent replaced files with something that git cannot store", func(w *Work) string {
		return when(len(w.Untaken) > 0, "git does not take what the agent left in place of "+plaintext.Listed(w.Untaken)+"; its other work is kept, but not landed")
	}),
	atWork("refused by a filter", "a git filter or an encoding rejects files of the work", func(w *Work) string {
		return when(len(w.Refused) > 0, "git does not take "+plaintext.Listed(w.Refused)+": "+w.RefusedBy+"; the work is kept as it is, but not landed")
	}),
	atWork("off the branch", "the work is not on the task's branch", func(w *Work) string {
		return when(w.OffBranch != "", "the agent left the branch "+w.OffBranch+"; its work is kept, but not landed")
	}),
	atWork("rewrote history", "the work does not descend from the base", func(w *Work) string {
		return when(w.Rewrote, "the agent rewrote commits that were there before it; its work is kept, but not landed")
	}),
	atWork("too large", "the change is too large to list", func(w *Work) string {
		return when(w.TooLarge != "", "the change is too large to be looked at: "+w.TooLarge)
	}),
	atWork("repository inside", "the commits contain another repository by name, without its content", func(w *Work) string {
		return when(w.Repository != "", "the agent put a repository into the commit: "+w.Repository+"; its content would not land")
	}),
	atWork("submodule inside", "the agent committed inside a submodule of its checkout", func(w *Work) string {
		return when(w.Submodule != "", "the agent committed in submodule "+w.Submodule+", and only this worktree has that commit; it would not land")
	}),
	atWork("brought files committed", "the commits contain files that relay copied into the checkout and that you never committed", func(w *Work) string {
		return when(len(w.Brought) > 0, "the agent committed "+plaintext.Listed(w.Brought)+", which the user has in no commit and relay had brought here; it is kept, but not landed")
	}),
}

// unfinished is a row about an agent that was cut off in the middle, and whose work went further than that of the attempt before.
func unfinished(cause Cause, end runners.Outcome, seen string) row {
	return row{
		Cause: cause, Outcome: attempts.Unfinished, Category: OutcomeOf(end).Category, Next: Resume,
		Seen:  seen + ", and its work is not that of the attempt before it",
		needs: []Part{Turn, Worked},
		holds: func(e *Evidence) bool { return e.End.Is == end && e.Work.Further },
		words: endWords,
	}
}

// workRows are about what there is of work.
var workRows = []row{
	{
		Cause: "protected files", Outcome: attempts.Tamper, Category: attempts.Tampered, Next: Retry,
		Seen:  "the commits change protected files; relay reverted these changes",
		needs: []Part{Worked},
		holds: func(e *Evidence) bool { return len(e.Work.Protected) > 0 },
		words: func(e *Evidence) string {
			return protectedWords(slices.Concat(e.Work.Protected, e.Work.LeftProtected), "")
		},
	},
	{
		Cause: "protected files left", Outcome: attempts.Tamper, Category: attempts.Tampered, Next: Retry,
		Seen:  "the agent left protected files changed, in a way that checks do not; relay restored them",
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
		Seen: "the agent claims success without a change; it names files that it changed, no check would show the work, or one fails; " +
			"or a file that a task without checks of its own names, and does not ask to remove, is not there",
		needs: []Part{Turn, Worked},
		holds: func(e *Evidence) bool {
			if !e.Work.Empty || e.Task.MayBeNothing || e.End.NoResult || e.Work.Unattributed {
				return false
			}
			return !e.Task.HasChecks || len(e.Work.Claimed)+len(e.Work.Absent) > 0 || notDone(e) != ""
		},
		words: func(e *Evidence) string {
			why := "the agent claims success, but nothing has changed"
			why += beside(e.Work)
			if red := notDone(e); red != "" {
				why += ", and " + red
			} else if len(e.Work.Claimed) > 0 {
				why += "; it claims to have changed " + plaintext.Listed(e.Work.Claimed)
			} else if len(e.Work.Absent) > 0 {
				why += ", and the task's " + plaintext.Listed(e.Work.Absent) + plaintext.Verb(len(e.Work.Absent), " does not exist", " do not exist")
			}
			return why
		},
	},
	{
		Cause: "nothing mended", Outcome: attempts.Review, Category: attempts.QualityGate, Next: Retry,
		Seen:  "the agent changed nothing in its turn to fix the reviewers' findings",
		needs: []Part{Worked},
		holds: func(e *Evidence) bool { return e.Work.AsJudged != "" },
		words: func(e *Evidence) string {
			return "the reviewers want changes, and the agent made none: " + e.Work.AsJudged
		},
	},
	{
		Cause: "unfit commits", Outcome: attempts.Agent, Category: attempts.CodeError, Next: Retry,
		Seen:  "a commit of the work cannot land",
		needs: []Part{Marked},
		holds: func(e *Evidence) bool { return e.Mark.Unfit != "" },
		words: func(e *Evidence) string { return e.Mark.Unfit + "; it is kept, but not landed" },
	},
	{
		Cause: "commits refused", Outcome: attempts.Agent, Category: attempts.CodeError, Next: Retry,
		Seen:  "git rejects the agent's commits and accepts everything else",
		needs: []Part{Marked},
		holds: func(e *Evidence) bool { return e.Mark.Refused != "" },
		words: func(e *Evidence) string { return "git does not take what the agent has committed: " + e.Mark.Refused },
	},
}

// beside names what the agent left where nothing of it lands, for a text that says that nothing has changed.
func beside(w *Work) string {
	switch {
	case len(w.LeftOut) > 0:
		return " but " + plaintext.Listed(w.LeftOut) + ", which relay does not commit"
	case len(w.Left) > 0:
		return " but " + plaintext.Listed(w.Left) + ", which is not part of the work"
	case len(w.Outside) > 0:
		return " but " + plaintext.Listed(w.Outside) + ", which git does not take into a commit"
	case len(w.Ignored) > 0:
		return " but " + plaintext.Listed(w.Ignored) + ", which git ignores"
	}
	return ""
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
	why := "the agent changed " + plaintext.Listed(paths) + ", which is protected; relay put it back"
	if more != "" {
		why += ", and then " + more
	}
	return why
}
