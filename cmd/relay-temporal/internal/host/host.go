// Package host carries out, on this machine, what a relay elsewhere has ordered.
//
// host.go does that in a clone of the repository that orders travel by. process.go has a process on the same machine do it.
package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/carry"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/cmd/relay/command"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
)

// Host is this machine as one that carries orders out.
type Host struct {
	Settings *settings.Machines
	Environ  []string
	Machine  command.Machine
}

func (h *Host) carryOut(ctx context.Context, o order.Order, observe func(engine.Event)) (m order.Result, err error) {
	store, err := h.store(ctx)
	if err != nil {
		return m, err
	}
	held, err := attempts.HoldWithin(ctx, store.Patience+time.Minute, store.Repo.Root()+".lock", attempts.Self("", time.Now()))
	if err != nil {
		return m, err
	}
	release := sync.OnceFunc(func() { _ = held.Release() })
	defer release()
	c, err := h.ready(ctx, store, o)
	if err != nil {
		return m, err
	}
	done := carry.Done{Host: h.Settings.Host.Name, SendSecrets: h.Settings.Host.SendSecrets}
	fill := func(mine *engine.LocalOptions) (engine.Attempt, error) {
		release() // the settings are read: another order may check out its own
		mine.Options = c.On(&mine.Options)
		mine.Run = o.Run
		done.Rules, done.Folder = mine.Secrets, relayfiles.Of(mine.Dir, c.Attempt).Folder
		run := filepath.Join(mine.Dir, attempts.RunsDir, o.Run)
		err := errors.Join(os.MkdirAll(run, 0o700), git.ReplaceFile(filepath.Join(run, "epic.yml"), 0o600, c.Plan))
		if mine.Hook = ""; c.Hook != nil {
			mine.Hook = filepath.Join(mine.Repo.GitDir(), "hooks", "pre-commit") // where a sandbox lets it be read
			err = errors.Join(err, os.MkdirAll(filepath.Dir(mine.Hook), 0o700), git.ReplaceFile(mine.Hook, 0o700, c.Hook))
		}
		return c.Attempt, err
	}
	var stay []string
	if done.Result, stay, err = h.Machine.Carry(ctx, store.Repo.Root(), fill, observe); err != nil {
		return m, err
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	m, err = store.PushResult(ctx, c.Epic.ID, o, done)
	for _, s := range stay {
		m.Stays = append(m.Stays, "on "+m.Host+": "+s)
	}
	return m, err
}

// store opens the clone, or makes one.
func (h *Host) store(ctx context.Context) (*carry.Store, error) {
	sum := sha256.Sum256([]byte(h.Settings.Remote))
	dir := filepath.Join(h.Settings.CacheDir(h.Environ), hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	held, err := attempts.HoldWithin(ctx, h.Settings.Patience+time.Minute, dir+".lock", attempts.Self("", time.Now()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = held.Release() }()
	if _, err := git.Run(ctx, git.Call{Dir: dir, Writes: true, Args: []string{"init", "--quiet"}}); err != nil {
		return nil, err
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &carry.Store{Repo: repo, URL: h.Settings.Remote, Patience: h.Settings.Patience}, nil
}

// ready gets the order, and checks out what the user has checked out who gave it: the settings of the repository are read there.
func (h *Host) ready(ctx context.Context, s *carry.Store, o order.Order) (c order.Contents, err error) {
	if c, err = s.FetchOrder(ctx, o); err != nil {
		return c, err
	}
	for key, value := range map[string]string{"user.name": c.User.Name, "user.email": c.User.Email} {
		if value != "" {
			_, failed := s.Repo.Run(ctx, git.Writing("config", key, value))
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		return c, err
	}
	return c, checkout(ctx, s, o.Trusted)
}

// checkout checks out what a user has checked out.
func checkout(ctx context.Context, s *carry.Store, commit string) error {
	if at, err := s.Repo.Head(ctx); err == nil && at == commit {
		return nil
	}
	_, err := s.Repo.Run(ctx, git.Writing("checkout", "--quiet", "--force", "--detach", commit))
	return err
}

// line is one line of what a process writes that carries an order out.
type line struct {
	Event   *engine.Event   `json:"event,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Refused string          `json:"refused,omitempty"` // why the order is not begun
}

// Serve carries out the order that it reads, pushes what comes of it, and writes what happens and in the end the result, a line each. The
// result of an order that could not be carried out says why.
func (h *Host) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	message, err := io.ReadAll(io.LimitReader(in, order.MaxMessage+1))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	rules := secrets.New(h.Environ)
	tell := func(l line) error {
		mu.Lock()
		defer mu.Unlock()
		return json.NewEncoder(out).Encode(l)
	}
	o, err := order.Decode[order.Order](message)
	if err != nil {
		return tell(line{Refused: err.Error()})
	}
	m, err := h.carryOut(ctx, o, func(e engine.Event) {
		e.Detail.Text = rules.Text(e.Detail.Text)
		_ = tell(line{Event: &e}) // who decides may be gone: the result waits for it in the store
	})
	if err != nil {
		m = order.Result{Version: order.Version, ID: o.ID, Order: o.Hash, Host: h.Settings.Host.Name, Failed: rules.Text(err.Error())}
	}
	answer, err := order.Encode(m)
	if err != nil {
		return tell(line{Refused: err.Error()})
	}
	err = tell(line{Result: answer})
	if store, failed := h.store(ctx); failed == nil { // each order is a pack of its own
		pack := git.Writing("-c", "gc.auto=2000", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet")
		_, _ = store.Repo.Run(ctx, pack) // the next order tries again
	}
	return err
}
