package host

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay/command"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
)

// Answer answers the question that it reads.
func (h *Host) Answer(ctx context.Context, in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(io.LimitReader(in, order.MaxMessage+1))
	if err != nil {
		return err
	}
	q, err := order.Decode[order.Question](text)
	if err != nil {
		return err
	}
	a := order.Answer{Version: order.Version, Relay: order.Relay(), Now: time.Now()}
	if q.What != order.About {
		return fmt.Errorf("this host cannot %s", q.What)
	}
	h.about(ctx, q, &a)
	rules := secrets.New(h.Environ)
	for i := range a.Points {
		a.Points[i].Message, a.Points[i].Fix = rules.Text(a.Points[i].Message), rules.Text(a.Points[i].Fix)
	}
	message, err := order.Encode(a)
	if err == nil {
		_, err = out.Write(message)
	}
	return err
}

// about looks at what an attempt needs here: the git repository for orders, in both directions, the runners, the disk, and files that the
// settings of the project have attempts get.
func (h *Host) about(ctx context.Context, q order.Question, a *order.Answer) {
	out, _ := git.Run(ctx, git.Call{Args: []string{"version"}}) // what follows fails without git
	a.Git = strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	dir, points, err := h.visit(ctx, q)
	if err != nil {
		a.Points = append(a.Points, command.Point{
			Name: "remote", State: "fail", Message: "orders and results do not get through " + h.Settings.Remote + ": " + err.Error(),
			Fix: "on this host, git ls-remote " + h.Settings.Remote + " must work without questions; it is remote in machines.yml",
		})
		return
	}
	others := []string{"configuration", "folder", "runner", "shell", "sandbox"}
	for _, p := range points {
		first, agent, _ := strings.Cut(p.Name, " ")
		switch {
		case first == "worktrees" && p.State != "ok":
			p.Fix += "; there, the checkout is " + dir // a file that git ignores can be put in it
		case agent != "", first == "disk", p.State != "ok" && slices.Contains(others, first):
		default:
			continue // it is the same where the run is, or of no use here
		}
		a.Points = append(a.Points, p)
	}
}

// visit takes the commit of a question and checks it out, as an order does, and checks this machine for attempts from there. It returns the
// clone and what the check says. No order changes the clone meanwhile.
func (h *Host) visit(ctx context.Context, q order.Question) (dir string, points []command.Point, err error) {
	store, err := h.store(ctx)
	if err != nil {
		return "", nil, err
	}
	store.Patience = 0
	held, err := attempts.HoldWithin(ctx, time.Minute, store.Repo.Root()+".lock", attempts.Self("", time.Now()))
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = held.Release() }()
	commit, err := store.Take(ctx, q.Ref)
	if err == nil {
		err = checkout(ctx, store, commit)
	}
	if err != nil {
		return "", nil, err
	}
	return store.Repo.Root(), h.Machine.Check(ctx, store.Repo.Root(), q.Agents), nil
}
