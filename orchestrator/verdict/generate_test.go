package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"relay/attempts"
	"relay/runners"
)

// parts lists the parts of the evidence in the order in which they are gathered.
var parts = []Part{Readied, Base, Started, Turn, Guarded, Worked, Marked, Checked, Hooked, OldView, Judged}

// give adds one part to e: that of from, or one against which nothing speaks.
func give(e *Evidence, p Part, from *Evidence) {
	well := proved()
	switch p {
	case Readied:
		e.Ready = cmp.Or(from.Ready, well.Ready)
	case Base:
		e.Base = cmp.Or(from.Base, well.Base)
	case Started:
		e.Leave = cmp.Or(from.Leave, well.Leave)
	case Turn:
		e.End = cmp.Or(from.End, well.End)
	case Guarded:
		e.Guard = cmp.Or(from.Guard, well.Guard)
	case Worked:
		e.Work = cmp.Or(from.Work, well.Work)
	case Marked:
		e.Mark = cmp.Or(from.Mark, well.Mark)
	case Checked:
		e.Checks = cmp.Or(from.Checks, well.Checks)
	case Hooked:
		e.Hook = cmp.Or(from.Hook, well.Hook)
	case OldView:
		e.Old = cmp.Or(from.Old, well.Old)
	case Judged:
		e.Panel = cmp.Or(from.Panel, well.Panel)
	case Nothing:
	}
}

// maker makes random evidence. Where a property depends on a rule that gatherers keep, maker keeps it as well, and its method says so.
type maker struct{ *rand.Rand }

// makerOf returns a maker that makes the same evidence for the same seed.
func makerOf(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 1))} }

// in reports true once in n times.
func (m maker) in(n int) bool { return m.IntN(n) == 0 }

// word returns some text, once in n times; else "".
func (m maker) word(n int) string {
	if !m.in(n) {
		return ""
	}
	return fmt.Sprintf("w%d", m.IntN(1000))
}

// words returns a list that is not empty once in n times.
func (m maker) words(n int) (list []string) {
	if m.in(n) {
		for range 1 + m.IntN(4) {
			list = append(list, m.word(1))
		}
	}
	return list
}

// rare is how seldom a fault occurs, so that all rows are reached.
const rare = 50

// evidence returns the evidence of an attempt, with all parts.
func (m maker) evidence() *Evidence {
	return &Evidence{
		Task:   Task{HasChecks: !m.in(4), MayBeNothing: m.in(5)},
		Damage: m.word(2 * rare),
		Ready:  &Ready{Branch: m.word(2), InUse: m.word(rare), Mishap: m.mishap(rare)},
		Base: &Before{
			CannotRun: m.word(rare), Early: m.words(10), Green: m.word(rare), Late: m.word(rare), Hook: m.word(rare), Mishap: m.mishap(rare),
		},
		Leave: &Leave{Refused: m.word(rare)}, End: m.end(), Guard: &Guard{Why: m.word(rare)}, Work: m.work(),
		Mark: &Mark{Unfit: m.word(rare), Refused: m.word(rare)}, Checks: m.checks(), Hook: m.hook(), Old: m.old(), Panel: m.panel(),
	}
}

// landing returns evidence of the landing of proved work.
func (m maker) landing() *Evidence {
	return &Evidence{Checks: m.checks(), Landing: &Landing{Conflict: m.words(6), With: m.word(1), Since: m.word(1)}}
}

// mishap returns, once in n times, a mishap that can happen without any work.
func (m maker) mishap(n int) (mishap Mishap) {
	switch m.IntN(4 * n) {
	case 0:
		mishap.Stopped = m.word(1)
	case 1:
		mishap.Unseen = m.word(1)
	case 2:
		mishap.Spoiled = true
	case 3:
		mishap.SetUp, mishap.Refused = m.word(1), m.word(2)
	}
	return mishap
}

// mishapOnWork returns, once in ten times, a mishap of a part that looks at the work. ByWork comes only with a failed set-up.
func (m maker) mishapOnWork() (mishap Mishap) {
	switch m.IntN(20) {
	case 0:
		mishap.SetUp, mishap.ByWork = m.word(1), true
	case 1:
		mishap = m.mishap(1)
	}
	return mishap
}

// end returns the end of a turn. NoResult comes only with ends that are not a fault of the agent's CLI.
func (m maker) end() *TurnEnd {
	end := TurnEnd{Is: runners.Claimed, Said: m.word(2), Session: m.in(2), Asked: m.in(2), AskedWhy: m.in(2), Why: m.word(2)}
	if m.in(4) {
		all := slices.Sorted(maps.Keys(runnerOutcomes))
		end.Is = append(all, "unheard of")[m.IntN(len(all)+1)]
	}
	if m.in(6) {
		end.NoResult = true
		end.Is = []runners.Outcome{runners.NoResult, runners.BadResult, runners.PermissionDenied}[m.IntN(3)]
		if m.in(2) {
			end.By = attempts.ResultChecks
		}
	}
	if m.in(10) {
		end.Category = attempts.MissingDependency
	}
	if m.in(4) {
		end.Round = 1
	}
	return &end
}

// work returns work. Changes that belong to no task are not collected, so Unattributed comes alone.
func (m maker) work() *Work {
	if m.in(rare) {
		return &Work{Unattributed: true}
	}
	return &Work{
		Destroyed: m.in(rare), HalfDone: m.word(rare), Unmerged: m.word(rare), Untaken: m.words(rare),
		Refused: m.words(rare), RefusedBy: m.word(1), OffBranch: m.word(rare), Rewrote: m.in(rare),
		TooLarge: m.word(rare), Repository: m.word(rare), Submodule: m.word(rare), Brought: m.words(rare),
		Protected: m.words(rare), LeftProtected: m.words(20), Left: m.words(6), Outside: m.words(6),
		Ignored: m.words(6), Empty: m.in(6), AsJudged: m.word(rare),
		Further: m.in(2), DeletedTests: m.words(rare), Claimed: m.words(6), Weaker: m.words(rare), Theirs: m.in(20), Others: m.in(rare),
		LeftOut: m.words(20), Unasked: m.words(rare), Secrets: m.words(rare), Merged: m.words(rare), Documents: m.in(rare),
	}
}

// checks returns runs of checks. Only the last one can fail, and only without a mishap: the gatherer stops there.
func (m maker) checks() *Runs {
	runs := Runs{Mishap: m.mishapOnWork()}
	for range m.IntN(4) {
		run := Run{Name: m.word(1), Is: Passed, OfEpic: m.in(2), Before: []State{Passed, Red, Late, ""}[m.IntN(4)], NoTest: m.in(10)}
		if run.OfEpic && run.Before == Red && m.in(2) {
			run.Is, run.Alike = Red, m.in(2)
		}
		runs.Runs = append(runs.Runs, run)
	}
	switch {
	case runs.Mishap != (Mishap{}):
	case m.in(3):
		runs.Runs = append(runs.Runs, m.failing())
	case m.in(rare): // one of the epic that has passed on the base, and fails there now
		runs.Offline = m.word(1)
		runs.Runs = append(runs.Runs, Run{Name: m.word(1), OfEpic: true, Is: Red, Before: Red, Alike: true})
	}
	return &runs
}

// failing returns a check that speaks against the work and says how it failed.
func (m maker) failing() Run {
	run := Run{Name: m.word(1), OfEpic: m.in(2), Is: Red, Before: []State{Passed, Late, ""}[m.IntN(3)], How: m.word(1), Short: m.word(2), Alone: m.in(2), Crowded: m.in(4), LeftOut: m.word(8)}
	if m.in(3) {
		run.Is = Late
	}
	if m.in(4) {
		run.Changed = m.word(1)
		run.Is = []State{Passed, run.Is}[m.IntN(2)]
	}
	run.Alike = run.Is == Late && run.Before == Late && !m.in(3)
	if !run.OfEpic {
		run.CannotRun = m.word(4)
	}
	return run
}

func (m maker) hook() *Hook {
	hook := Hook{Mishap: m.mishapOnWork()}
	if hook.Mishap == (Mishap{}) && m.in(4) {
		hook.How, hook.Short, hook.Alike = m.word(1), m.word(2), m.in(2)
	}
	return &hook
}

func (m maker) old() *Old {
	old := Old{Mishap: m.mishapOnWork()}
	if old.Mishap == (Mishap{}) && m.in(5) {
		old.Check, old.How, old.Changed = m.word(1), m.word(1), m.words(1)
	} else if old.Mishap == (Mishap{}) {
		old.Blind = m.words(rare)
	}
	return &old
}

// panel returns opinions. Reviewers are missing only if the others do not refuse the work.
func (m maker) panel() *Panel {
	p := Panel{First: m.word(2), MayMend: m.in(2), Seconded: m.in(4)}
	switch m.IntN(7) {
	case 3:
		p.Approved = true
	case 0:
		p.Blocked, p.Wants = true, m.in(2)
	case 1:
		p.Wants = true
	case 2:
		faults := []ReviewerFault{
			NoVerdict(), ReviewerClosed("", m.in(2)), ReviewerEnd(runners.Auth), ReviewerEnd(runners.Stopped), ReviewerEnd(runners.Failed),
		}
		for range 1 + m.IntN(3) {
			p.Missing = append(p.Missing, Absent{faults[m.IntN(len(faults))], m.word(1)})
		}
	}
	return &p
}
