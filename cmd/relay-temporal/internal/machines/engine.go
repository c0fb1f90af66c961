// Package machines is an engine whose attempts are carried out on other machines. The run, its ledger, what lands and the checks on the
// merged tree stay where the run is.
package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/carry"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/merge"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/orchestrator/worker"
	"relay/reanchor/git"
	"relay/runners"
)

// Engine carries attempts out on hosts. All else is done by the engine of this machine.
type Engine struct {
	*worker.Local
	merger *merge.Merger // of the engine of this machine

	o        *engine.Options
	store    *carry.Store
	trusted  string // what the user has checked out
	user     order.User
	hook     []byte
	jobs     Jobs
	hosts    *hosts
	settings *settings.Machines
	events   engine.Events
	mayAsk   func(ctx context.Context, a engine.Attempt) (why string)

	mu   sync.Mutex
	done []order.ID // whose orders and results are still in the store
	late []sent     // given up: what the host did with them is unknown
}

// Opener reads the settings and connects to what carries orders out. It tries a server that is away for patience, but no longer than the
// settings say.
type Opener func(ctx context.Context, patience time.Duration) (*settings.Machines, Jobs, error)

// New returns the factory of the engine.
func New(read Opener) engine.Factory {
	return func(local engine.Open) engine.Open {
		return func(ctx context.Context, o *engine.Options, events chan<- engine.Event) (engine.Abilities, error) {
			if o.Isolation != engine.IsolationWorktree {
				return engine.Abilities{}, &attempts.RefusedError{
					Reason: "other machines carry attempts out in worktrees only, and relay.isolation is " + string(o.Isolation), Hint: "relay.isolation: worktree",
				}
			}
			of, err := local(ctx, o, events)
			if err != nil {
				return of, err
			}
			m, jobs, err := read(ctx, math.MaxInt64)
			if err != nil {
				return of, err
			}
			e := &Engine{o: o, jobs: jobs, settings: m, events: events}
			e.mayAsk = func(context.Context, engine.Attempt) string { return "" }
			return e.around(ctx, of, m)
		}
	}
}

// around makes the engine that of a run whose other abilities are those of the engine of this machine.
func (e *Engine) around(ctx context.Context, of engine.Abilities, m *settings.Machines) (engine.Abilities, error) {
	local, ok := of.Engine.(*worker.Local)
	if e.merger, _ = of.Merger.(*merge.Merger); !ok || e.merger == nil {
		return of, errors.New("the engine of this machine is not the one that relay has")
	}
	store, err := open(ctx, m, e.o.Root)
	if err != nil {
		return of, err
	}
	repo := store.Repo
	if e.trusted, err = repo.HeadCommit(ctx); err != nil {
		return of, err
	}
	config := func(key string) string {
		out, _ := repo.Run(ctx, git.Call{Args: []string{"config", key}}) // where it is not set, hosts use their own
		return strings.TrimSpace(string(out))
	}
	e.user = order.User{Name: config("user.name"), Email: config("user.email")}
	if e.o.Hook != "" {
		if e.hook, err = runners.ReadResultFile(e.o.Hook); err != nil {
			return of, fmt.Errorf("the pre-commit hook cannot be sent to hosts: %w", err)
		}
	}
	if err := meet(ctx, m, e.jobs); err != nil {
		return of, err
	}
	e.Local, e.store, e.hosts = local, store, newHosts(m.Hosts)
	of.Engine, of.Lifecycle = e, lifecycle{of.Lifecycle, e}
	of.AskFirst = func(may func(ctx context.Context, a engine.Attempt) string) { e.mayAsk = may }
	return of, nil
}

// lifecycle also removes from the store what the run has put there.
type lifecycle struct {
	engine.Lifecycle
	e *Engine
}

// Close implements [engine.Lifecycle].
func (l lifecycle) Close(ctx context.Context) (stay []string, err error) {
	stay, err = l.Lifecycle.Close(ctx)
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	for _, s := range l.e.late {
		if m, found, _ := l.e.store.FindResult(ctx, s.Order); found { // if the store cannot be asked, the next step says so
			ref, failed := l.e.store.KeepLate(ctx, l.e.o.Epic.ID, s.Order, m)
			stay = append(stay, fmt.Sprintf("%s sent a result of %s attempt %d after it was given up: it is kept as %s", s.Host, s.Order.Task, s.Order.Number, ref))
			err = errors.Join(err, failed)
		}
	}
	newest := map[string]int{} // attempt of each task
	for _, id := range l.e.done {
		newest[id.Task] = max(newest[id.Task], id.Number)
	}
	waits := func(id order.ID) bool { // its work lands in the next run, which asks for its result again
		commit, _ := l.e.store.Repo.Ref(ctx, "refs/heads/"+finish.TaskBranch(l.e.o.Epic.ID, id.Task))
		return commit != "" && id.Number == newest[id.Task]
	}
	if failed := l.e.store.Remove(ctx, slices.DeleteFunc(l.e.done, waits)...); failed != nil {
		stay = append(stay, "orders and results of this run were not removed from the remote: "+failed.Error())
	}
	return stay, err
}

// sent is what this machine notes of an attempt that it has given to a host.
type sent struct {
	Host  string      `json:"host"`
	Order order.Order `json:"order"`
}

// sentFile is where it does, in the attempt's folder.
const sentFile = "host.json"

// Run implements [engine.Engine].
func (e *Engine) Run(ctx context.Context, a engine.Attempt) (r engine.Result, err error) {
	files := relayfiles.Of(e.o.Dir, a)
	if a.Ended {
		return e.attach(ctx, a, files)
	}
	n := e.need(a)
	n.tell = func(what string) {
		_ = relayfiles.MakeRoom(e.o.Dir, files.Transcript) // without a folder, this is not told
		(&told{files: files}).add(what)
	}
	host, err := e.hosts.take(ctx, n)
	for err == nil && e.jobs.Drained(ctx, host) {
		e.hosts.give(host, errDrained)
		host, err = e.hosts.take(ctx, n)
	}
	if err != nil {
		return e.apart(ctx, err)
	}
	var failed error
	defer func() { e.hosts.give(host, failed) }()
	if n.wanted != "" && host != n.wanted { // as where the session is gone
		a.Session, a.Spent = "", runners.Usage{}
	}
	if why := e.mayAsk(ctx, a); why != "" {
		r.Overrule(verdict.NotCarriedOut(attempts.Interrupted, why))
		return r, nil
	}
	e.begun(order.IDOf(a))
	contents := order.ContentsOf(e.o, a)
	contents.User, contents.Hook = e.user, e.hook
	o, err := e.store.PushOrder(ctx, contents, e.trusted)
	if err != nil {
		failed = err
		return e.apart(ctx, fmt.Errorf("the order was not sent to %s: %w", host, err))
	}
	note, err := json.Marshal(sent{host, o})
	message, wrong := order.Encode(o)
	if err = errors.Join(err, wrong, files.Note(e.o.Dir, sentFile, string(note))); err != nil {
		return r, err
	}
	r, failed, err = e.carryOut(ctx, a, sent{host, o}, message)
	return r, err
}

// apart is what came of an attempt when a host, or the way to it, has failed: the task is not charged, and tried elsewhere. A failure of
// this machine stays an error.
func (e *Engine) apart(ctx context.Context, err error) (r engine.Result, _ error) {
	_, byGit := errors.AsType[*git.Error](err)
	_, lied := errors.AsType[*carry.LieError](err)
	switch {
	case errors.Is(err, errUnfit): // other tasks may show that a host works again
		r.Overrule(verdict.NoHost(err.Error()))
		r.Held = true
	case lied, ctx.Err() == nil && errors.Is(err, ErrUnknown):
		r.Overrule(verdict.NotCarriedOut(attempts.Interrupted, err.Error()))
		r.Note("host", err.Error())
	case ctx.Err() != nil, byGit, errors.Is(err, ErrUnknown), errors.Is(err, ErrRefused), errors.Is(err, order.ErrVersion):
		r.Overrule(verdict.NotCarriedOut(attempts.Interrupted, err.Error()))
	default:
		return r, err
	}
	return r, nil
}

// need returns what an attempt needs of its host. One that continues a session needs the host that has it.
func (e *Engine) need(a engine.Attempt) need {
	n := need{labels: e.settings.LabelsOf(&a.Task, a.Runner), asked: []string{a.Runner}}
	for _, r := range e.o.Review.Reviewers {
		n.asked = append(n.asked, r.Name)
	}
	if a.Session != "" {
		s, _ := noted(relayfiles.Of(e.o.Dir, engine.Attempt{Run: a.Previous.Run, Task: a.Task, Number: a.Previous.ID}))
		n.wanted = s.Host
	}
	return n
}

func noted(files relayfiles.Files) (s sent, ok bool) {
	text, err := runners.ReadResultFile(filepath.Join(files.Folder, sentFile))
	return s, err == nil && json.Unmarshal(text, &s) == nil && s.Host != ""
}

// attach goes on with an attempt of a run that was killed, if a host has it.
func (e *Engine) attach(ctx context.Context, a engine.Attempt, files relayfiles.Files) (engine.Result, error) {
	s, ok := noted(files)
	if !ok {
		return e.Local.Run(ctx, a)
	}
	e.begun(s.Order.ID)
	r, _, err := e.carryOut(ctx, a, s, nil)
	return r, err
}

// begun notes an order for Close.
func (e *Engine) begun(id order.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done = append(e.done, id)
}

// carryOut has a host carry an order out, and takes in what comes of it. A message of nil means that the host has the order. failed says
// what is wrong with the host, also where there is a result.
func (e *Engine) carryOut(ctx context.Context, a engine.Attempt, s sent, message []byte) (r engine.Result, failed, err error) {
	if r, failed, err = e.follow(ctx, a, s, message); err != nil {
		failed = err
		r, err = e.apart(ctx, err)
	}
	r.Receipt.Host = s.Host
	e.limits(a, &r)
	return r, failed, err
}

// limits takes usage limits that an attempt came to for those of its host's account: while another host may be asked, the attempt is tried
// there, and the run hears nothing of them.
func (e *Engine) limits(a engine.Attempt, r *engine.Result) {
	elsewhere := func(runner string, reset *time.Time, why string) bool {
		until := *reset
		if off := time.Until(until); off <= 0 || off > 31*24*time.Hour { // the run takes one further off for a mistake, too
			until = time.Now().Add(e.o.Limits.BackoffMax)
		}
		if opens := e.hosts.limit(r.Receipt.Host, runner, until, e.need(a)); !opens.IsZero() {
			if !reset.IsZero() {
				*reset = opens
			}
			return false
		}
		r.Note("host", fmt.Sprintf("%s is not asked on %s before %s: %s", runner, r.Receipt.Host, until.Format("15:04"), why))
		return true
	}
	if r.Succeeded() && len(r.Unable) == 0 {
		e.hosts.answered(r.Receipt.Host, e.need(a).asked)
	}
	r.Unable = slices.DeleteFunc(r.Unable, func(u engine.Unable) bool {
		return verdict.ClassOf(u.Outcome).Limited && elsewhere(u.Name, &u.ResetAt, u.Why)
	})
	if verdict.ClassOf(r.Outcome).Limited && !r.Receipt.AwaitsReview() && elsewhere(a.Runner, &r.ResetAt, r.Receipt.ErrorSummary) {
		r.Overrule(verdict.NotCarriedOut(attempts.RateLimited, r.Receipt.ErrorSummary+"; tried on another host"))
	}
}

func (e *Engine) follow(ctx context.Context, a engine.Attempt, s sent, message []byte) (r engine.Result, failed, err error) {
	heard := &told{files: relayfiles.Of(e.o.Dir, a)}
	heard.add("sent to " + s.Host)
	answer, err := e.jobs.Do(ctx, s.Host, s.Order.ID, message, func(ev engine.Event) {
		if ev.Task == a.Task.ID {
			ev.Attempt = a.Number // the host may name another
			e.hear(ctx, s.Host, ev, heard)
		}
	})
	cause := context.Cause(ctx)
	lost := cause == nil && errors.Is(err, ErrUnknown)
	if lost {
		err = fmt.Errorf("%w; lost at %s, tried again elsewhere", err, time.Now().Format("15:04"))
		cause = fmt.Errorf("%s: %w", s.Host, err)
	}
	whole, cancel := git.Uninterrupted(ctx)
	defer cancel()
	m, failed, err := e.answer(whole, s, answer, err)
	if err != nil {
		return r, nil, fmt.Errorf("%s: %w", s.Host, err)
	}
	if r, err = e.takeIn(whole, a, s.Order, m); err == nil && r.Succeeded() && !e.trusts(whole, a, s.Host, &r) {
		err = e.prove(ctx, a, s.Host, &r)
	}
	if err != nil {
		r = engine.Result{}
	}
	err = errors.Join(err, e.settle(ctx, a, s.Order, &r))
	switch {
	case lost && verdict.ClassOf(r.Outcome).Stopped: // its process has seen that too
		r.Overrule(verdict.NotCarriedOut(attempts.Interrupted, cause.Error()))
		r.Note("host", cause.Error())
	case cause != nil: // the host knows no reason
		r.Receipt.ErrorSummary = strings.ReplaceAll(r.Receipt.ErrorSummary, order.ErrStopped.Error(), cause.Error())
	}
	return r, failed, err
}

// hear takes in what a host says while it works.
func (e *Engine) hear(ctx context.Context, host string, ev engine.Event, heard *told) {
	if ev.Kind == engine.KindBriefed && ev.Briefed != nil {
		ev.Briefed.Host, ev.Briefed.Slots = host, e.hosts.slots(host)
		e.events.Record(ctx, ev)
		heard.add("at work on " + host)
		return
	}
	if ev.Kind == engine.KindActivity {
		heard.add(ev.Detail.Text)
	}
	e.events.Emit(ev)
}

// answer returns the message of the result. One that did not arrive may be in the store: then unheard is why it did not.
func (e *Engine) answer(ctx context.Context, s sent, text []byte, err error) (m order.Result, unheard, _ error) {
	if errors.Is(err, ErrUnknown) {
		m, found, failed := e.store.FindResult(ctx, s.Order)
		if found {
			return m, err, nil
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.late = append(e.late, s)
		return m, nil, errors.Join(err, failed)
	}
	if err == nil {
		m, err = order.Decode[order.Result](text)
	}
	if err == nil && m.Failed != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, m.Failed)
	}
	return m, nil, err
}

// trusts reports whether the checks of work have passed on a host that the user trusts with them, and nothing has landed since its base.
func (e *Engine) trusts(ctx context.Context, a engine.Attempt, host string, r *engine.Result) bool {
	if !slices.ContainsFunc(e.settings.Hosts, func(h settings.Host) bool { return h.Name == host && h.TrustChecks }) {
		return false
	}
	failed := func(c epic.Check) bool {
		return !slices.ContainsFunc(r.Receipt.Checks, func(run attempts.CheckRun) bool {
			return run.Name == c.Name && run.ExitCode == 0 && run.Phase != attempts.PhaseBaseline
		})
	}
	tip, err := e.merger.Branch.Tip(ctx)
	return err == nil && tip == a.Base && !slices.ContainsFunc(slices.Concat(e.o.Epic.Checks, a.Task.Checks), failed)
}

// prove runs the checks of work that is to land: a host may be wrong, or lie. Work that does not pass here is kept.
func (e *Engine) prove(ctx context.Context, a engine.Attempt, host string, r *engine.Result) error {
	proof, err := e.merger.Work.Check(ctx, engine.Verified{Attempt: a, Result: *r}, engine.Step{From: a.Base, To: r.Head}, true)
	seen := &verdict.Evidence{Checks: &proof.Seen, Landing: &verdict.Landing{Since: "nothing"}}
	ruling := verdict.DecideLanding(seen)
	if err == nil && ruling.Lands() || err != nil && ctx.Err() == nil {
		return err
	}
	whole, cancel := git.Uninterrupted(ctx)
	defer cancel()
	ref := fmt.Sprintf("refs/relay/%s/%s/%d", e.o.Epic.ID, a.Task.ID, a.Number)
	if err := e.store.Keep(whole, ref, r.Head); err != nil {
		return err
	}
	switch r.Receipt.Salvage = ref; {
	case err != nil:
		r.Overrule(verdict.NotCarriedOut(attempts.Interrupted, context.Cause(ctx).Error()))
	case ruling.Contends():
		return &carry.LieError{Host: host, Why: ruling.Person + "; it is kept as " + ref}
	default:
		r.Rule(seen, ruling)
	}
	return nil
}

// takeIn checks a result and puts its refs and its files where those of an attempt of this machine are.
func (e *Engine) takeIn(ctx context.Context, a engine.Attempt, o order.Order, m order.Result) (r engine.Result, err error) {
	files, protected := relayfiles.Of(e.o.Dir, a), slices.Concat(e.o.Epic.Protected, a.Task.Protected)
	if r, err = e.store.FetchResult(ctx, carry.Incoming{Epic: e.o.Epic.ID, Order: o, Message: m, Protected: protected}); err != nil {
		return r, err
	}
	_ = errors.Join(os.Remove(filepath.Join(files.Folder, relayfiles.ProgressFile)), os.Remove(files.Transcript)) // who follows it has it open
	if err := e.store.TakeFiles(ctx, e.o.Dir, files.Folder, m); err != nil {
		return r, err
	}
	for _, stays := range m.Stays {
		r.Note("host", stays)
	}
	return r, nil
}

// settle puts work that is to land on the branch of its task, and forgets the rest of the result.
func (e *Engine) settle(ctx context.Context, a engine.Attempt, o order.Order, r *engine.Result) error {
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	if r.Succeeded() && r.Head != a.Base {
		set := &finish.BranchSet{Repo: e.store.Repo, Epic: e.o.Epic.ID}
		branch := set.Name(a.Task.ID)
		at, unkept, err := set.Blocked(ctx, branch)
		if at != "" {
			ruling, _ := verdict.Decide(&verdict.Evidence{Ready: &verdict.Ready{Branch: branch, InUse: at}})
			r.Rule(nil, ruling)
		} else if err == nil && unkept != "" && unkept != r.Head {
			ref := "refs/relay/" + e.o.Epic.ID + "-moved/" + unkept
			r.Note("salvage", "what was on the branch "+branch+" and in no other is kept as "+ref)
			err = e.store.Keep(ctx, ref, unkept)
		}
		if err == nil && at == "" {
			err = e.store.Keep(ctx, "refs/heads/"+branch, r.Head)
		}
		if err != nil {
			return err
		}
	}
	return e.store.Forget(ctx, carry.ResultRef(o.ID))
}
