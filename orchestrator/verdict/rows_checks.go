package verdict

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// checkRows are about what the checks and the hook say of the work.
var checkRows = []row{
	{
		Cause: "set-up broken", Outcome: attempts.Check, Category: attempts.MissingDependency, Next: Retry,
		Seen:  "a set-up command fails on the work and succeeds without it",
		Often: "repeated up to three times on the work, in a fresh checkout, then without it",
		needs: []Part{Checked},
		holds: func(e *Evidence) bool { m := e.mishap(); return m.SetUp != "" && m.ByWork },
		words: func(e *Evidence) string { return e.mishap().SetUp + "; without this work it succeeds" },
	},
	{
		Cause: "changed by a check", Outcome: attempts.Tamper, Category: attempts.Tampered, Next: Retry,
		Seen:  "a protected file that decides checks changed while a check ran alone; on the base it does not change",
		Often: "once on the work, once on the base",
		needs: []Part{Checked},
		holds: func(e *Evidence) bool { r, yes := e.against(); return yes && r.Changed != "" && r.Alone },
		words: changedWords,
	},
	{
		Cause: "changed beside", Outcome: attempts.Environment, Category: attempts.CLIError, Next: Resume,
		Seen:  "the same while other tasks ran, so relay cannot tell which of them changed it",
		Often: "once on the work, once on the base",
		needs: []Part{Checked},
		holds: func(e *Evidence) bool { r, yes := e.against(); return yes && r.Changed != "" },
		words: func(e *Evidence) string { return changedWords(e) + "; it proves nothing" },
	},
	{
		Cause: "cannot run on the work", Outcome: attempts.Environment, Category: attempts.MissingDependency,
		Gate: attempts.Infrastructure, Next: Gate,
		Seen:  "a check of the task fails on the work because it cannot run, whatever an agent does; or a check lacks a dependency that the work adds, and relay can install it nowhere",
		Lifts: "supply what the check lacks",
		needs: []Part{Checked},
		holds: cannotRun,
		words: func(e *Evidence) string { r, _ := e.against(); return plaintext.FirstOf(r.Lacks, r.CannotRun) },
	},
	{
		Cause: "broken before", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "a check of the epic exceeds a limit on the work, and in the same way on the base",
		Often: "once on the work, once on the base",
		needs: []Part{Checked},
		holds: brokenBefore,
		words: func(e *Evidence) string { r, _ := e.against(); return redWords(e, r) },
	},
	{
		Cause: "seen beside", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "a check fails on the work twice, both times beside checks of other tasks that went on for longer than it takes",
		Often: "twice",
		needs: []Part{Checked},
		holds: func(e *Evidence) bool { r, yes := e.against(); return yes && r.Crowded },
		words: func(e *Evidence) string { r, _ := e.against(); return redWords(e, r) + "; other checks ran beside it" },
		short: func(e *Evidence) string { r, _ := e.against(); return r.Short },
	},
	{
		Cause: "other work", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: TakeOther,
		Seen:  "a check fails on the work, and the agent left other work in its slot: on another branch, in the stash or on a detached HEAD",
		needs: []Part{Worked, Checked},
		holds: func(e *Evidence) bool { _, yes := e.against(); return yes && e.Work.Others },
		words: func(e *Evidence) string { r, _ := e.against(); return redWords(e, r) },
	},
	{
		Cause: "left out", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "a check fails on the work, and its output names a file that relay did not commit",
		Often: "twice",
		needs: []Part{Worked, Checked},
		holds: func(e *Evidence) bool { r, yes := e.against(); return yes && r.LeftOut != "" },
		words: func(e *Evidence) string {
			r, _ := e.against()
			return redWords(e, r) + "; relay did not commit " + r.LeftOut + ", as the task does not name it: an agent that needs it there commits it itself"
		},
		short: func(e *Evidence) string { r, _ := e.against(); return r.Short },
	},
	{
		Cause: "check failed", Outcome: attempts.Check, Category: attempts.TestFailure, Next: Retry,
		Seen:  "a check fails on the work; a check of the epic counts only if it did not fail on the base",
		Often: "twice on the work, the second time alone; of the epic, also on the base",
		needs: []Part{Checked},
		holds: func(e *Evidence) bool { _, yes := e.against(); return yes },
		words: func(e *Evidence) string {
			r, _ := e.against()
			why := redWords(e, r)
			if len(e.Work.Left) > 0 {
				why += "; " + plaintext.Listed(e.Work.Left) + " was left uncommitted, and is not part of what was checked"
			}
			if len(e.Work.Ignored) > 0 {
				why += "; git ignores " + plaintext.Listed(e.Work.Ignored) + ": it is in no commit, and not part of what was checked"
			}
			return why
		},
		short: func(e *Evidence) string { r, _ := e.against(); return r.Short },
	},
	{
		Cause: "hook fails anyway", Outcome: attempts.Environment, Category: attempts.TestFailure, Next: Resume,
		Seen:  "the pre-commit hook fails on the work, and in the same way on the base",
		Often: "once on the work, once on the base",
		needs: []Part{Hooked},
		holds: func(e *Evidence) bool { return e.Hook.How != "" && e.Hook.Alike },
		words: func(e *Evidence) string { return e.Hook.How + hookIsBroken },
		short: func(e *Evidence) string { return e.Hook.Short },
	},
	{
		Cause: "hook failed", Outcome: attempts.Check, Category: attempts.TestFailure, Next: Retry,
		Seen:  "the pre-commit hook fails on the work, and passes or fails differently on the base",
		Often: "once on the work, once on the base",
		needs: []Part{Hooked},
		holds: func(e *Evidence) bool { return e.Hook.How != "" },
		words: func(e *Evidence) string { return e.Hook.How },
		short: func(e *Evidence) string { return e.Hook.Short },
	},
	{
		Cause: "tests changed, and asked", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: AskWhy,
		Seen:  "the work deletes tests, passes only by its changes of tests, adds a secret or files that the task does not name, as in [looks](#looks), and the agent's session can be asked",
		Often: "once; a check that fails with the unchanged tests, twice",
		needs: []Part{Turn, Worked, OldView},
		holds: func(e *Evidence) bool { return e.End.Session && !e.End.AskedWhy && len(Questions(e)) > 0 },
		words: func(e *Evidence) string { return plaintext.Listed(Questions(e)) },
	},
}

// cannotRun reports whether the check that fails lacks what no agent can bring, or is one of the task's that cannot run at all. A check
// that passes before the work can run.
func cannotRun(e *Evidence) bool {
	r, yes := e.against()
	return yes && r.Changed == "" && (r.Lacks != "" || !r.OfEpic && r.Before != Passed && r.CannotRun != "")
}

// brokenBefore reports whether the check that fails is one of the epic that said nothing on the base either.
func brokenBefore(e *Evidence) bool {
	r, yes := e.against()
	return yes && r.Changed == "" && r.OfEpic && r.Before != Passed && r.Alike
}

// notDone returns what speaks against an agent that found its task done already; "": nothing does.
func notDone(e *Evidence) string {
	if !e.DoneAlready() {
		return ""
	}
	if off := e.mishap().Offline; off != "" {
		return off
	}
	r, yes := e.against()
	if !yes || r.Changed != "" || cannotRun(e) {
		return onlyExcused(e.Checks)
	}
	return redWords(e, r)
}

// onlyExcused names a check of the epic that fails as it did before, where no check of the task says that it is done.
func onlyExcused(c *Runs) string {
	if c == nil || slices.ContainsFunc(c.Runs, func(r Run) bool { return !r.OfEpic }) {
		return ""
	}
	for _, r := range c.Runs {
		if r.Excused() {
			return r.Name + " fails, as it did before"
		}
	}
	return ""
}

// redWords says how a check failed.
func redWords(e *Evidence, r Run) string {
	if brokenBefore(e) {
		return r.How + ", and in the same way before the work"
	}
	return r.How
}

func changedWords(e *Evidence) string {
	r, _ := e.against()
	return r.Changed + ", which is protected, was changed while " + r.Name + " ran"
}

// panelRows are about what the reviewers say of the work.
var panelRows = []row{
	{
		Cause: "not reviewed", Next: Resume, absent: true,
		Seen:  "a reviewer gave no verdict, and no other reviewer refused the work; relay keeps the work for the review, unless a reviewer that a person must repair is the only one missing",
		needs: []Part{Judged},
		holds: func(e *Evidence) bool { return len(e.Panel.Missing) > 0 && !e.Panel.Replaced() },
		words: func(e *Evidence) string {
			return strings.Join(each.Of(e.Panel.Missing, func(m Absent) string { return m.Why }), "; ")
		},
	},
	{
		Cause: "blocked", Outcome: attempts.Review, Category: attempts.QualityGate, Gate: attempts.QualityGateBlocked, Next: Gate,
		Seen:  "a reviewer blocks the change",
		Lifts: "a person: relay ungate",
		needs: []Part{Judged},
		holds: func(e *Evidence) bool { return e.Panel.Blocked },
		words: func(e *Evidence) string { return with("the reviewer blocks this change", e.Panel.First) },
	},
	{
		Cause: "changes wanted, and mended", Outcome: attempts.Review, Category: attempts.QualityGate, Next: Rework,
		Seen:  "reviewers want changes, and a round is left",
		needs: []Part{Judged},
		holds: func(e *Evidence) bool { return e.Panel.Wants && e.Panel.MayMend },
		words: wantedWords,
	},
	{
		Cause: "changes wanted", Outcome: attempts.Review, Category: attempts.QualityGate, Next: Retry,
		Seen:  "reviewers want changes, and no round is left or the last one did not help",
		needs: []Part{Judged},
		holds: func(e *Evidence) bool { return e.Panel.Wants },
		words: wantedWords,
	},
}

func wantedWords(e *Evidence) string { return with("the reviewer wants changes", e.Panel.First) }

func with(what, more string) string {
	if more == "" {
		return what
	}
	return what + ": " + more
}

// NotReviewed rules on work that lacks opinions: uncharged, and kept for the review that is still to come. At least one reviewer must be
// missing.
func NotReviewed(missing []Absent) Ruling {
	return panelRows[0].ruling(&Evidence{Panel: &Panel{Missing: missing}})
}

// landingRows are about proved work that is put onto the integration branch.
var landingRows = []row{
	stoppedRow, lostRow, spoiledRow, setUpRow, unknownRow,
	{
		Cause: "conflict", Outcome: attempts.Conflict, Category: attempts.Conflicted, Next: Resume,
		Seen:  "git cannot merge the work with what landed since it began",
		holds: func(e *Evidence) bool { return len(e.Landing.Conflict) > 0 },
		words: func(e *Evidence) string {
			return "conflict with " + e.Landing.With + " in " + plaintext.Listed(e.Landing.Conflict)
		},
	},
	{
		Cause: "red on the merged tree", Outcome: attempts.Conflict, Category: attempts.Conflicted, Next: Resume,
		Seen:  "a check that passed on the work, or a set-up command, fails on the merged tree",
		Often: "twice",
		holds: func(e *Evidence) bool { _, red := e.against(); return red || e.mishap().ByWork },
		words: func(e *Evidence) string {
			r, red := e.against()
			why := r.How
			if !red {
				why = e.mishap().SetUp + "; without this work it succeeds"
			}
			return "it merges, but then " + why + " (landed since it began: " + e.Landing.Since + ")"
		},
	},
	{
		Cause: "landed", Outcome: attempts.Success, Next: Land,
		Seen:  "no row above applies",
		holds: func(*Evidence) bool { return true },
	},
}

// DecideLanding returns the ruling on the landing of proved work.
func DecideLanding(e *Evidence) Ruling {
	for i := range landingRows {
		if r := &landingRows[i]; r.holds(e) {
			return r.ruling(e)
		}
	}
	return Ruling{} // not reached: the last row holds always
}
