// Package serve shows a night in a browser, while it goes on and afterwards.
//
// The server is a process of its own on the loopback interface. It reads the event log as it grows, and neither locks nor writes anything:
// a run does not notice it. serve.go begins it, guard.go says who may ask for what, night.go keeps what is shown up to date, events.go
// tells browsers what has changed, pages.go and task.go write the pages, and control.go lets a person decide.
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/page"
)

// Options say what is served, and where.
type Options struct {
	App     *cli.App
	Addr    string // host and port; the host is a loopback address
	Open    bool   // opens the browser
	Control bool   // lets a person decide in the browser

	// Run runs a command of relay, and returns what it prints; its error is what it tells of one.
	Run func(ctx context.Context, args ...string) (answer string, err error)
}

// Serve serves the night of an epic until ctx is done.
func Serve(ctx context.Context, p *project.Project, o *Options) error {
	g, s, err := newSite(ctx, p, o)
	if err != nil {
		return err
	}
	l, err := listen(ctx, o.Addr)
	if err != nil {
		return err
	}
	g.port = fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	address := "http://" + l.Addr().String() + g.base
	fmt.Fprintf(o.App.Out, "%s?token=%s\n", address, g.token)
	fmt.Fprint(o.App.Err, "relay: serving this epic to browsers on this machine; Ctrl-C ends it, and a run goes on\n")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.live.follow(ctx)
	if o.Open {
		if err := cli.OpenBrowser(address + "?token=" + g.onceToken()); err != nil {
			o.App.Warn("no browser was opened: " + err.Error())
		}
	}
	server := &http.Server{
		Handler: g, ReadHeaderTimeout: headerWait, IdleTimeout: idleWait, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(ctx)
}

// Bounds of a connection.
const (
	headerWait = 10 * time.Second
	idleWait   = 2 * time.Minute
	writeWait  = 10 * time.Second // for one event, or one page
	maxHeader  = 64 << 10
	maxForm    = 64 << 10
)

// listen opens a port on the loopback interface.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &terminal.UsageError{Message: "--addr " + terminal.Quote(addr) + " is not a host and a port", Hint: "such as 127.0.0.1:8080; port 0 takes a free one"}
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() {
		return nil, &terminal.UsageError{
			Message: "relay serve listens on this machine only, and " + terminal.Quote(addr) + " can be reached from others",
			Hint:    "use --addr 127.0.0.1:PORT; from another machine: ssh -L PORT:127.0.0.1:PORT HOST",
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, &terminal.Hinted{Err: err, Hint: "--addr 127.0.0.1:0 takes a free port"}
	}
	return l, nil
}

// newSite reads the epic, and makes the first view of it.
func newSite(ctx context.Context, p *project.Project, o *Options) (*guard, *site, error) {
	night, err := status.Follow(ctx, p, "", true)
	if err != nil {
		return nil, nil, err
	}
	redactor := p.Redactor()
	s := &site{
		o: o, live: &live{now: o.App.Now, values: redactor.Values, night: night, patience: writeWait},
		project: p, clean: redactor.Text, base: "/" + strings.ToLower(rand.Text()) + "/",
	}
	s.desk = &desk{site: s, form: rand.Text()}
	s.live.options = func(now *shown) page.Options { return s.options(now, "") }
	s.live.show(nil)
	return &guard{pages: s.routes(), control: o.Control, base: s.base, token: rand.Text(), cookie: rand.Text()}, s, nil
}
