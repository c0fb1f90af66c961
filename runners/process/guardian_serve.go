package process

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// tendEvery is how often a guardian reaps what its commands left behind and what died since.
const tendEvery = 5 * time.Second

// ServeGuardian is the guardian's side: it reads requests from r and tells on w what became of them. It returns when
// everything it started is gone, after a goodbye or after r has ended without one, which means that relay was killed:
// then it stops everything. It is to be the whole life of its process, whose signals it takes over.
func ServeGuardian(r io.Reader, w io.Writer) error {
	Conceal()
	// The guardian ends when relay does, not before. Taking the signals and dropping them, not ignoring them: an
	// ignored signal would stay ignored in every agent. A broken pipe is an error of Write here.
	drop := make(chan os.Signal, 1)
	signal.Notify(drop, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE)
	defer signal.Stop(drop)

	ReserveThreads()
	s := &server{local: NewLocal(), replies: gob.NewEncoder(w), running: map[uint64]Process{}, marks: map[string]bool{}}
	k := theProcTable()
	k.mu.Lock()
	k.alone = true
	k.mu.Unlock()
	runtime.GOMAXPROCS(1) // it mostly waits: a second processor would only be woken to look for work and find none
	tending := make(chan struct{})
	var tender sync.WaitGroup
	tender.Go(func() { s.tend(tending) })
	err := s.serve(r)
	if err != nil {
		s.local.each((*child).Stop)
	}
	s.waiters.Wait()
	close(tending)
	tender.Wait()
	if errors.Is(err, errLeft) {
		return nil
	}
	// Once for the whole machine: processes with one of our marks that are not our descendants.
	delete(s.marks, "")
	sweep(func(mark string) bool { return s.marks[mark] }, 0, 0, nil)
	return err
}

var (
	errLeft  = errors.New("relay left in order")
	errAlone = errors.New("relay is gone")
)

// server is the guardian's state.
type server struct {
	local   *Local
	marks   map[string]bool // of every command started; used by serve and after it
	waiters sync.WaitGroup

	mu      sync.Mutex
	running map[uint64]Process
	replies *gob.Encoder // guarded by mu too: one message at a time
}

// serve obeys until relay leaves or is gone; the error says which.
func (s *server) serve(r io.Reader) error {
	requests := gob.NewDecoder(r)
	for {
		var req request
		switch err := requests.Decode(&req); {
		case errors.Is(err, io.EOF):
			return errAlone
		case err != nil:
			return fmt.Errorf("read from relay: %w", err)
		}
		if req.Do == doLeave {
			return errLeft
		}
		if err := s.obey(req); err != nil {
			return err
		}
	}
}

func (s *server) obey(req request) error {
	switch req.Do {
	case doStart:
		s.start(req)
	case doStop:
		s.mu.Lock()
		p := s.running[req.ID]
		s.mu.Unlock()
		if p != nil {
			p.Stop()
		}
	case doKill:
		s.local.Kill()
	default:
		return fmt.Errorf("unknown request %q", req.Do)
	}
	return nil
}

func (s *server) start(req request) {
	p, err := s.local.launch(req.Command)
	if err != nil {
		s.answer(failed(req.ID, err))
		return
	}
	s.marks[req.Command.Mark] = true
	s.mu.Lock()
	s.running[req.ID] = p
	s.mu.Unlock()
	s.answer(reply{Did: didStart, ID: req.ID})
	s.waiters.Go(func() {
		exit := p.Wait()
		s.mu.Lock()
		delete(s.running, req.ID)
		s.mu.Unlock()
		s.answer(reply{Did: didExit, ID: req.ID, Exit: exit})
	})
}

// answer answers relay. It ignores errors: the end of r says, too, that relay is gone.
func (s *server) answer(r reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.replies.Encode(r)
}

func (s *server) tend(done <-chan struct{}) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			s.local.procTable.reapAdopted()
		}
	}
}
