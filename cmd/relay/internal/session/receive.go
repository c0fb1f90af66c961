package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/orchestrator/engine"
	"relay/runners/process"
)

// receiver takes what a person asks of the runs of a session.
type receiver struct {
	project *project.Project
	asks    chan orchestrator.Ask // to the run that is on
	over    chan struct{}
	stop    *stopper
	room    chan struct{} // holds one for each request under way
	working sync.WaitGroup
	refused atomic.Int64 // requests of the run's own processes, so far
	inside  func(ctx context.Context, p *project.Project, mark string, args []string, input []byte) (answer, warnings string, err error)
	alone   sync.Mutex // held while inside works
}

// Bounds of what is taken.
const (
	mostRequests = 16          // at once
	mostRefused  = 20          // of the run's own processes, that are recorded
	arriveWait   = time.Second // for a request, and for the run that records the end of it
)

// receive begins to take requests, and returns where runs get them.
func (s *session) receive(ctx context.Context) (asks <-chan orchestrator.Ask, over func()) {
	link := s.project.File(requestsLink)
	at, _ := os.Readlink(link)
	if conn, err := net.DialTimeout("unix", at, arriveWait); err == nil { // another session takes requests: the lock will refuse this one
		_ = conn.Close()
		return nil, func() {}
	}
	forget(at, link)
	// The one for run-time files comes last: it goes when the user logs out, and a night in tmux goes on.
	l, err := listenIn(link, os.TempDir(), "/tmp", s.command.app.Lookup("XDG_RUNTIME_DIR"))
	if err != nil {
		s.command.say("nothing can be asked of this run while it goes on: " + err.Error())
		return nil, func() {}
	}
	r := &receiver{
		project: s.project, asks: make(chan orchestrator.Ask), over: make(chan struct{}), stop: s.command.stop,
		room: make(chan struct{}, mostRequests), inside: s.o.Inside,
	}
	cli.Sandbox(ctx, s.project).Socket = l.Addr().String()
	r.working.Go(func() { r.serve(ctx, l) })
	return r.asks, func() {
		close(r.over)
		_ = l.Close()
		r.working.Wait()
		forget(l.Addr().String(), link)
	}
}

// listenIn makes a socket in a folder that only the user can enter, and the link to it. The system bounds the length of its path.
func listenIn(link string, folders ...string) (l *net.UnixListener, err error) {
	const longest = 70
	for _, folder := range folders {
		var own string
		if !filepath.IsAbs(folder) || len(folder) > longest {
			continue
		} else if own, err = os.MkdirTemp(folder, "relay-"); err != nil {
			continue
		}
		at := filepath.Join(own, requestsLink)
		if l, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: at}); err == nil {
			if err = os.Symlink(at, link); err == nil {
				return l, nil
			}
			_ = l.Close()
		}
		_ = os.Remove(own)
	}
	return nil, err
}

// forget removes the link to a session's socket, or the requests of an older relay. Anyone can have
// made it: other files that it names stay.
func forget(at, link string) {
	if own := filepath.Dir(at); filepath.Base(at) == requestsLink && strings.HasPrefix(filepath.Base(own), "relay-") {
		_, _ = os.Remove(at), os.Remove(own)
	}
	_ = os.RemoveAll(link)
}

// serve takes requests until the listener is closed.
func (r *receiver) serve(ctx context.Context, l *net.UnixListener) {
	for {
		r.room <- struct{}{}
		conn, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		r.working.Go(func() {
			defer func() { <-r.room }()
			if err != nil { // the machine has no room for it
				<-time.After(arriveWait)
				return
			}
			r.answer(ctx, conn)
		})
	}
}

// answer has the run that is on do what was asked, and replies.
func (r *receiver) answer(ctx context.Context, conn *net.UnixConn) {
	defer func() { _ = conn.Close() }()
	who, mark := r.insider(Of(conn))
	var q Request
	err := conn.SetDeadline(time.Now().Add(arriveWait))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, maxRequest)).Decode(&q)
	}
	var answer reply
	switch {
	case err != nil:
		err = errors.New("the request cannot be read: " + err.Error())
	case q.What == Inside:
		answer.Message, answer.Warnings, err = r.carryOutInside(ctx, q, mark)
	default:
		answer.Message, err = r.carryOut(q, who)
	}
	if err != nil {
		answer.Error = err.Error()
	}
	if refused, ok := errors.AsType[*attempts.RefusedError](err); ok {
		answer.Hint = refused.Hint
	}
	_ = conn.SetDeadline(time.Now().Add(arriveWait))
	_ = json.NewEncoder(conn).Encode(answer) // a caller that is gone does not read it
}

// insider names a process that a run of this epic has started, by the attempt that it seems to be of, whose mark it returns; "": it is
// another one.
func (r *receiver) insider(pid int, err error) (who, mark string) {
	started := true
	if err == nil {
		mark, started = process.Origin(pid)
	}
	run, task, attempt := engine.CutMark(mark)
	if _, err := os.Stat(filepath.Join(r.project.File(attempts.RunsDir), filepath.Base(run))); run != "" && err == nil {
		return "a process of " + plaintext.Fit(task+"/"+attempt, 80), mark
	}
	if started {
		return "a process of the run", ""
	}
	return "", ""
}

// carryOut has the run do what is asked, or record who of its own processes has asked it.
func (r *receiver) carryOut(q Request, who string) (message string, err error) {
	whole := who == "" && q.What == attempts.RequestStop && q.Task == ""
	over, wait := r.over, replyWait-2*arriveWait
	switch {
	case who != "" && r.refused.Add(1) > mostRefused:
		return "", orchestrator.ErrInsider
	case who == "" && q.What == Reload:
		r.stop.reload()
		return "", nil
	case who != "":
		wait, err = arriveWait, orchestrator.ErrInsider
	case whole:
		over, wait = nil, arriveWait
	}
	answered := make(chan struct{})
	ask := orchestrator.Ask{Task: q.Task, Insider: who, Request: attempts.Request{What: q.What, Reason: q.Reason}}
	ask.Answer = func(m string, e error) {
		message, err = m, e
		close(answered)
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case r.asks <- ask:
		<-answered
	case <-over:
		err = cmp.Or(err, error(&attempts.RefusedError{Reason: "the run has just ended", Hint: "type that again: it changes the ledger then"}))
	case <-late.C:
		err = cmp.Or(err, error(&attempts.RefusedError{Reason: "the run is busy: nothing was changed", Hint: "type that again"}))
	}
	if whole {
		return r.stop.end(q.Now), nil
	}
	return message, err
}
