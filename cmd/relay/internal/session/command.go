package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/trust"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/notify"
	"relay/orchestrator/view"
	"relay/runners/process"
)

// command is what all runs of one relay work share: the guardian, the signals, the deadline, and what shows the progress.
type command struct {
	app      *cli.App
	guardian *process.Guardian
	stop     *stopper
	sleep    func()   // lets the machine sleep again
	bare     bool     // the last run before this command had no sandbox
	last     []string // what it said of logins
	until    time.Time
	notifier *notify.Notifier

	mu      sync.Mutex
	watcher *runview.Watcher // nil: nothing runs
	unsaid  []string         // faults of notifications since then
}

// begin begins to take signals, to keep the machine awake for what is named, and to show the progress. It fails when there is no such
// deadline as the configuration names, or the user does not trust what the repository grants; the guardian is closed then.
func begin(ctx context.Context, a *cli.App, t Target, what string) (context.Context, *command, error) {
	until, err := project.Deadline(t.Project.Config.Relay.Until, a.Now())
	if err = cmp.Or(err, trust.Ask(ctx, a, t.Project, false)); err != nil {
		return ctx, nil, errors.Join(err, t.Guardian.Close())
	}
	c := &command{app: a, guardian: t.Guardian, until: until, sleep: func() {}}
	last, bare := lastRun(ctx, t.Project)
	c.bare = bare
	c.last = each.Where(last.Notes, func(n view.Note) (string, bool) { return n.Text + ": in the last run", n.Text == bench.LoginsGiven })
	if t.Project.Config.Relay.InhibitSleep {
		c.sleep = cli.HoldAwake(ctx, a.Environ, "relay work: "+what)
	}
	c.watch()
	c.notifier = notify.New(ctx, notifyHost(a, t.Project, c.undelivered), receivers(t.Project))
	ctx, c.stop = listen(ctx, t.Guardian.Kill, c.say)
	return ctx, c, nil
}

// end ends what runs below the guardian, and the progress. Signals are taken until release.
func (c *command) end() {
	closing := c.guardian.Close()
	c.unwatch()
	if closing != nil { // its processes have ended by then
		fmt.Fprintf(c.app.Err, "relay: warning: %v\n", closing)
	}
}

// release delivers the notifications that wait, ends the taking of signals, and lets the machine sleep.
func (c *command) release() {
	c.notifier.Close()
	c.app.Warn(c.unsaid...)
	c.stop.release()
	c.sleep()
}

// remarks are what a person should know of the command's first run.
func (c *command) remarks() []string {
	if c.until.IsZero() {
		return nil
	}
	return []string{"this run ends at " + plaintext.LocalTimeOn(c.until, c.app.Now(), "15:04") + ", even if tasks are left"}
}

// watch begins to show the progress, and unwatch ends it.
func (c *command) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watcher = runview.NewWatcher(c.app)
}

func (c *command) unwatch() {
	c.mu.Lock()
	w := c.watcher
	c.watcher = nil
	c.mu.Unlock()
	if w != nil {
		w.Close()
	}
}

// watched shows something while the progress is shown; else it returns false.
func (c *command) watched(show func(w *runview.Watcher)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watcher == nil {
		return false
	}
	show(c.watcher)
	return true
}

// say shows a message of relay itself.
func (c *command) say(text string) {
	if !c.watched(func(w *runview.Watcher) { w.Say(text) }) {
		fmt.Fprintf(c.app.Err, "relay: %s\n", text)
	}
}

// undelivered shows the fault of a notification, or keeps it: another goroutine may print now.
func (c *command) undelivered(text string) {
	if !c.watched(func(w *runview.Watcher) { w.Say(text) }) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unsaid = append(c.unsaid, text)
	}
}

// follow has the night of a project shown from its records. Records that cannot be read are not worth an error here.
func (c *command) follow(ctx context.Context, p *project.Project) {
	var of *status.Follower
	c.watched(func(w *runview.Watcher) {
		w.Follow(func() (n *view.Night) {
			err := error(nil)
			if of == nil {
				of, err = status.Follow(ctx, p, "", false)
			}
			if err != nil {
				of = nil
				return nil
			}
			n, _ = of.Night(ctx, c.app.Now())
			return n
		})
	})
}
