package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/notify"
)

// receivers returns who gets notifications of a project's runs, by name.
func receivers(p *project.Project) (list []notify.Receiver) {
	for _, name := range slices.Sorted(maps.Keys(p.Config.Relay.Notify)) {
		r := p.Config.Relay.Notify[name]
		list = append(list, notify.Receiver{Name: name, On: r.On, Argv: r.Argv, URL: r.URL, Desktop: r.Desktop, Template: r.Template})
	}
	return list
}

// notifyHost returns what the delivery of notifications needs.
func notifyHost(a *cli.App, p *project.Project, failed func(text string)) notify.Host {
	return notify.Host{
		Run: func(ctx context.Context, argv []string, input []byte) (string, error) {
			return cli.Feed(ctx, a.Environ, argv, input)
		},
		Redact: p.Redactor(), Failed: failed, Now: a.Now, Pause: time.Second, Flush: 12 * time.Second,
	}
}

// tell notifies the receivers of an event of an epic.
func tell(n *notify.Notifier, p *project.Project, e plaintext.Notification) {
	e.Repository = filepath.Base(p.Root)
	if strings.HasPrefix(e.Command, "relay ") {
		e.Command += p.EpicFlag()
	}
	n.Notify(e)
}

// tell notifies the receivers of the end of a session.
func (e *end) tell() {
	failed := ""
	if e.err != nil {
		failed = terminal.Message(e.err)
	}
	told := notify.OfEnd(e.sum, failed)
	told.At, told.Epic = e.of.command.app.Now().UTC(), e.of.plan.Epic.ID
	tell(e.of.command.notifier, e.of.project, told)
}

// RecordNotBegun records the error of a relay work that was typed at a time, for relay status and relay report, and notifies the
// receivers if no run has begun since.
func (o *Options) RecordNotBegun(ctx context.Context, at time.Time, err error) {
	p, unknown := o.App.LocateAnyhow(ctx)
	if unknown != nil {
		return
	}
	why := status.RecordNotBegun(p, at, err)
	if view, reading := attempts.Read(p.Dir, nil, nil); why == "" || reading == nil && !view.Ledger.Status.StartedAt.Before(at) {
		return
	}
	n := notify.New(ctx, notifyHost(o.App, p, func(text string) { o.App.Warn(text) }), receivers(p))
	tell(n, p, plaintext.Notification{Event: "not_begun", At: at.UTC(), Text: "relay work could not begin: " + why, Command: "relay check"})
	n.Close()
}

// TestNotify sends a notification to the receivers with a name, or to all, and says how each took it. It fails when one did not.
func TestNotify(ctx context.Context, a *cli.App, p *project.Project, name string) error {
	list := slices.DeleteFunc(receivers(p), func(r notify.Receiver) bool { return name != "" && r.Name != name })
	if len(list) == 0 {
		return &terminal.Hinted{
			Err: errors.New(strings.TrimSpace("relay.notify has no receiver " + name)), Code: terminal.Usage,
			Hint: "write it into " + project.UserFile(a.Environ) + ", as docs/notifications.md shows",
		}
	}
	host, failed := notifyHost(a, p, nil), false
	for _, r := range list {
		err := r.Send(ctx, &host, plaintext.Notification{
			Event: "test", At: a.Now().UTC(), Repository: filepath.Base(p.Root), Text: "notifications of relay arrive here", Command: "relay status",
		})
		said := "delivered"
		if err != nil {
			said, failed = "not delivered: "+err.Error(), true
		}
		fmt.Fprintf(a.Out, "%s: %s\n", r.Name, said)
	}
	if failed {
		return terminal.ExitCode(terminal.Failure)
	}
	return nil
}
