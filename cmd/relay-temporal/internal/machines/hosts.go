package machines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/cmd/relay-temporal/internal/settings"
)

// hosts deals out the jobs of hosts.
type hosts struct {
	mu      sync.Mutex
	list    []*host
	limits  map[limit]time.Time // until when
	changed chan struct{}       // closed when a host may have become free
}

// limit is the usage limit of an account with a runner.
type limit struct{ account, runner string }

// need is what an attempt needs of its host.
type need struct {
	wanted string            // the host with its session; "": any will do
	labels []string          // the host has all of them
	asked  []string          // the runners of its agent and its reviewers
	tell   func(what string) // is called if it waits
}

type host struct {
	settings.Host
	busy    int
	failed  int       // times in a row
	why     error     // the last time
	until   time.Time // it gets nothing before
	drained bool      // the last time it was looked at
}

// rests are how long a host gets nothing after it has failed: the first, and the longest.
const (
	firstRest   = 5 * time.Second
	longestRest = 5 * time.Minute
)

// mostFailures is how often in a row every host may fail before no more is tried.
const mostFailures = 5

// errDrained means that a host takes nothing new.
var errDrained = errors.New("the host has drained")

// errUnfit means that no host serves that has the labels of a task.
var errUnfit = errors.New("no host that serves has the labels")

func newHosts(list []settings.Host) *hosts {
	h := &hosts{changed: make(chan struct{}), limits: make(map[limit]time.Time)}
	for _, one := range list {
		h.list = append(h.list, &host{Host: one})
	}
	return h
}

// take waits for a free job, of the host that is wanted or else of the one with most free jobs, and returns the host's name. Only hosts
// with all the labels count, and of these those that have not drained and whose accounts may be asked, if there is one. It fails when
// every host has failed several times in a row, with errUnfit when those with the labels have, and when ctx ends.
func (h *hosts) take(ctx context.Context, n need) (name string, err error) {
	for told := false; ; told = true {
		name, rest, changed, err := h.try(n)
		if rest == 0 {
			return name, err
		}
		if !told {
			n.tell("waits for " + name)
		}
		select {
		case <-ctx.Done():
			return "", errors.New("stopped before a host was free")
		case <-changed:
		case <-time.After(rest):
		}
	}
}

// try takes a job if one is free. Else it returns in words what it waits for, and when to try again at the latest.
func (h *hosts) try(n need) (name string, rest time.Duration, changed <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(h.list), func(one *host) bool { return !one.Has(n.labels) })
	if err := spent(h.list); err != nil {
		return "", 0, nil, err
	}
	if err := spent(list); err != nil {
		return "", 0, nil, fmt.Errorf("%w %s: %w", errUnfit, strings.Join(n.labels, ", "), err)
	}
	if open, _ := h.open(n); len(open) > 0 { // else the run itself has decided to ask
		list = open
	}
	name, rest = "a host", longestRest
	if at := slices.IndexFunc(list, func(one *host) bool { return one.Name == n.wanted && !one.drained }); at >= 0 {
		name, list = n.wanted, list[at:at+1]
	}
	var best *host
	for _, one := range list {
		switch free, rests := one.Jobs-one.busy, time.Until(one.until); {
		case free <= 0:
		case rests > 0:
			rest = min(rest, rests)
		case best == nil || free > best.Jobs-best.busy:
			best = one
		}
	}
	if best == nil {
		return name, rest, h.changed, nil
	}
	best.busy++
	best.drained = false // else it drains at once
	return best.Name, 0, nil, nil
}

// spent returns why no host of a list is tried again; nil: one is. The error does not wrap theirs, after which a task is tried elsewhere.
func spent(list []*host) (err error) {
	if len(list) == 0 {
		return errors.New("none has all of them")
	}
	for _, one := range list {
		if one.failed < mostFailures {
			return nil
		}
		err = errors.Join(err, fmt.Errorf("%s has failed %d times in a row: %v", one.Name, one.failed, one.why)) //nolint:errorlint // see above
	}
	return err
}

// open returns the hosts that have not drained and whose accounts may be asked for an attempt now, and when the first of the others may be.
func (h *hosts) open(n need) (list []*host, opens time.Time) {
	now := time.Now()
	for _, one := range h.list {
		var until time.Time
		for _, runner := range n.asked {
			if at := h.limits[limit{one.Account, runner}]; at.After(until) {
				until = at
			}
		}
		switch {
		case !one.Has(n.labels), !until.After(now) && one.drained && now.Before(one.until): // later it may have begun again
		case !until.After(now):
			list = append(list, one)
		case opens.IsZero() || until.Before(opens):
			opens = until
		}
	}
	return list, opens
}

// limit keeps the attempts of a runner from the account of a host until a time. It returns when the first host may be asked for an attempt;
// the zero time: another that serves may be asked now. A runner that comes to its limit again, with no success since the last one was over,
// is for the run to judge.
func (h *hosts) limit(name, runner string, until time.Time, n need) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := limit{h.of(name).Account, runner}
	before, again := h.limits[of]
	h.limits[of] = until
	list, opens := h.open(n)
	serves := func(one *host) bool { return one.failed < mostFailures && !one.drained }
	if slices.ContainsFunc(list, serves) && (!again || before.After(time.Now())) {
		return time.Time{}
	}
	return opens
}

// answered forgets the limits of runners on a host that are over.
func (h *hosts) answered(name string, runners []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.limits, func(of limit, until time.Time) bool {
		return of.account == h.of(name).Account && slices.Contains(runners, of.runner) && until.Before(time.Now())
	})
}

// slots counts the jobs of hosts that serve: of the one that says so, and of those that have not failed the last time, and do not drain.
func (h *hosts) slots(serving string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.list {
		if one.Name == serving || one.failed == 0 && time.Now().After(one.until) {
			n += one.Jobs
		}
	}
	return n
}

// give gives a job back, of a host that has served, drained or failed.
func (h *hosts) give(name string, failed error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.of(name)
	switch one.busy--; {
	case failed == nil:
		one.failed = 0
	case errors.Is(failed, errDrained):
		one.drained, one.until = true, time.Now().Add(longestRest)
	default:
		one.why, one.until = failed, time.Now().Add(min(longestRest, firstRest<<min(one.failed, 10)))
		one.failed++
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// of returns a host. One that has an attempt of an earlier run may not be in the list any more.
func (h *hosts) of(name string) *host {
	for _, one := range h.list {
		if one.Name == name {
			return one
		}
	}
	return &host{}
}
