package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/carry"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/cmd/relay/command"
	"relay/epic/each"
	"relay/reanchor/git"
)

// answerWithin is how long a host may take to answer.
const answerWithin = 3 * time.Minute

// skew is how far the clock of a host may be off: the times of its logs mislead beyond that.
const skew = 30 * time.Second

// Ask asks a host something, and reads its answer.
func Ask(ctx context.Context, jobs Jobs, host string, q order.Question) (a order.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	q.Version = order.Version
	question, err := order.Encode(q)
	if err != nil {
		return a, err
	}
	if question, err = jobs.Ask(ctx, host, question); err != nil {
		return a, err
	}
	return order.Decode[order.Answer](question)
}

// Check is an examination of hosts, for attempts from a checkout.
type Check struct {
	Root   string                                 // the checkout
	Agents bool                                   // hosts ask their agents, too
	Add    func(state, name, message, fix string) // adds a point
}

// Of asks all hosts, side by side, and adds what they say.
func (c Check) Of(ctx context.Context, m *settings.Machines, jobs Jobs) error {
	store, err := open(ctx, m, c.Root)
	if err != nil {
		return err
	}
	store.Patience = 0
	commit, err := store.Repo.HeadCommit(ctx)
	if err != nil {
		return err
	}
	id := attempts.NewRunID(time.Now())
	refs := each.Of(m.Hosts, func(h settings.Host) string { return carry.ChecksRef + id + "/" + h.Name })
	if err := store.Offer(ctx, commit, refs); err != nil {
		return &attempts.RefusedError{
			Reason: "remote in machines.yml cannot be written to: " + err.Error(), Hint: "git push " + m.Remote + " must work without questions",
		}
	}
	c.Add("ok", "remote", "work travels by "+m.Remote, "")
	said := make([][]command.Point, len(m.Hosts))
	var wait sync.WaitGroup
	for i, h := range m.Hosts {
		wait.Go(func() {
			began := time.Now()
			a, err := Ask(ctx, jobs, h.Name, order.Question{What: order.About, Ref: refs[i], Agents: c.Agents})
			said[i] = points(a, err, h, began)
		})
	}
	wait.Wait()
	elsewhere := slices.ContainsFunc(said, func(list []command.Point) bool { return !slices.ContainsFunc(list, fails) })
	for i, h := range m.Hosts {
		for _, p := range said[i] {
			if fails(p) && elsewhere {
				p.State = "warn"
			}
			c.Add(p.State, strings.TrimSpace("host "+h.Name+" "+p.Name), p.Message, p.Fix)
		}
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	return errors.Join(store.Offer(ctx, "", refs), meet(ctx, m, jobs))
}

// meet asks the workers of all hosts for their labels, which count together with those of machines.yml, if tasks need any. It refuses a
// need that no host meets.
func meet(ctx context.Context, m *settings.Machines, jobs Jobs) error {
	if len(m.Needs) == 0 {
		return nil
	}
	var wait sync.WaitGroup
	for i := range m.Hosts {
		one := &m.Hosts[i]
		wait.Go(func() {
			a, _ := Ask(ctx, jobs, one.Name, order.Question{What: order.Labels}) // who does not answer adds none
			one.Labels = append(one.Labels, a.Labels...)
		})
	}
	wait.Wait()
	for label := range m.Needs {
		if !slices.ContainsFunc(m.Hosts, func(one settings.Host) bool { return one.Has([]string{label}) }) {
			return &attempts.RefusedError{Reason: "needs: no host has the label " + label, Hint: "relay-temporal worker --labels " + label}
		}
	}
	return nil
}

func fails(p command.Point) bool { return p.State == "fail" }

// points returns what the answer of a host says.
func points(a order.Answer, err error, h settings.Host, began time.Time) (list []command.Point) {
	if err != nil {
		return []command.Point{{
			State: "fail", Message: "does not answer: " + err.Error(), Fix: "on " + h.Name + ": relay-temporal worker --name " + h.Name,
		}}
	}
	p := command.Point{State: "ok", Message: fmt.Sprintf("answers: relay %s, git %s, up to %d at a time", a.Relay, a.Git, h.Jobs)}
	if a.Relay != order.Relay() {
		p.State, p.Message = "warn", p.Message+"; here is relay "+order.Relay()
		p.Fix = "install the same relay-temporal on both, and start the worker again"
	}
	list = append(list, p)
	off, way := began.Sub(a.Now), "slow" // its clock was read between began and now
	if early := time.Until(a.Now); early > off {
		off, way = early, "fast"
	}
	if off > skew {
		words := fmt.Sprintf("its clock is %s %s", off.Round(time.Second), way)
		list = append(list, command.Point{Name: "clock", State: "warn", Message: words, Fix: "set the clock there, or start its NTP service"})
	}
	return append(list, a.Points...)
}

// open opens the repository of the user with the store that hosts reach, and refuses what is not meant for that.
func open(ctx context.Context, m *settings.Machines, root string) (*carry.Store, error) {
	repo, err := git.Open(ctx, root)
	if err != nil {
		return nil, err
	}
	store := &carry.Store{Repo: repo, URL: m.Remote, Patience: m.Patience}
	if name, err := store.Public(ctx); err != nil || name != "" && !m.PublicRemote {
		return nil, errors.Join(err, &attempts.RefusedError{
			Reason: "remote in machines.yml is the project's own remote " + name + ": whoever can read that can read transcripts, also later",
			Hint:   "name a repository that is kept for this, or set public_remote: true",
		})
	}
	if len(m.Hosts) == 0 {
		return nil, &attempts.RefusedError{Reason: "machines.yml names no hosts", Hint: "hosts: [{name: build1, jobs: 2}]"}
	}
	return store, nil
}

// Sweep removes from the remote what runs and checks from before a time have left, and returns it.
func Sweep(ctx context.Context, m *settings.Machines, root string, before time.Time, dry bool) (refs []string, err error) {
	store, err := open(ctx, m, root)
	if err != nil {
		return nil, err
	}
	if refs, err = store.Old(ctx, before); err != nil || dry || len(refs) == 0 {
		return refs, err
	}
	return refs, store.Offer(ctx, "", refs)
}
