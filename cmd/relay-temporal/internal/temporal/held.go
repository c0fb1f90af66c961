package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"relay/cmd/relay-temporal/internal/machines"
	"relay/cmd/relay-temporal/internal/order"
	"relay/reanchor/git"
)

// held is an attempt that the server has given to this host. It is kept in a file while it lasts, for a worker after this one.
type held struct {
	ID        string        `json:"id"`
	Token     []byte        `json:"token"` // of the task: it is the right to beat and to report
	Message   []byte        `json:"message"`
	Heartbeat time.Duration `json:"heartbeat"`
}

const heldSuffix = ".held.json"

func (h *held) path(dir string) string { return filepath.Join(dir, h.ID+heldSuffix) }

func (h *held) keep(dir string) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return git.ReplaceFile(h.path(dir), 0o600, text)
}

// heldIn returns what the worker before this one held.
func heldIn(dir string) (list []held, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+heldSuffix))
	for _, file := range files {
		text, failed := os.ReadFile(file)
		var h held
		if err = errors.Join(err, failed); failed != nil || json.Unmarshal(text, &h) != nil || h.path(dir) != file {
			continue
		}
		list = append(list, h)
	}
	return list, err
}

// carry carries an attempt out and reports it. An attempt that was given up meanwhile is not begun, or stopped: what it has made by then
// is pushed all the same.
func (w *Worker) carry(ctx context.Context, h held) {
	refuse := func(why error) { w.report(ctx, h, answer{}, fmt.Errorf("%w: %w", machines.ErrRefused, why)) }
	o, err := order.Decode[order.Order](h.Message)
	if err == nil && (o.ID.String() != h.ID || strings.ContainsAny(h.ID, `/\`)) {
		err = fmt.Errorf("an order of %s under the name %s", o.ID, h.ID)
	}
	if err != nil {
		refuse(err)
		return
	}
	// A frozen machine may wake with a task that was given up long ago: nothing begins before the server has said that it is still this
	// host's.
	if err := w.claim(ctx, h); err != nil {
		w.Log("%s: does not begin %s: %v", w.Name, h.ID, err)
		if !gone(err) {
			refuse(errors.New("stopped before it began"))
		}
		_ = os.Remove(h.path(w.dir))
		return
	}
	if err := h.keep(w.dir); err != nil {
		refuse(err)
		return
	}
	w.Log("%s: carries out %s", w.Name, h.ID)
	var said news
	result, lost, err := w.work(ctx, h, o.ID, &said)
	if !lost {
		lost = w.report(ctx, h, answer{result, said.all()}, err)
	}
	how := "is reported"
	if lost {
		how = "was given up: what came of it is in the git repository"
	}
	_ = os.Remove(h.path(w.dir)) // where it stays, the next worker finds that the server does not know it
	if err == nil {
		_ = os.RemoveAll(w.Processes.Dir(w.Name, o.ID))
	} else {
		how += ": " + err.Error()
	}
	w.Log("%s: %s has ended and %s", w.Name, h.ID, how)
}

// claim beats until the server answers.
func (w *Worker) claim(ctx context.Context, h held) error {
	for {
		err := w.beat(ctx, h, nil)
		_, canceled := errors.AsType[*temporal.CanceledError](err)
		if err == nil || gone(err) || canceled {
			return err
		}
		if !pause(ctx, retryEvery) {
			return ctx.Err()
		}
	}
}

// beat tells the server that the attempt is at work, and what is new. No stop ends it.
func (w *Worker) beat(ctx context.Context, h held, list []item) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callWithin)
	defer cancel()
	return w.client.RecordActivityHeartbeat(ctx, h.Token, list)
}

// work has a process carry the attempt out, and beats meanwhile. Only a server that does not know the attempt any more ends it, or a
// stop: any other trouble with the server passes.
func (w *Worker) work(ctx context.Context, h held, id order.ID, said *news) (result []byte, lost bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := *w.Processes
	p.Lease = h.Heartbeat
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = p.Do(ctx, w.Name, id, h.Message, said.add)
	}()
	tick := time.NewTicker(w.Beat)
	defer tick.Stop()
	for stopped := false; ; {
		select {
		case <-done:
			return result, lost, err
		case <-tick.C:
		}
		p.Renew(w.Name, id)
		if lost {
			continue
		}
		failed := w.beat(ctx, h, said.all())
		_, canceled := errors.AsType[*temporal.CanceledError](failed)
		if lost = gone(failed); (lost || canceled) && !stopped {
			stopped = true
			w.Log("%s: stops %s: %v", w.Name, h.ID, failed)
			stop()
		}
	}
}

// report tries until the server takes the result, or refuses it: lost. No server keeps an attempt for longer than it tries.
func (w *Worker) report(ctx context.Context, h held, a answer, failed error) (lost bool) {
	ctx = context.WithoutCancel(ctx)
	var result any = a
	switch {
	case errors.Is(failed, machines.ErrRefused):
		result, failed = nil, temporal.NewNonRetryableApplicationError(short(failed), refusedType, nil)
	case failed != nil:
		result, failed = nil, temporal.NewNonRetryableApplicationError(short(failed), unknownType, nil)
	}
	for end := time.Now().Add(longestDrain); time.Now().Before(end); {
		within, cancel := context.WithTimeout(ctx, callWithin)
		err := w.client.CompleteActivity(within, h.Token, result, failed)
		cancel()
		if err == nil || gone(err) {
			return err != nil
		}
		w.Log("%s: %s has ended, and the server does not take the report: %v", w.Name, h.ID, err)
		pause(ctx, retryEvery)
	}
	return true
}

// short removes what the other side adds again.
func short(err error) string {
	text := err.Error()
	for _, known := range []error{machines.ErrRefused, machines.ErrUnknown} {
		text = strings.TrimPrefix(text, known.Error()+": ")
	}
	return text
}
