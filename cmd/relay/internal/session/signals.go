package session

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
)

// stopper turns INT and TERM into the end of a run: the first asks everything to stop, the second kills the agents, the
// third ends relay at once.
type stopper struct {
	cancel context.CancelCauseFunc
	kill   func()
	notify func(string)
	first  atomic.Value // os.Signal

	ending  sync.Mutex    // of what follows
	drain   chan struct{} // of the run that is on
	asked   bool          // by a request, to end
	killing atomic.Bool   // INT has come twice, or is about to

	ch   chan os.Signal
	done sync.WaitGroup
}

// listen begins to take signals. HUP is dropped: a closed laptop or a lost connection must not end the night. PIPE
// comes back as an error of the write. (Ignoring them instead would make every agent ignore them.)
func listen(ctx context.Context, kill func(), notify func(string)) (context.Context, *stopper) {
	s := &stopper{kill: kill, notify: notify, ch: make(chan os.Signal, 4)}
	ctx, s.cancel = context.WithCancelCause(ctx)
	signal.Notify(s.ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	s.done.Go(s.serve)
	return ctx, s
}

// CatchPipe makes a write to an output without a reader return an error instead of ending the process.
func CatchPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func (s *stopper) serve() {
	count := 0
	for sig := range s.ch {
		if sig != syscall.SIGINT && sig != syscall.SIGTERM {
			continue
		}
		switch count++; count {
		case 1:
			s.first.Store(sig)
			s.notify("stopping: waiting for running attempts; a second time kills them")
			cause := orchestrator.ErrInterrupted
			if sig == syscall.SIGTERM {
				cause = terminal.ErrTerminated
			}
			s.cancel(cause)
		case 2:
			s.killing.Store(true)
			s.notify("killing running attempts; a third time ends relay at once")
			s.kill()
		default:
			os.Exit(terminal.CodeOfSignal(s.signal()))
		}
	}
}

// end does what the first INT does, or with now the second. It returns what that comes to.
func (s *stopper) end(now bool) (message string) {
	s.ending.Lock()
	defer s.ending.Unlock()
	stopping := s.asked || s.signal() != nil
	s.asked = true
	if !stopping {
		s.ch <- syscall.SIGINT
	}
	switch {
	case now && s.killing.CompareAndSwap(false, true):
		s.ch <- syscall.SIGINT
		return "the run ends: its agents are killed, and what they have done is kept; relay work continues"
	case now:
		return "the run's agents are being killed already"
	case stopping:
		return "the run is coming to its end already: relay stop --now kills its agents"
	}
	return "the run comes to its end: its agents are asked to stop, uncharged, and what they have done is kept; relay work continues"
}

// next returns the drain of a run that begins.
func (s *stopper) next() <-chan struct{} {
	s.ending.Lock()
	defer s.ending.Unlock()
	s.drain = make(chan struct{})
	return s.drain
}

// reload drains the run that is on.
func (s *stopper) reload() {
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.drain != nil && !closed(s.drain) {
		close(s.drain)
		s.notify("reload: nothing new is started; when running attempts have ended, the next run uses epic.yml as it is then")
	}
}

// signal returns the first INT or TERM that came, or nil.
func (s *stopper) signal() os.Signal {
	sig, _ := s.first.Load().(os.Signal)
	return sig
}

// release stops catching the signals.
func (s *stopper) release() {
	signal.Stop(s.ch)
	close(s.ch)
	s.done.Wait()
	s.cancel(nil)
}
