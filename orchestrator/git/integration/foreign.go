package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// LedgerView is what a ledger knows of an epic's integration branch. The branch is named by the epic's id and outlives ledgers:
// what is on it may be the work of another one, of another checkout or of one that was put away.
type LedgerView struct {
	Begun   bool                  // a run of the ledger has worked on it
	Over    bool                  // it is where it belongs, so that another epic may have begun there
	Landed  []string              // commits with which its tasks have landed
	Landing []string              // those with which tasks were about to land when a run was killed, and may have
	Ran     func(run string) bool // whether a run was one of the ledger's
}

// foreignWork is what others have put on the branch.
type foreignWork struct {
	commits int
	tasks   []string // in the order of the log, each once
	own     bool     // there is something of the ledger's own besides
}

// RefuseForeign refuses a branch with commits that neither head nor the ledger has: they would become what its tasks begin
// from, and would land with them. Nothing is written.
func (b *Branch) RefuseForeign(ctx context.Context, head string, c LedgerView) error {
	_, branch, err := b.Position(ctx)
	if err != nil || branch == "" {
		return err // see RestoreRef
	}
	tip, err := b.Tip(ctx)
	if errors.As(err, new(*attempts.RefusedError)) {
		return nil // the run reports that when it begins
	}
	if err != nil {
		return err
	}
	return refuseForeign(ctx, b, tip, head, c)
}

func refuseForeign(ctx context.Context, b *Branch, tip, head string, c LedgerView) error {
	found, err := landedHistory{b, c}.foreignCommits(ctx, tip, head)
	if err != nil || found.commits > 0 {
		return errors.Join(err, foreignError(b, found))
	}
	if lost, err := (landedHistory{b, c}).missingLanded(ctx, tip, head); err != nil || lost == "" || found.own {
		return err
	}
	name := "relay/" + b.epic
	return &attempts.RefusedError{
		Reason: "the branch " + name + " has nothing of what this epic's tasks have landed on it: another checkout has created it again, or somebody has moved it",
		Hint:   "git branch -m " + name + " " + name + "-other, then relay work: the branch is made again with all that landed",
	}
}

// RenameAside renames the branch when it has commits that head has not and this ledger has made, and reports whether it did:
// the ledger is put away, and another epic of that id shall not begin from its work.
func (b *Branch) RenameAside(ctx context.Context, head string, c LedgerView, name string) (bool, error) {
	var refused *attempts.RefusedError
	if err := b.RefuseForeign(ctx, head, c); errors.As(err, &refused) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := b.RefuseForeign(ctx, head, LedgerView{}); !errors.As(err, &refused) {
		return false, err
	}
	_, err := b.Git(ctx, nil, "branch", "-m", "relay/"+b.epic, name)
	return err == nil, err
}

// RefuseMixed refuses to land what another ledger has put on the branch.
func (b *Branch) RefuseMixed(ctx context.Context, tip, into string, c LedgerView) error {
	c.Begun = true
	found, err := landedHistory{b, c}.foreignCommits(ctx, tip, into)
	return errors.Join(err, foreignError(b, found))
}

// foreignError returns an error with what to do about commits that others have put on the branch, or nil when there are
// none.
func foreignError(b *Branch, found foreignWork) error {
	if found.commits == 0 {
		return nil
	}
	name, of := "relay/"+b.epic, ""
	if len(found.tasks) > 0 {
		of = " (" + plaintext.Listed(found.tasks) + ")"
	}
	return &attempts.RefusedError{
		Reason: fmt.Sprintf("the branch %s has commits that this epic's ledger here knows nothing of: %d%s; another checkout made them, or a ledger that is gone", name, found.commits, of),
		Hint:   "relay finish where they were made, or git merge " + name + " here, keeps them\nrelay init --adopt " + name + " PLAN counts their tasks as completed here\ngit branch -m " + name + " " + name + "-old sets them aside\ngit branch -D " + name + " drops them\nthen type relay work",
	}
}

// RestoreRef puts relay's own ref to where this ledger has left it, or to head, when the branch is gone and what the ref leads to is
// not this ledger's. That stays reachable under another name.
func (b *Branch) RestoreRef(ctx context.Context, head string, c LedgerView) error {
	tip, branch, err := b.Position(ctx)
	if err != nil || tip == "" || branch != "" {
		return err
	}
	to := head
	if c.Begun {
		found, err := landedHistory{b, c}.foreignCommits(ctx, tip, head)
		if err != nil {
			return err
		}
		lost, err := landedHistory{b, c}.missingLanded(ctx, tip, head)
		if err != nil || found.commits == 0 && (lost == "" || found.own) {
			return err
		}
		if to, err = (landedHistory{b, c}).leftAt(ctx, head); err != nil {
			return err
		}
	}
	moves := []move{{b.Ref(), tip, to}}
	aside := "refs/relay/" + b.epic + "-moved/" + tip
	if there, err := b.Repo.Ref(ctx, aside); err == nil && there == "" {
		moves = append(moves, move{aside, "", tip})
	}
	return moveRefs(ctx, b, moves...)
}

// landedHistory compares what is on the branch with what a ledger knows to have landed.
type landedHistory struct {
	branch *Branch
	ledger LedgerView
}

// foreignCommits finds the commits of tip that are neither in head nor the ledger's. For a ledger that has worked on the branch
// that is only what a run of another one has landed: a person may add to it.
func (h landedHistory) foreignCommits(ctx context.Context, tip, head string) (f foreignWork, err error) {
	var ask strings.Builder
	ask.WriteString(tip + "\n^" + head + "\n")
	for _, landed := range slices.Concat(h.ledger.Landed, h.ledger.Landing) {
		ask.WriteString("^" + landed + "\n")
	}
	list, err := h.branch.Git(ctx, strings.NewReader(ask.String()), "-c", "trailer.separators=:",
		"log", "--no-show-signature", "--ignore-missing", "--stdin",
		"--format="+Trailer("Relay-Epic")+"%x00"+Trailer("Relay-Run")+"%x00"+Trailer("Relay-Task"))
	if err != nil || list == "" {
		return f, err
	}
	theirs := !h.ledger.Begun
	for line := range strings.SplitSeq(list, "\n") {
		f.commits++
		fields := strings.SplitN(line, "\x00", 3)
		if len(fields) < 3 || !slices.Contains(strings.Fields(fields[0]), h.branch.epic) {
			continue
		}
		for task := range strings.FieldsSeq(fields[2]) {
			f.own = true
			if !slices.Contains(f.tasks, task) {
				f.tasks = append(f.tasks, task)
			}
		}
		for run := range strings.FieldsSeq(fields[1]) {
			theirs = theirs || !h.ledger.Ran(run)
		}
	}
	if !theirs {
		f.commits, f.tasks = 0, nil
	}
	return f, nil
}

// Trailer returns the format with which git log prints the values of a trailer.
func Trailer(key string) string { return "%(trailers:key=" + key + ",valueonly,unfold,separator=%x20)" }

// missingLanded returns the newest commit that has landed for this ledger, when neither tip nor head has any of those;
// else "".
func (h landedHistory) missingLanded(ctx context.Context, tip, head string) (string, error) {
	if !h.ledger.Begun || h.ledger.Over {
		return "", nil
	}
	newest, err := h.newestLanded(ctx)
	if err != nil || newest == "" {
		return "", err
	}
	for _, landed := range append([]string{newest}, h.ledger.Landed...) {
		for _, at := range []string{tip, head} {
			held, err := h.branch.Contains(ctx, at, landed)
			if held || git.Unasked(err) != nil {
				return "", err
			}
		}
	}
	return newest, nil
}

// leftAt returns where this ledger has left the branch: at the newest commit that has landed for it, or at head, when that
// has it.
func (h landedHistory) leftAt(ctx context.Context, head string) (string, error) {
	newest, err := h.newestLanded(ctx)
	if err != nil || newest == "" {
		return head, err
	}
	if held, err := h.branch.Contains(ctx, head, newest); err != nil || held {
		return head, err
	}
	return newest, nil
}

// newestLanded returns the newest commit that has landed for this ledger, "" when there is none any more.
func (h landedHistory) newestLanded(ctx context.Context) (string, error) {
	if len(h.ledger.Landed) == 0 {
		return "", nil
	}
	return h.branch.Git(ctx, strings.NewReader(strings.Join(h.ledger.Landed, "\n")+"\n"),
		"rev-list", "--topo-order", "--max-count=1", "--ignore-missing", "--stdin")
}
