package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
	"relay/runners/sandbox"
)

// TriedCheck is the result of an acceptance command on the commit that a run would begin from.
type TriedCheck struct {
	Check     epic.Check
	Index     int      // in its list
	Title     string   // of the first of Tasks
	Tasks     []string // that have it; none: it is the epic's
	Passed    bool
	CannotRun string // why it could not run at all, whatever an agent does, and what to do about it
	How       string // it ended, when it did not pass
	TimedOut  bool
	Run       attempts.CheckRun
	Refused   string // it fails in the sandbox alone: what that refuses it
	Later     bool   // all its tasks wait for others: these may bring what it lacks
	Hook      bool   // it is the user's pre-commit hook, which had nothing to say something of

	Said   string   // when it did not pass: the line of its output that says most, else how it ended
	Doubt  string   // why it may fail, whatever its tasks do
	NoTest bool     // its output says that it ran no test, and its tasks declare none that is missing
	Blind  []string // files of its tasks without whose content all their checks pass, too
}

// Tried holds the results of all of them.
type Tried struct {
	Checks  []TriedCheck
	Refused []string // by the sandbox
	Logins  bool     // set-up of agents' work needs the user's, and gets them
	Unready string   // why checkouts cannot be set up, if so
	Changed []string // files of the user's checkout, while the checks ran there
}

// List is a list of checks that some tasks have.
type List struct {
	Attempt engine.Attempt // of the first of them
	Checks  []checks.Check
	Tasks   []string
	Later   bool
	Hook    bool // with nothing to say something of

	files []string // globs that its tasks declare
}

// ListsOf returns the lists of the epic and of its tasks that are not completed, each once.
func ListsOf(o *engine.LocalOptions, l *attempts.Ledger) []List {
	var lists []List
	if len(o.Epic.Checks) > 0 {
		lists = append(lists, List{Attempt: engine.Attempt{Run: o.Run}, Checks: checks.List(nil, o.Epic.Checks)})
		for i := range o.Epic.Tasks {
			lists[0].files = append(lists[0].files, o.Epic.Tasks[i].Files...)
		}
	}
	done := func(i int) bool { return l.Record(o.Graph.ID(i)).Completed }
	for i := range o.Epic.Tasks {
		t := &o.Epic.Tasks[i]
		at, ok := o.Graph.Index(t.ID)
		if !ok || done(at) || len(t.Checks) == 0 {
			continue
		}
		later := slices.ContainsFunc(o.Graph.Deps(at), func(d int) bool { return !done(d) })
		k := slices.IndexFunc(lists, func(known List) bool {
			return len(known.Tasks) > 0 && slices.EqualFunc(known.Checks, t.Checks, func(n checks.Check, c epic.Check) bool { return n.Check == c })
		})
		if k < 0 {
			lists = append(lists, List{Attempt: engine.Attempt{Run: o.Run, Task: *t, Number: 1}, Checks: checks.List(t.Checks, nil), Later: true})
			k = len(lists) - 1
		}
		lists[k].files = append(lists[k].files, t.Files...)
		lists[k].Tasks, lists[k].Later = append(lists[k].Tasks, t.ID), lists[k].Later && later
	}
	return lists
}

// Try runs lists of checks on a commit, as many at a time as a run has jobs. With proving it sees which lists of tasks pass without the
// content of the files that the tasks declare, too.
func (b *Benches) Try(ctx context.Context, base string, lists []List, proving bool) (tried Tried, err error) {
	results := make([][]TriedCheck, len(lists))
	var mu sync.Mutex
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(max(1, b.Checks.Options.Jobs))
	for i, list := range lists {
		group.Go(func() error {
			var tr Trouble
			list.Attempt.Base = base
			logs := relayfiles.Of(b.Checks.Options.Dir, list.Attempt).Checks
			q := checks.Question{Attempt: list.Attempt, Logs: logs, Commit: base, Checks: list.Checks, Mine: proving && !list.Hook}
			_, _, err := b.asker().run(working, q, &tr, func(check checks.Check, result checks.Result) (bool, error) {
				results[i] = append(results[i], list.Result(working, b.Checks, check, result, base))
				return true, nil
			})
			if err == nil && proving && !tr.Any() {
				err = prove(working, b, q, list.files, results[i])
			}
			mu.Lock()
			defer mu.Unlock()
			for _, run := range append(each.Of(results[i], func(t TriedCheck) attempts.CheckRun { return t.Run }), tr.Runs...) {
				tried.Refused = append(tried.Refused, run.Refused...)
			}
			tried.Unready = plaintext.FirstOf(tried.Unready, verdict.Unready(tr.Mishap))
			return err
		})
	}
	if err = group.Wait(); err == nil && proving && tried.Unready == "" && base == b.Mine &&
		!allows(b.Checks.Options, []string{sandbox.Logins}) {
		err = b.tryBare(ctx, base, &tried)
	}
	tried.Checks = slices.Concat(results...)
	return tried, err
}

// tryBare sets a checkout up as one with agents' work on the commit: without the user's logins, if a run does not give them.
func (b *Benches) tryBare(ctx context.Context, base string, tried *Tried) error {
	var tr Trouble
	a := engine.Attempt{Run: b.Checks.Options.Run, Base: base}
	s := slotBench{b: b, q: checks.Question{Attempt: a, Logs: relayfiles.Of(b.Checks.Options.Dir, a).Checks, Commit: base, Bare: true}}
	_, err := s.Enter(ctx, &tr)
	tried.Refused = slices.Concat(tried.Refused, slices.Concat(each.Of(tr.Runs, func(r attempts.CheckRun) []string { return r.Refused })...))
	_, tried.Logins = b.refused.Load(LoginsGiven)
	tried.Unready = verdict.Unready(tr.Mishap)
	return errors.Join(err, s.Leave(ctx))
}

// Result returns what a check of the list came to on a commit.
func (l List) Result(ctx context.Context, r *checks.Runner, check checks.Check, s checks.Result, base string) TriedCheck {
	c := TriedCheck{Check: check.Check, Tasks: l.Tasks, Passed: s.Passed(), Later: l.Later, TimedOut: s.TimedOut, Run: s.Run, Hook: l.Hook}
	c.Index, c.Title = check.Index, l.Attempt.Task.Title
	c.NoTest, c.Doubt = s.NoTest && !addsTests(checks.Files(ctx, r.Home, base), l.files), r.Doubt(ctx, check, s.Run, base)
	if !c.Passed {
		c.How, c.Refused, c.CannotRun = r.Why(check, s), s.Refused, r.CannotRun(ctx, check, s.Run, base)
		said := strings.TrimPrefix(plaintext.FirstOf(r.Briefly(check, s), c.How), check.Name+": ")
		c.Said = strings.TrimPrefix(said, fmt.Sprintf("exit status %d: ", s.Run.ExitCode))
	}
	return c
}

// TryHere runs lists of checks in the user's own checkout, one at a time. Their changes stay there: a person may be at
// work.
func TryHere(ctx context.Context, r *checks.Runner, repo *git.Repo, lists []List) (tried Tried, err error) {
	before, err := repo.Changes(ctx)
	if err != nil {
		return tried, err
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return tried, err
	}
	for _, list := range lists {
		for _, check := range list.Checks {
			list.Attempt.Base = head
			at := checks.Location{Attempt: list.Attempt, Logs: relayfiles.Of(r.Options.Dir, list.Attempt).Checks, Dir: repo.Root()}
			s, err := r.Run(ctx, at, check)
			if err != nil || ctx.Err() != nil {
				return tried, errors.Join(err, ctx.Err())
			}
			tried.Checks = append(tried.Checks, list.Result(ctx, r, check, s, head))
		}
	}
	after, err := repo.Changes(ctx)
	for _, change := range worktree.WithoutRecords(ctx, repo, after) {
		if change.Code != "??" && !slices.Contains(before, change) {
			tried.Changed = append(tried.Changed, change.Path)
		}
	}
	return tried, err
}

// TryPlan runs all checks of a plan on a commit, each once. A check that could run once a task has made what it lacks is reported as
// one that cannot run, unless a task names that under its files.
func (b *Benches) TryPlan(ctx context.Context, base string, plan *epic.Epic, g *epic.Graph) (Tried, error) {
	o := b.Checks.Options
	was, graph := o.Epic, o.Graph
	tried := *plan
	tried.ID = was.ID
	o.Epic, o.Graph = &tried, g
	defer func() { o.Epic, o.Graph = was, graph }()
	done, err := b.Try(ctx, base, joined(ListsOf(o, &attempts.Ledger{})), false)
	if ctx.Err() != nil {
		return done, errors.Join(err, context.Cause(ctx))
	}
	for i := range done.Checks {
		t := &done.Checks[i]
		if !t.Passed && t.CannotRun == "" {
			t.CannotRun = b.Checks.Unready(ctx, checks.Check{Check: t.Check}, t.Run, base)
		}
		t.Tasks = each.Where(plan.Tasks, func(task epic.Task) (string, bool) {
			return task.ID, slices.Contains(task.Checks, t.Check) && !slices.Contains(plan.Checks, t.Check)
		})
	}
	return done, err
}

// joined makes one list of lists that share checks, with each check once: a check may need what those before it make.
func joined(lists []List) (made []List) {
	for _, l := range lists {
		var all []epic.Check
		made = slices.DeleteFunc(made, func(m List) bool {
			own := each.Of(m.Checks, func(c checks.Check) epic.Check { return c.Check })
			shares := slices.ContainsFunc(l.Checks, func(c checks.Check) bool { return slices.Contains(own, c.Check) })
			if shares {
				all = append(all, own...)
			}
			return shares
		})
		if len(all) > 0 {
			all = append(all, each.Where(l.Checks, func(c checks.Check) (epic.Check, bool) { return c.Check, !slices.Contains(all, c.Check) })...)
			l.Checks = checks.List(all, nil)
		}
		made = append(made, l)
	}
	return made
}
