package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/each"
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

// History holds what is on an epic's integration branch against what a ledger knows to have landed.
type History struct {
	Branch *Branch
	Ledger LedgerView
	Head   string // commit that an epic begins from, or that the branch is to be landed on: what it has is known as well
}

// RefuseForeign refuses a branch with commits that neither Head nor the ledger has: they would become what its tasks begin
// from, and would land with them. Nothing is written.
func (h History) RefuseForeign(ctx context.Context) error {
	_, branch, err := h.Branch.Position(ctx)
	if err != nil || branch == "" {
		return err // see RestoreRef
	}
	tip, err := h.Branch.Tip(ctx)
	if errors.As(err, new(*attempts.RefusedError)) {
		return nil // the run reports that when it begins
	}
	if err != nil {
		return err
	}
	found, err := h.foreignCommits(ctx, tip)
	if err != nil || found.commits > 0 {
		return errors.Join(err, foreignError(h.Branch, found))
	}
	if lost, err := h.missingLanded(ctx, tip); err != nil || lost == "" || found.own {
		return err
	}
	name := "relay/" + h.Branch.epic
	return &attempts.RefusedError{
		Reason: "the branch " + name + " has nothing of what this epic's tasks have landed on it: another checkout has created it again, or somebody has moved it",
		Hint:   "git branch -m " + name + " " + name + "-other, then relay work: the branch is made again with all that landed",
	}
}

// RenameAside renames the branch when it has commits that Head has not and this ledger has made, and reports whether it did:
// the ledger is put away, and another epic of that id shall not begin from its work.
func (h History) RenameAside(ctx context.Context, name string) (bool, error) {
	if err := h.RefuseForeign(ctx); errors.As(err, new(*attempts.RefusedError)) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := (History{Branch: h.Branch, Head: h.Head}).RefuseForeign(ctx); !errors.As(err, new(*attempts.RefusedError)) {
		return false, err
	}
	_, err := h.Branch.Git(ctx, nil, "branch", "-m", "relay/"+h.Branch.epic, name)
	return err == nil, err
}

// RefuseMixed refuses to land what another ledger has put on the branch.
func (h History) RefuseMixed(ctx context.Context, tip string) error {
	h.Ledger.Begun = true
	found, err := h.foreignCommits(ctx, tip)
	return errors.Join(err, foreignError(h.Branch, found))
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

// RestoreRef puts relay's own ref to where this ledger has left it, or to Head, when the branch is gone and what the ref leads to is
// not this ledger's. That stays reachable under another name.
func (h History) RestoreRef(ctx context.Context) error {
	tip, branch, err := h.Branch.Position(ctx)
	if err != nil || tip == "" || branch != "" {
		return err
	}
	to := h.Head
	if h.Ledger.Begun {
		found, err := h.foreignCommits(ctx, tip)
		if err != nil {
			return err
		}
		lost, err := h.missingLanded(ctx, tip)
		if err != nil || found.commits == 0 && (lost == "" || found.own) {
			return err
		}
		if to, err = h.leftAt(ctx); err != nil {
			return err
		}
	}
	moves := []move{{h.Branch.Ref(), tip, to}}
	aside := "refs/relay/" + h.Branch.epic + "-moved/" + tip
	if there, err := h.Branch.Repo.Ref(ctx, aside); err == nil && there == "" {
		moves = append(moves, move{aside, "", tip})
	}
	return moveRefs(ctx, h.Branch, moves...)
}

// foreignCommits finds the commits of tip that are neither in Head nor the ledger's. For a ledger that has worked on the branch
// that is only what a run of another one has landed: a person may add to it.
func (h History) foreignCommits(ctx context.Context, tip string) (f foreignWork, err error) {
	var ask strings.Builder
	ask.WriteString(tip + "\n^" + h.Head + "\n")
	for _, landed := range slices.Concat(h.Ledger.Landed, h.Ledger.Landing) {
		ask.WriteString("^" + landed + "\n")
	}
	list, err := h.Branch.Git(ctx, strings.NewReader(ask.String()), "-c", "trailer.separators=:",
		"log", "--no-show-signature", "--ignore-missing", "--stdin",
		"--format="+Trailer("Relay-Epic")+"%x00"+Trailer("Relay-Run")+"%x00"+Trailer("Relay-Task"))
	if err != nil || list == "" {
		return f, err
	}
	theirs := !h.Ledger.Begun
	for line := range strings.SplitSeq(list, "\n") {
		f.commits++
		fields := strings.SplitN(line, "\x00", 3)
		if len(fields) < 3 || !slices.Contains(strings.Fields(fields[0]), h.Branch.epic) {
			continue
		}
		for task := range strings.FieldsSeq(fields[2]) {
			f.own = true
			f.tasks = each.Added(f.tasks, task)
		}
		for run := range strings.FieldsSeq(fields[1]) {
			theirs = theirs || !h.Ledger.Ran(run)
		}
	}
	if !theirs {
		f.commits, f.tasks = 0, nil
	}
	return f, nil
}

// Trailer returns the format with which git log prints the values of a trailer.
func Trailer(key string) string { return "%(trailers:key=" + key + ",valueonly,unfold,separator=%x20)" }

// missingLanded returns the newest commit that has landed for this ledger, when neither tip nor Head has any of those;
// else "".
func (h History) missingLanded(ctx context.Context, tip string) (string, error) {
	if !h.Ledger.Begun || h.Ledger.Over {
		return "", nil
	}
	newest, err := h.newestLanded(ctx)
	if err != nil || newest == "" {
		return "", err
	}
	for _, landed := range append([]string{newest}, h.Ledger.Landed...) {
		for _, at := range []string{tip, h.Head} {
			held, err := git.Contains(ctx, h.Branch.Repo, at, landed)
			if held || git.Unasked(err) != nil {
				return "", err
			}
		}
	}
	return newest, nil
}

// leftAt returns where this ledger has left the branch: at the newest commit that has landed for it, or at Head, when that
// has it.
func (h History) leftAt(ctx context.Context) (string, error) {
	newest, err := h.newestLanded(ctx)
	if err != nil || newest == "" {
		return h.Head, err
	}
	if held, err := git.Contains(ctx, h.Branch.Repo, h.Head, newest); err != nil || held {
		return h.Head, err
	}
	return newest, nil
}

// newestLanded returns the newest commit that has landed for this ledger, "" when there is none any more.
func (h History) newestLanded(ctx context.Context) (string, error) {
	if len(h.Ledger.Landed) == 0 {
		return "", nil
	}
	return h.Branch.Git(ctx, strings.NewReader(strings.Join(h.Ledger.Landed, "\n")+"\n"),
		"rev-list", "--topo-order", "--max-count=1", "--ignore-missing", "--stdin")
}
