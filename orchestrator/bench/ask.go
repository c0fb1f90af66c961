package bench

import (
	"context"
	"errors"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/pattern"
	"relay/orchestrator/checks"
	"relay/orchestrator/verdict"
	"relay/runners/sandbox"
)

// Asker runs lists of checks, each in a room of its own. It does not repeat checks whose result on a tree is known.
type Asker struct {
	Checks  *checks.Runner
	Results *checks.Cache
	Room    func(q checks.Question) Room
	Trials  *Benches // for what the sandbox refuses; nil: nothing is tried
}

// Room is where a list of checks runs: a clean checkout, or the user's own.
type Room interface {
	// Enter readies it for the checks.
	Enter(ctx context.Context, tr *Trouble) (checks.Location, error)
	// PutBack puts protected files back that were changed while a check ran: the next ones would depend on them. It returns those that
	// count as changed by the check.
	PutBack(ctx context.Context, check checks.Check, tr *Trouble) ([]string, error)
	// Rewritten returns the files, not ignored by git, that are no longer as the commit has them.
	Rewritten(ctx context.Context) ([]checks.Rewritten, error)
	// Leave gives it up, also when it could not be readied.
	Leave(ctx context.Context) error
}

// Trouble says why commands have no result, with the runs of the set-up commands that failed.
type Trouble struct {
	verdict.Mishap
	Runs []attempts.CheckRun
}

// Any reports whether there was any.
func (tr *Trouble) Any() bool { return tr.Mishap != verdict.Mishap{} }

// StoppedAt notes that the run was stopped while a command ran.
func (tr *Trouble) StoppedAt(command string) { tr.Stopped = "while " + command + " ran" }

// Ask runs checks, one after another, until visit wants no more. A question about no commit is about the files as they are during the run.
func (k *Asker) Ask(ctx context.Context, q checks.Question, tr *Trouble, visit checks.Visit) (err error) {
	tree := ""
	if q.Commit != "" {
		if tree, err = k.Checks.Home.Tree(ctx, q.Commit); err != nil {
			return err
		}
	}
	for _, list := range q.Lists() {
		if more, err := k.askList(ctx, list, tree, tr, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

func (k *Asker) askList(ctx context.Context, q checks.Question, tree string, tr *Trouble, visit checks.Visit) (more bool, err error) {
	run := func() (list []checks.Result, whole bool, err error) {
		list, more, err = k.run(ctx, q, tr, visit)
		return list, more, err
	}
	if q.Anew {
		_, _, err := run()
		return more, err
	}
	own, shared := q.Key(k.Checks, tree, q.Attempt.Task.ID), q.Key(k.Checks, tree, "")
	key := own
	if q.OfEpic() || q.Before && !slices.ContainsFunc(q.Checks, func(n checks.Check) bool { return n.Expect == epic.ExpectRedThenGreen }) {
		key = shared // the checks of another task may have shown already who caused a failure
	}
	list, cached, err := k.Results.Get(ctx, key, q.Believed, run)
	switch {
	case err != nil:
		return false, err
	case ctx.Err() != nil && !tr.Any():
		tr.StoppedAt(q.Checks[0].Name)
		return false, nil
	case cached:
		return q.Replay(list, visit)
	case !q.OfEpic():
		k.Results.Copy(key, own)
		k.Results.Copy(key, shared)
	}
	return more, nil
}

// run runs a list from its first check, until visit wants no more; more is false then.
func (k *Asker) run(ctx context.Context, q checks.Question, tr *Trouble, visit checks.Visit) (list []checks.Result, more bool, err error) {
	l := &listRun{Asker: k, q: q, room: k.Room(q), tr: tr}
	defer func() { err = errors.Join(err, l.room.Leave(ctx)) }()
	if l.at, err = l.room.Enter(ctx, tr); err != nil || tr.Any() {
		return nil, false, err
	}
	for i, check := range q.Checks {
		r, err := l.result(ctx, i)
		if err != nil || tr.Any() {
			return list, false, err
		}
		list = append(list, r)
		if more, err := visit(check, r); err != nil || !more {
			return list, false, err
		}
	}
	return list, true, nil
}

// listRun is a list of checks while it runs.
type listRun struct {
	*Asker
	q    checks.Question
	room Room
	at   checks.Location
	tr   *Trouble

	installs string // the command that has installed what a check lacked; "": none did
	fails    bool   // it does
}

// result runs check i, again if one failure of it is not believed, and sees whether it fails for what the sandbox refuses.
func (l *listRun) result(ctx context.Context, i int) (checks.Result, error) {
	check := l.q.Checks[i]
	r, err := l.first(ctx, check)
	if err == nil && ctx.Err() == nil && r.Red() && l.q.From != "" && (l.q.Red == nil || !l.q.Red(check, r)) {
		r, err = l.again(ctx, i, r)
	}
	if err == nil {
		err = l.refused(ctx, i, &r)
	}
	switch {
	case ctx.Err() != nil:
		l.tr.StoppedAt(check.Name)
		return r, nil //nolint:nilerr // the run is stopped
	case err != nil:
		return r, err
	case r.Unknown:
		l.tr.Unseen = check.Name
	}
	if l.tr.Any() {
		return r, nil
	}
	if r.Changed, err = l.room.PutBack(ctx, check, l.tr); err == nil && !l.tr.Any() && i == len(l.q.Checks)-1 {
		r.Rewrote, err = l.room.Rewritten(ctx)
	}
	return r, err
}

// refused sees whether check i fails for what the sandbox refuses. Work has no word in what is tried.
func (l *listRun) refused(ctx context.Context, i int, r *checks.Result) (err error) {
	q, failed := l.q, r.Run
	silent := q.Silent != nil && failed.Seconds < proving.Seconds() && q.Silent(q.Checks[i])
	if ctx.Err() != nil || !r.Red() || !q.Mine && !silent {
		return nil //nolint:nilerr // the run is stopped
	}
	q.Checks = checks.On(q.Checks[i].Occasion+checks.OnAllowed, q.Checks[:i+1])
	if !q.Mine {
		failed.Refused = []string{sandbox.Unnamed}
	}
	r.Refused, err = refuses(ctx, l.Trials, q, failed)
	return err
}

// first runs a check, and runs it again once a dependency is installed that it lacks and that agents' work has added. Where that cannot be
// installed, though the network is there, the work may name what there is not, and its failure stays.
func (l *listRun) first(ctx context.Context, check checks.Check) (checks.Result, error) {
	r, err := l.Checks.Run(ctx, l.at, check)
	if err != nil || !r.Red() || l.installs != "" || l.Trials == nil || l.q.Commit == l.Trials.Mine {
		return r, err
	}
	_, l.installs = l.Checks.Uninstalled(ctx, check, r.Run, l.q.Commit, l.at.Dir)
	err = l.install(ctx)
	if l.fails = l.tr.SetUp != "" && !excused.MatchString(l.tr.SetUp+l.tr.Runs[0].Tail); l.fails {
		r.Said, *l.tr = append(r.Said, l.tr.SetUp), Trouble{}
	}
	if err != nil || l.installs == "" || l.fails || l.tr.Any() {
		return r, err
	}
	return l.Checks.Run(ctx, l.at, check)
}

// excused matches how a command ended that does not reach a server, or whose end is unknown.
var excused = pattern.New(`the process that watched it died|\b(ENOTFOUND|EAI_AGAIN|E[A-Z]*TIME(OUT|DOUT)|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|ECONNRESET|ERR_SOCKET_TIMEOUT|E40[13]|E429|E50[0-4]|ConnectionRefused)\b|FETCH_(401|403|429|5\d\d)\b|Request failed \W*(401|403|429|5\d\d)\b|Permission denied \(publickey|could not read Username`)

// install installs in the checkout what a check of the list has lacked there.
func (l *listRun) install(ctx context.Context) error {
	if l.installs == "" || l.fails {
		return nil
	}
	s := setUp{Benches: l.Trials, at: l.at, ofEpic: l.q.OfEpic(), role: sandbox.SetUpFor, tr: l.tr}
	wall := min(s.Checks.Options.Worktree.SetupWall, 5*time.Minute) // what hangs takes it at each attempt
	return s.Tools.RunForUser(func() error { return s.commands(ctx, []string{l.installs}, wall) })
}

// again repeats check i, which has failed, in the room made new and behind the checks before it: what these make may be what it needs, and
// what its first run left does not decide.
func (l *listRun) again(ctx context.Context, i int, first checks.Result) (r checks.Result, err error) {
	if err := l.room.Leave(ctx); err != nil || l.tr.Any() {
		return first, err
	}
	if l.at, err = l.room.Enter(ctx, l.tr); err != nil || l.tr.Any() {
		return first, err
	}
	if err := l.install(ctx); err != nil || l.tr.Any() {
		return first, err
	}
	for _, check := range checks.On(checks.OnAgain, l.q.Checks[:i]) {
		if _, err := l.Checks.Run(ctx, l.at, check); err != nil {
			return first, err
		}
		if _, err := l.room.PutBack(ctx, check, l.tr); err != nil || l.tr.Any() {
			return first, err
		}
	}
	return l.Checks.Again(ctx, l.at, l.q.Checks[i], first)
}
