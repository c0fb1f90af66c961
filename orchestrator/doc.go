// Package orchestrator is the run loop: it carries out what package decide decides from the events so far: one attempt's life from base
// commit to receipt, and what is recorded of it. Attempts are carried out behind package engine, and the ledger stays with the loop.
//
// An attempt that git cannot carry on for what is wrong with its own checkout, branch or commits ends, uncharged, and is tried again in
// another slot, three times at most. Only the user's repository, the ledger or the disk ends a run. The deadline and the limits of a run
// are in decide; whose fault a failure is, and when a task is gated, package verdict decides.
//
// At the end of a run in which something landed, the checks of completed tasks run again on the tip, for a share of the run's time. A
// task whose own check fails there is made pending again by the event undone, which its next brief quotes, max_undone times; then, as for
// checks of the epic, a person decides. When every task is completed, the reviewers judge all that has landed; their findings become
// tasks (review.Propose, epic.Append) when a person, or --auto, says so.
//
// All locks are flocks with a readable holder, and end with their process; one from another host is respected until a person removes it.
// The file lock in relay's folder is one run, or one command that decides, per epic. relay-checkout.lock in the checkout's git folder is
// one run with isolation none or shared. In the git folder that all worktrees share, relay-epic-EPIC.lock is one run per epic id,
// whatever its ledger, and relay-repository.lock is held for moments around refs.
//
// deferred.go lists the findings of reviewers that did not hold a change up.
//
// seal.go hashes what decides whether a task is done, and compares it with that of an earlier run. It reads plans that ended runs have
// kept and writes nothing.
package orchestrator
