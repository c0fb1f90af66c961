package temporal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/host"
	"relay/cmd/relay-temporal/internal/settings"
)

// Worker takes orders of a host from the server, and has processes of this machine carry them out.
type Worker struct {
	Name      string // of the host
	Jobs      int    // attempts at a time
	Labels    []string
	Beat      time.Duration
	Processes *host.Processes
	Drain     func(why error) // ends what Run was given as draining
	Log       func(format string, args ...any)

	client client.Client
	dir    string // of what is at work
}

// longestDrain is how long a draining worker waits for its attempts: longer than any may take.
const longestDrain = longestAttempt + spare

// ErrDrain is why a worker drains when it was asked to.
var ErrDrain = errors.New("drains")

// Run serves until draining ends, which Drain has it do, and then until what is at work has ended. When ctx ends, attempts are stopped.
//
// A worker that was killed has left the processes of its attempts behind: Run goes on with them.
func (w *Worker) Run(ctx, draining context.Context, m *settings.Machines) (err error) {
	w.dir = w.Processes.Folder(w.Name)
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(w.dir, "worker.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return &attempts.RefusedError{Reason: "a worker is running in this home folder", Hint: "stop it, or give this one a HOME of its own"}
	}
	left, err := heldIn(w.dir)
	if err != nil {
		return err
	}
	hostname, _ := os.Hostname()
	w.client, err = Dial(draining, m.Temporal, longestDrain, fmt.Sprintf("%s on %s", w.Name, hostname))
	switch {
	case err != nil && draining.Err() != nil:
		return nil // nothing is at work
	case err != nil:
		return err
	}
	defer w.client.Close()
	var going sync.WaitGroup
	defer going.Wait()
	for _, h := range left {
		w.Log("%s: goes on with %s", w.Name, h.ID)
		going.Go(func() { w.carry(ctx, h) })
	}
	return w.serve(ctx, draining)
}

// serve has the server give orders to carry out.
func (w *Worker) serve(ctx, draining context.Context) error {
	var orders, questions worker.Worker
	for { // the SDK starts a worker only once
		orders, questions = w.orders(ctx), answerer(w)
		err := questions.Start() // first, as it takes no orders
		if err == nil {
			err = orders.Start()
		}
		if err == nil {
			break
		}
		questions.Stop()
		if draining.Err() != nil {
			return nil //nolint:nilerr // nothing is at work
		}
		w.Log("%s: the server is away: %v", w.Name, err)
		pause(draining, retryEvery)
	}
	_ = cancel(ctx, drained(w.client, w.Name)) // where nothing is to cancel, the host has not drained
	w.Log("%s: ready for %d at a time", w.Name, w.Jobs)
	for pause(draining, w.Beat) { // the server may have been away, and another worker of this name may drain
		_ = cancel(ctx, drained(w.client, w.Name))
	}
	why := context.Cause(draining)
	// The host has drained also if a second signal ends ctx. If the server is away, orders wait for a worker.
	_, _ = w.client.ExecuteActivity(context.WithoutCancel(ctx), client.StartActivityOptions{
		ID: drainedOf(w.Name), TaskQueue: drainedOf(w.Name), ScheduleToCloseTimeout: longestAttempt,
	}, activityName)
	w.Log("%s: %v: takes nothing new, and ends when what runs has ended", w.Name, why)
	orders.Stop()
	questions.Stop()
	if !errors.Is(why, ErrDrain) {
		return fmt.Errorf("the Temporal server does not serve this worker: %w", why)
	}
	return nil
}

// orders returns what takes orders from the server.
func (w *Worker) orders(ctx context.Context) worker.Worker {
	of := worker.New(w.client, queueOf(w.Name), worker.Options{
		MaxConcurrentActivityExecutionSize: w.Jobs, DisableWorkflowWorker: true, WorkerStopTimeout: longestDrain, OnFatalError: w.Drain,
	})
	of.RegisterActivityWithOptions(func(in context.Context, message []byte) (*answer, error) {
		about := activity.GetInfo(in)
		w.carry(ctx, held{ID: about.ActivityID, Token: about.TaskToken, Message: message, Heartbeat: about.HeartbeatTimeout})
		return nil, activity.ErrResultPending
	}, activity.RegisterOptions{Name: activityName})
	return of
}
