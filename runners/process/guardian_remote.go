package process

import "time"

// remote is one process below the guardian.
type remote struct {
	link    *link
	id      uint64
	cmd     Command
	began   time.Time
	started chan reply // one message
	done    chan struct{}
	exit    Exit
	overdue *time.Timer // set with the stop
}

// Wait implements [Process].
func (p *remote) Wait() Exit {
	<-p.done
	return p.exit
}

// Stop implements [Process].
func (p *remote) Stop() {
	p.expect()
	p.link.send(request{Do: doStop, ID: p.id})
}

// expect begins to wait for the end of a process after a stop. A guardian that does not tell of it in time is
// killed, and the process is ended from here.
func (p *remote) expect() {
	p.link.mu.Lock()
	defer p.link.mu.Unlock()
	select {
	case <-p.done:
		return
	default:
	}
	if p.overdue == nil {
		p.overdue = time.AfterFunc(p.cmd.StopGrace+p.link.slowEnd+p.link.patience, p.giveUp)
	}
}

func (p *remote) giveUp() {
	select {
	case <-p.done:
	default:
		_ = p.link.proc.Kill()
	}
}

func (p *remote) begun(r reply) (*remote, error) {
	if r.Did == didFail {
		return nil, r.err()
	}
	return p, nil
}

// finish needs link.mu.
func (p *remote) finish(exit Exit) {
	p.exit = exit
	if p.overdue != nil {
		p.overdue.Stop()
	}
	close(p.done)
}

// lose answers for a process whose end relay did not hear of: the guardian may have written it down.
func (p *remote) lose() {
	exit := Exit{Code: -1, Lost: true, Elapsed: time.Since(p.began)}
	if p.cmd.End != "" {
		if seen, err := ReadExit(p.cmd.End); err == nil {
			exit = seen
		} else {
			_ = writeExit(p.cmd.End, exit) // what cannot be written is still told
		}
	}
	p.finish(exit)
}
