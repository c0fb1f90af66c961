package main

import (
	"strings"
	"testing"
)

// Every text a person can meet is shown by a test: some script, golden file or table test has seen the program say it.
//
// What counts is any literal with a space between its words, wherever it stands outside of tests: messages, hints, notes,
// warnings, problems, help, briefs. A single word counts where it is said by itself: as an error, or in a field such as
// hint. What does not count is looked for rather than said (regexps, strings.HasPrefix), a struct tag, or a panic.
//
// Shown is what a test compares with: the patterns of scripts and the files they name in cmp, golden files, and the literals
// of test sources other than what a failing test would say. A literal of which only a part is compared does not fail here:
// compare the whole text.
func TestEveryMessageIsShown(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	shown := collectShown(t, root)
	texts := sourceTexts(t, root)
	needed := make([]bool, len(unshown))
	seen, wrappers, missing := 0, 0, 0
	for _, s := range texts {
		if unit, ok := shown.show(s.text, s.said); ok {
			seen++
			t.Logf("%s:%d: %s <<%s>>", s.file, s.line, s, unit)
			continue
		}
		if s.wraps && len(strings.Fields(s.text)) <= fewWords {
			wrappers++
			continue
		}
		if excused(s, needed) {
			continue
		}
		missing++
		t.Errorf("%s:%d: no test shows %q", s.file, s.line, s.String())
	}
	for i, e := range unshown {
		if !needed[i] {
			t.Errorf("%s %s %q: this exception is no longer needed, remove it", e.file, e.decl, e.text)
		}
	}
	if missing > 0 {
		t.Error(howToShow)
	}
	t.Logf("%d texts, %d of them shown, %d wrap another error, %d exceptions", len(texts), seen, wrappers, len(unshown))
}

// fewWords is how many words, holes counted, only say what was being done when an error came: "start %s: %w". Such a text
// need not be shown: it ends in another error, and TestDiagnose holds that the hint and the exit code are those of that one.
const fewWords = 6

const howToShow = `
Let a test make the program say it, and compare:
- what a command prints: a script in cmd/relay/testdata/script that ends in cmp stderr want (or: stderr 'the text'), then
  go test ./cmd/relay -run TestScript/NAME -update fills the golden in;
- an error or a note of another package: a table test there, with the text among what is wanted;
- help: go test ./cmd/relay -run 'TestHelp$' -update.
What cannot be provoked in a test goes into unshown in messages_test.go, with the reason.`

// unshown are texts that no test makes the program say: one text, or all of a declaration.
var unshown = []struct{ file, decl, text, why string }{
	{"orchestrator/checks/hook.go", "hookScript", "", "a script for sh: not said but for what landing-hooks shows"},
	{"orchestrator/git/integration/sign.go", "signed", "git would change its author or its message", "only a commit made by hand, with a name that git itself cleans, is signed differently"},
	{"configs/fields.go", "commitForm", "", "only a text with a NUL is not of the form, and YAML and the environment have none"},
	{"internal/commitmessage/commitmessage.go", "Check", "", "fields with which a template is tried: not said"},
	{"internal/commitmessage/commitmessage.go", "plainly", "executing \"commit\" at", "words of text/template: taken out, not said"},
	{"epic/blueprint/fields.go", "fields", "", "names of fields in a blueprint: looked for, not said"},
	{"epic/blueprint/parser.go", "sections", "", "headings in a blueprint: looked for, not said"},
	{"epic/blueprint/prose.go", "proseRanks", "", "headings in a blueprint: looked for, not said"},
	{"epic/blueprint/matrix.go", "refs", "", "separators in a table: looked for, not said"},
	{"cmd/relay/internal/checkup/ask.go", "question", "", "what an agent is asked"},
	{"cmd/relay/internal/checkup/ask.go", "answered", "cannot be asked: …", "a disk that is full at that moment"},
	{"epic/parse.go", "parseYAML", "", "the YAML parser is not known to panic"},
	{"attempts/internal/eventlog/eventlog.go", "line", "it is cut off", "a line without an end is the last one, and told of by its size"},
	{"cmd/relay/sessionsimport.go", "importHint", "make room on that disk, then type the command again: nothing is lost", "a disk that is full at that moment"},
	{"cmd/relay/sessionsfork.go", "runSessionsFork", "relay: warning: the agents ledger does not have the session: …", "a ledger that could be read a moment before"},
	{"cmd/relay/internal/planning/planning.go", "Make", "relay: warning: the agents ledger does not have the session: …", "a ledger that could be read a moment before"},
	{"orchestrator/sessionkeeper/writer.go", "errKnown", "", "told to another part of relay, and to nobody else"},
	{"orchestrator/sessionkeeper/writer.go", "errAgain", "", "told to another part of relay, and to nobody else"},
	{"orchestrator/worker/collector.go", "keepWork", "changes.patch of this attempt is not complete: …", "a disk that is full at that moment: what an agent puts in the way is cleared away"},
	{"orchestrator/worker/abandoner.go", "abandon", "not all of the work of this attempt could be kept: …", "what is damaged is damaged again while it is set aside"},
	{"orchestrator/usercheckout/watch.go", "Begin", "relay has no copy of what was not committed in your checkout: …", "git failed, or took minutes, in a checkout in which all else works"},
	{"attempts/sessions/statements.go", "", "", "SQL: run, not said"},
	{"attempts/sessions/queries.go", "", "", "SQL: run, not said"},
	{"attempts/ledgersync/restore.go", "Restore", "… was written to by another program meanwhile", "a race with the time of a copy"},
	{"orchestrator/recordkeeper/keeper.go", "Close", "", "no test waits ten seconds for a disk"},
	{"orchestrator/recordkeeper/keeper.go", "run", "the records of earlier runs cannot be brought up to date: …", "logs that could be read a moment before"},
	{"orchestrator/recordkeeper/sinks.go", "write", "", "what is made of events is what the formats take: TestNights, FuzzEvents"},
	{"attempts/internal/durable/waitlock.go", "WaitLock", "… is locked by another relay", "a relay that holds the lock for a minute"},
	{"cmd/relay/internal/entries/add.go", "Append", "the entry holds a secret that cannot be taken out: …", "what is put in its place is text that JSON takes: no entry is known for which this is not so"},
	{"cmd/relay/internal/artifacts/add.go", "write", "the artifact holds a secret that cannot be taken out: …", "what is put in its place is text that YAML takes: no artifact is known for which this is not so"},
	{"attempts/artifact/legacy.go", "section", "", "headings of older files: looked for, not said"},
	{"cmd/relay/internal/session/command.go", "begin", "relay work: …", "told to the system: TestStaysAwake compares it"},
	{"orchestrator/suspend/suspend.go", "String", "2 January …", "how a time is written"},
	{"cmd/relay/internal/awake/awake_unix.go", "Check", "relay knows no way to ask …", "on systems that relay is not tested on"},
	{"orchestrator/report/markdown.go", "day", "2006-01-02 … MST", "how a time is written"},
	{"orchestrator/secrets/shapes.go", "further", "", "shapes of tokens: looked for, not said"},
	{"cmd/relay/internal/proposal/proposal.go", "Add", "", "every epic that could be made a plan of could be added to so far"},
	{"epic/append.go", "errPlace", "", "every epic that could be made a plan of could be added to so far"},
	{"reanchor/fast.go", "errSlow", "", "has git asked instead, and is told to nobody"},
	{"runners/regular.go", "OpenRegular", "… changed while it was opened", "a race of an agent's with a few instructions"},
	{"runners/command/command.go", "errNoValue", "", "leaves the argument out, and is told to nobody"},
	{"runners/internal/monitor/process.go", "ErrLinger", "", "the output of the agent decides, and is told"},
	{"runners/internal/monitor/process.go", "ErrHopeless", "", "the output of the agent decides, and is told"},
	{"runners/process/guardian_serve.go", "errLeft", "", "an end in order, told to nobody"},
	{"runners/process/proctable_windows.go", "", "", "Windows refuses what it always grants"},
	{"orchestrator/worker/collector.go", "", "the change is too large to be looked at: …", "no test changes a hundred thousand files"},
	{"orchestrator/work.go", "open", "could not look for processes of earlier runs: …", "a run that is stopped in that moment"},
	{"orchestrator/git/integration/uniteledgers.go", "withFile", "", "how git writes entries of trees, and a file of a tree that was read just now"},
	{"orchestrator/git/integration/replay.go", "", "stand-in", "message of a commit that nobody sees"},
	{"orchestrator/git/integration/replay.go", "fixedIdentity", "", "author of a commit that nobody sees"},
	{"orchestrator/git/gitcmd/reflog.go", "KeptMessage", "", "what git writes into its log of a ref"},
	{"orchestrator/git/integration/branch.go", "move", "", "what git is told, and writes into its log of a ref"},
	{"review/prompt.go", "answerSchema", "", "a JSON Schema"},
	{"runners/schema.go", "resultSchema", "", "a JSON Schema"},
	{"runners/schema.go", "implementationSchema", "", "a JSON Schema"},
	{"runners/schema.go", "bugfixSchema", "", "a JSON Schema"},
	{"runners/schema.go", "reviewSchema", "", "a JSON Schema"},
	{"cmd/relay/internal/hostprogram/hostprogram.go", "errLimit", "", "no test waits two minutes for another program"},
}

func excused(s sourceText, needed []bool) bool {
	for i, e := range unshown {
		if e.file == s.file && (e.decl == "" || e.decl == s.decl) && (e.text == "" || e.text == s.String()) {
			needed[i] = true
			return true
		}
	}
	return false
}
