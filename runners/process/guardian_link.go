package process

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// link is the connection to one guardian process.
type link struct {
	proc *os.Process
	in   *os.File // requests
	out  *os.File // replies

	sending  sync.Mutex // one request at a time
	requests *gob.Encoder

	mu    sync.Mutex
	calls map[uint64]*remote
	last  uint64
	gone  bool // the guardian is: nothing can be started any more
	left  bool // relay said goodbye to it
	grace time.Duration

	patience time.Duration
	slowEnd  time.Duration
	stderr   *os.File
	ended    chan struct{} // closed when its processes are gone too and every Wait has its answer
	err      error         // how the guardian ended; set before ended is closed
}

// dial starts a guardian process.
func (g *Guardian) dial() (*link, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		closeAll([]*os.File{inR, inW})
		return nil, err
	}
	defer closeAll([]*os.File{inR, outW})
	stderr, err := captureStderr()
	if err != nil {
		closeAll([]*os.File{inW, outR})
		return nil, err
	}
	attr := &os.ProcAttr{Env: g.env, Files: []*os.File{inR, outW, stderr}}
	proc, err := theProcTable().launchGuardian(g.argv, attr)
	if err != nil {
		closeAll([]*os.File{inW, outR, stderr})
		return nil, fmt.Errorf("start the guardian: %w", err)
	}
	l := &link{
		proc: proc, in: inW, out: outR, requests: gob.NewEncoder(inW), calls: map[uint64]*remote{},
		patience: g.patience, slowEnd: g.slowEnd, stderr: stderr, ended: make(chan struct{}),
	}
	go l.listen()
	go l.rouse(l.patience / rousings)
	return l, nil
}

func (l *link) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// start asks for one process and waits for the answer.
func (l *link) start(cmd Command) (*remote, error) {
	p := &remote{link: l, cmd: cmd, began: time.Now(), started: make(chan reply, 1), done: make(chan struct{})}
	l.mu.Lock()
	if l.gone || l.left {
		l.mu.Unlock()
		return nil, fmt.Errorf("start %s: %w", cmd.name(), ErrLost)
	}
	l.last++
	p.id = l.last
	l.calls[p.id] = p
	l.grace = max(l.grace, cmd.StopGrace)
	l.mu.Unlock()
	if _, err := os.Lstat(cmd.End); err == nil {
		_ = os.Remove(cmd.End) // should the guardian be lost, an old one would be taken for this one's
	}
	l.send(request{Do: doStart, ID: p.id, Command: cmd})
	return l.answer(p)
}

// answer waits for what became of a start.
func (l *link) answer(p *remote) (*remote, error) {
	slow := time.NewTimer(l.patience / 2)
	defer slow.Stop()
	for late := false; ; late = true {
		select {
		case r := <-p.started:
			return p.begun(r)
		case <-slow.C:
			if !late { // the answer may be here already: relay itself may have been stopped for so long
				slow.Reset(l.patience / 2)
				continue
			}
			_ = l.proc.Kill()
		case <-p.done: // lost, or so short that its end came with its start
			select {
			case r := <-p.started:
				return p.begun(r)
			default:
			}
			return nil, fmt.Errorf("start %s: %w: %w", p.cmd.name(), ErrLost, l.why())
		}
	}
}

// send writes a request. A guardian that does not take it within the patience is killed; listen does the rest.
func (l *link) send(r request) {
	l.sending.Lock()
	defer l.sending.Unlock()
	_ = l.in.SetWriteDeadline(time.Now().Add(l.patience))
	if err := l.requests.Encode(r); errors.Is(err, os.ErrDeadlineExceeded) {
		_ = l.proc.Kill()
	}
}

// close tells the guardian to end and waits until it has.
func (l *link) close() error {
	l.mu.Lock()
	first := !l.left
	l.left = true
	limit := l.grace + held + l.patience
	l.mu.Unlock()
	if first {
		l.send(request{Do: doLeave}) // the end of its input tells it too
		l.sending.Lock()
		_ = l.in.Close()
		l.sending.Unlock()
	}
	slow := time.NewTimer(limit)
	defer slow.Stop()
	select {
	case <-l.ended:
	case <-slow.C:
		_ = l.proc.Kill()
		<-l.ended
	}
	return l.err
}

// listen hands out the guardian's replies until it is gone, and then answers for it.
func (l *link) listen() {
	defer close(l.ended)
	replies := gob.NewDecoder(l.out)
	reaped := time.Now()
	for {
		var r reply
		if err := replies.Decode(&r); err != nil {
			break
		}
		l.handle(r)
		if now := time.Now(); now.Sub(reaped) > tendEvery {
			theProcTable().reapAdopted()
			reaped = now
		}
	}
	l.cleanUp()
}

func (l *link) handle(r reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.calls[r.ID]
	if p == nil {
		return
	}
	switch r.Did {
	case didStart:
		p.started <- r
	case didFail:
		delete(l.calls, r.ID)
		p.started <- r
	case didExit:
		delete(l.calls, r.ID)
		p.finish(r.Exit)
	default: // the others are orders to a guardian
	}
}

// cleanUp cleans up after a guardian whose answers have ended. When it was killed, it also ends its processes.
func (l *link) cleanUp() {
	l.mu.Lock()
	l.gone = true
	marks := map[string]bool{}
	for _, p := range l.calls {
		marks[p.cmd.Mark] = true
	}
	orphans := len(l.calls) > 0 || !l.left
	grace := l.grace
	l.mu.Unlock()

	_ = l.proc.Kill() // if it only closed its output
	state, err := l.proc.Wait()
	k := theProcTable()
	k.mu.Lock()
	delete(k.guardians, l.proc.Pid)
	k.mu.Unlock()
	closeAll([]*os.File{l.out, l.in})
	if orphans {
		reclaim(grace, marks)
	}
	if err == nil && !state.Success() {
		err = errors.New(state.String())
	}
	why := firstLine(l.stderr)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil && why != "":
		l.err = fmt.Errorf("the guardian ended: %w: %s", err, why)
	case err != nil:
		l.err = fmt.Errorf("the guardian ended: %w", err)
	}
	for id, p := range l.calls {
		delete(l.calls, id)
		p.lose()
	}
}

func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return errors.New("it ended")
	}
	return l.err
}
