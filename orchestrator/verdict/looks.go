package verdict

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// look is one kind of what relay sees of work that lands and cannot judge.
type look struct {
	Cause    string
	Seen     string // for docs/verdicts.md
	Approval bool   // the reviewers' clears it
	Asked    bool   // the agent's session is asked why, once

	found func(e *Evidence) []string // in words; nil: nothing of it
}

// SecretFound is the cause of looks at secrets, provesNothing of those at work of which checks say nothing.
const SecretFound, provesNothing = "secret", "proved nothing"

// HookName is the name of the user's pre-commit hook as one more check.
const HookName = "pre-commit hook"

var looks = []look{
	{
		Cause: "tests deleted", Approval: true, Asked: true,
		Seen: "the work deletes tests that the task does not list under files",
		found: func(e *Evidence) []string {
			return whys(e, len(e.Work.DeletedTests) > 0, "it deletes "+plaintext.Listed(e.Work.DeletedTests)+", which the task does not name under files")
		},
	},
	{
		Cause: "passes by changed tests", Approval: true, Asked: true,
		Seen: "a check passes only with the agent's changes of files by which checks judge and that the task does not list under files: tests, " +
			"what they compare with, check scripts, their helpers, and the configuration of what runs tests",
		found: func(e *Evidence) []string {
			changed := slices.DeleteFunc(slices.Clone(e.Old.Changed), func(p string) bool { return slices.Contains(e.Work.DeletedTests, p) })
			return whys(e, e.Old.Check != "" && len(changed) > 0, e.Old.Check+" passes only with what the agent changed of "+plaintext.Listed(changed)+
				", which the task does not name under files; with that unchanged: "+e.Old.How)
		},
	},
	{
		Cause: "tests prove less", Approval: true,
		Seen: "tests that the work changes assert less or are skipped, a new one can change the result of others, " +
			"other code asks whether tests run or can end them, a check runs fewer tests, " +
			"or a script that a check runs, and that the task does not name, has lost lines or ends early",
		found: func(e *Evidence) []string { return slices.Concat(e.Work.Weaker, e.Checks.Fewer) },
	},
	{
		Cause: SecretFound, Asked: true,
		Seen: "the work adds what looks like a secret; `relay finish` refuses it until you approve it",
		found: func(e *Evidence) []string {
			return whys(e, len(e.Work.Secrets) > 0, "it adds what looks like a secret: "+plaintext.Listed(e.Work.Secrets))
		},
	},
	{
		Cause: "not asked for", Approval: true, Asked: true,
		Seen: "the agent committed products of tools, such as node_modules, or files larger than `relay.max_file_mib`, that the task does not name",
		found: func(e *Evidence) []string {
			return whys(e, len(e.Work.Unasked) > 0, "it commits "+plaintext.Listed(e.Work.Unasked)+", which the task does not name")
		},
	},
	{
		Cause: "a review changed files", Approval: true, Asked: true,
		Seen: "a task of the kind `review` changes files that it does not name, and that are not new documents",
		found: func(e *Evidence) []string {
			return whys(e, len(e.Work.Reviewed) > 0, "it is a review, and changes "+plaintext.Listed(e.Work.Reviewed)+", which it does not name")
		},
	},
	{
		Cause: "foreign branch",
		Seen:  "the agent merged another branch of your repository",
		found: func(e *Evidence) []string {
			return whys(e, len(e.Work.Merged) > 0, "it merges "+plaintext.Listed(e.Work.Merged)+", which lands with it")
		},
	},
	{
		Cause: provesNothing, Approval: true,
		Seen: "the task's checks, or the epic's if it has none, ran no test, and none that is more than a test runner failed before the work; or all checks pass too " +
			"without the content of the code that the work changes; or it changes only documents that the task does not ask for",
		found: provedNothing,
	},
	{
		Cause: "reviewer out",
		Seen:  "a reviewer is not logged in, does not start or has no such model, and the others approve",
		found: func(e *Evidence) []string {
			return each.Of(e.Panel.Missing, func(m Absent) string { return "it has not been reviewed by all: " + m.Why })
		},
	},
	{
		Cause: "flaky again",
		Seen:  "a check fails and passes when it is repeated, for the second time on work of this task",
		found: func(e *Evidence) []string { return slices.Clone(e.Checks.Flaky) },
	},
	{
		Cause: "done already",
		Seen:  "the agent reports success and names no file that it changed, nothing has changed, and the task's checks pass; without any, the epic's",
		found: func(e *Evidence) []string {
			if !e.DoneAlready() {
				return nil
			}
			if !slices.ContainsFunc(e.Checks.Runs, func(r Run) bool { return !r.OfEpic }) {
				return []string{"nothing was changed, and it has no check of its own: its agent says that it was done already"}
			}
			if e.Panel.Approved {
				return []string{"nothing was changed, as its checks and reviewers say that it was done already"}
			}
			return []string{"nothing was changed, as its checks say that it was done already"}
		},
	},
}

// provedNothing names the first check of a task, or of the epic, if none of them has shown anything of the work.
func provedNothing(e *Evidence) []string {
	runs := slices.DeleteFunc(slices.Clone(e.Checks.Runs), func(r Run) bool { return r.OfEpic })
	if len(runs) == 0 {
		runs = e.Checks.Runs
	}
	red := slices.ContainsFunc(e.Checks.Runs, func(r Run) bool { return r.Before == Red && r.Is == Passed })
	switch {
	case len(e.Old.Blind) > 0:
		return []string{"its checks pass too with " + plaintext.Listed(e.Old.Blind) + " emptied: they prove nothing of this work"}
	case e.Work.Documents && len(e.Checks.Runs) > 0 && !red:
		return []string{"it changes only documents, which the task does not ask for: the checks prove nothing of it"}
	case e.Task.Verify && e.Work.Empty && len(runs) == 0:
		return []string{"neither the task nor the epic has a check that verifies it"}
	case len(runs) == 0 || slices.ContainsFunc(runs, func(r Run) bool { return !r.NoTest }):
		return nil
	}
	return []string{runs[0].Name + " passes and ran no test: it proves nothing of this work"}
}

// Unproved says why nothing has proved work that landed; "": a check or a reviewer has. A hook sees to form alone.
func Unproved(r attempts.Receipt) string {
	passed := func(c attempts.CheckRun) bool {
		return c.ExitCode == 0 && c.Phase != attempts.PhaseBaseline && c.Name != HookName
	}
	switch {
	case r.Verdict != "" || slices.ContainsFunc(r.Checks, passed):
		return ""
	case slices.ContainsFunc(r.Checks, attempts.CheckRun.FailedOnWork):
		return "its checks fail as they did before it"
	}
	return "neither a check nor a reviewer proved it"
}

// Looks returns what a person has to look at in work that lands.
func Looks(e *Evidence) (list []attempts.Look) {
	for _, l := range looks {
		if l.Approval && e.Panel.Approved {
			continue
		}
		list = append(list, each.Of(l.found(e), func(found string) attempts.Look { return attempts.Look{Cause: l.Cause, Text: found} })...)
	}
	return list
}

// Questions says, a line each, what of the work the agent is asked about: tests, secrets and files that the task does not name.
func Questions(e *Evidence) (list []string) {
	for _, l := range looks {
		if l.Asked {
			list = append(list, l.found(e)...)
		}
	}
	return list
}

// whys returns what was seen, if it was, with the agent's reason.
func whys(e *Evidence, seen bool, what string) []string {
	if !seen {
		return nil
	}
	if e.End.Why != "" {
		what += "; its agent: " + strings.TrimSuffix(e.End.Why, ".")
	}
	return []string{what}
}
