package session

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator"
	"relay/orchestrator/text"
)

// receiver takes what a person asks of the runs of a session.
type receiver struct {
	dir     string
	asks    chan orchestrator.Ask // to the run that is on
	over    chan struct{}
	stop    *stopper
	working sync.WaitGroup
}

// receive begins to take requests, and returns where runs get them. A system without such a signal has none.
func (s *session) receive() (asks <-chan orchestrator.Ask, over func()) {
	if _, request := userSignals(); request == nil {
		return nil, func() {}
	}
	r := &receiver{dir: requestDir(s.project, os.Getpid()), asks: make(chan orchestrator.Ask), over: make(chan struct{}), stop: s.stop}
	forgetRequests(filepath.Dir(r.dir))
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		s.say("nothing can be asked of this run while it goes on: " + err.Error())
		return nil, func() {}
	}
	wake := s.stop.wakes.next()
	r.working.Go(func() {
		for {
			select {
			case <-r.over:
				return
			case <-wake:
				r.take()
			}
		}
	})
	return r.asks, r.close
}

// forgetRequests removes what was asked of processes that are gone, and of an earlier one with this one's pid.
func forgetRequests(all string) {
	folders, _ := os.ReadDir(all)
	for _, folder := range folders {
		if pid, err := strconv.Atoi(folder.Name()); err == nil && (pid == os.Getpid() || !alive(pid)) {
			_ = os.RemoveAll(filepath.Join(all, folder.Name()))
		}
	}
}

// take takes the requests that are there, each once.
func (r *receiver) take() {
	files, _ := os.ReadDir(r.dir)
	for _, file := range files {
		name, isRequest := strings.CutSuffix(filepath.Join(r.dir, file.Name()), requestFile)
		if !isRequest || os.Rename(name+requestFile, name+takenFile) != nil { // its caller has withdrawn it
			continue
		}
		r.working.Go(func() { r.carryOut(name) })
	}
}

// carryOut has the run that is on do what was asked, and replies.
func (r *receiver) carryOut(name string) {
	defer func() { _ = os.Remove(name + takenFile) }()
	content, err := project.ReadFile(name+takenFile, 1<<20)
	var q Request
	if err == nil {
		err = json.Unmarshal(content, &q)
	}
	if err != nil {
		r.reply(name, "", errors.New("the request cannot be read: "+err.Error()))
		return
	}
	late := r.over
	whole := q.What == attempts.RequestStop && q.Task == ""
	if whole {
		late = make(chan struct{})
		defer time.AfterFunc(recordWait, func() { close(late) }).Stop()
	}
	answered := make(chan struct{})
	ask := orchestrator.Ask{Task: q.Task, Request: attempts.Request{What: q.What, Reason: q.Reason}, Answer: func(message string, err error) {
		defer close(answered)
		if whole {
			return
		}
		r.reply(name, message, err)
	}}
	select {
	case r.asks <- ask:
		<-answered
	case <-late:
		if !whole {
			r.reply(name, "", &text.RefusedError{Reason: "the run has just ended", Hint: "type that again: it changes the ledger then"})
		}
	}
	if whole {
		r.reply(name, r.stop.end(q.Now), nil)
	}
}

// recordWait is how long the end of a run waits for a run that records who has asked for it.
const recordWait = time.Second

// reply writes what became of a request. A caller that is gone reads it no more.
func (r *receiver) reply(name, message string, err error) {
	answer := reply{Message: message}
	if err != nil {
		answer.Error = err.Error()
	}
	if refused, ok := errors.AsType[*text.RefusedError](err); ok {
		answer.Hint = refused.Hint
	}
	content, err := json.Marshal(answer)
	if err == nil {
		_ = project.ReplaceFile(name+replyFile, content)
	}
}

// close ends the taking of requests. Those that are there are answered; replies stay for their callers.
func (r *receiver) close() {
	r.stop.wakes.next()
	close(r.over)
	r.working.Wait()
	_ = os.Remove(r.dir)
	_ = os.Remove(filepath.Dir(r.dir))
}

// wakes wakes the receiver that is on.
type wakes struct {
	mu   sync.Mutex
	wake chan struct{}
}

// next returns what wakes a receiver that begins.
func (w *wakes) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake = make(chan struct{}, 1)
	return w.wake
}

// ring wakes the receiver that is on; one that is awake looks once more.
func (w *wakes) ring() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default: // it has not looked yet
	}
}
