package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/machines"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/orchestrator/engine"
)

// Jobs has hosts carry orders out by way of a Temporal server.
type Jobs struct {
	Client   client.Client
	Settings *settings.Temporal
	Patience time.Duration // with a server that is out of reach
	Grace    time.Duration // that a host has to end an attempt when it is asked to, with what it pushes then
}

// activityName is what orders are on the server.
const activityName = "attempt"

// Types of the failures that a host reports.
const (
	refusedType = "refused"
	unknownType = "unknown"
)

// spare is what an attempt may take beside its agent: checkouts, checks, reviews, and a repository that is out of reach.
const spare = 12 * time.Hour

// longestAttempt is the limit of an attempt whose agent has none.
const longestAttempt = 30 * 24 * time.Hour

func queueOf(host string) string { return "relay." + host }

// Do implements [machines.Jobs].
func (j *Jobs) Do(
	ctx context.Context, host string, id order.ID, message []byte, tell func(engine.Event),
) (result []byte, err error) {
	of := j.Client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: id.String()})
	if message != nil {
		if of, err = j.start(ctx, host, id, message); err != nil {
			return nil, err
		}
	}
	return j.follow(ctx, of, &reader{tell: tell})
}

// drainedOf names the activity, in a queue of its own, that is there from when a worker drains until one begins again.
func drainedOf(host string) string { return queueOf(host) + ".drained" }

func drained(c client.Client, host string) client.ActivityHandle {
	return c.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: drainedOf(host)})
}

// Drained implements [machines.Jobs].
func (j *Jobs) Drained(ctx context.Context, host string) bool {
	_, ended, err := look(ctx, drained(j.Client, host))
	return err == nil && !ended
}

// start gives the order to the server, once: one that the server has is attached to.
func (j *Jobs) start(ctx context.Context, host string, id order.ID, message []byte) (client.ActivityHandle, error) {
	o, err := order.Decode[order.Order](message)
	if err != nil {
		return nil, err
	}
	limit := longestAttempt
	if o.Wall > 0 {
		limit = o.Wall + spare
	}
	options := client.StartActivityOptions{
		ID: id.String(), TaskQueue: queueOf(host), HeartbeatTimeout: j.Settings.Heartbeat,
		ScheduleToStartTimeout: j.Settings.Queue, StartToCloseTimeout: limit,
		ActivityIDReusePolicy: enums.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE,
		RetryPolicy:           &temporal.RetryPolicy{MaximumAttempts: 1}, // who decides tries again, elsewhere
	}
	end := time.Now().Add(j.Patience)
	for {
		of, err := j.Client.ExecuteActivity(ctx, options, activityName, message)
		if err == nil {
			return of, nil
		}
		if _, ok := errors.AsType[*serviceerror.ActivityExecutionAlreadyStarted](err); ok {
			return j.Client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: id.String()}), nil
		}
		err = explain(err, client.Options{HostPort: j.Settings.Address, Namespace: j.Settings.Namespace})
		_, refused := errors.AsType[*attempts.RefusedError](err)
		switch {
		case refused:
			return nil, err
		case ctx.Err() != nil, !time.Now().Before(end), isLasting(err):
			return nil, fmt.Errorf("%w: the order was not given to the Temporal server, as far as is known: %w", machines.ErrUnknown, err)
		}
		pause(ctx, retryEvery)
	}
}

// outcome is what came of an attempt.
type outcome struct {
	answer answer
	err    error
}

// follow waits for the result, and tells what is heard meanwhile.
func (j *Jobs) follow(ctx context.Context, of client.ActivityHandle, news *reader) ([]byte, error) {
	detached, end := context.WithCancel(context.WithoutCancel(ctx))
	got := make(chan outcome, 2)
	ask := func() { got <- wait(detached, of) }
	go ask()
	defer end()
	tick := time.NewTicker(j.Settings.Beat)
	defer tick.Stop()
	heard, stop, asked, taken, over := time.Now(), ctx.Done(), time.Time{}, false, false
	for {
		select {
		case o := <-got:
			news.read(o.answer.News)
			return o.answer.Result, o.err
		case <-stop:
			stop, asked = nil, time.Now()
		case <-tick.C:
			list, ended, err := look(detached, of)
			if err == nil {
				heard = time.Now()
				news.read(list)
			}
			if ended && !over { // a call that has waited since before a restart of the server may wait on
				over = true
				go ask()
			}
		}
		if !asked.IsZero() && !taken {
			taken = cancel(detached, of) == nil
		}
		switch {
		case time.Since(heard) > j.Patience:
			return nil, fmt.Errorf("%w: the Temporal server is out of reach for %s", machines.ErrUnknown, j.Patience)
		case !asked.IsZero() && time.Since(asked) > j.Grace+j.Settings.Heartbeat:
			return nil, fmt.Errorf("%w: it did not stop", machines.ErrUnknown)
		}
	}
}

// wait waits for the end of an attempt, also of one whose server is away meanwhile.
func wait(ctx context.Context, of client.ActivityHandle) (o outcome) {
	for {
		err := of.Get(ctx, &o.answer)
		if err == nil || ctx.Err() != nil || isLasting(err) {
			o.err = meaning(err)
			return o
		}
		pause(ctx, retryEvery)
	}
}

// isLasting reports whether an error stays when the call is made again.
func isLasting(err error) bool {
	switch err.(type) { //nolint:errorlint // an error of another attempt may be in one of the server
	case *temporal.TimeoutError, *temporal.ApplicationError, *temporal.CanceledError, *temporal.TerminatedError, *temporal.PanicError,
		*serviceerror.NotFound, *serviceerror.NamespaceNotFound, *serviceerror.PermissionDenied, *serviceerror.InvalidArgument,
		*serviceerror.Unimplemented:
		return true
	}
	return false
}

// meaning returns an error of [machines.Jobs] for one of the server.
func meaning(err error) error {
	if err == nil {
		return nil
	}
	what := machines.ErrUnknown
	late, timedOut := errors.AsType[*temporal.TimeoutError](err)
	failed, reported := errors.AsType[*temporal.ApplicationError](err)
	_, canceled := errors.AsType[*temporal.CanceledError](err)
	switch {
	case timedOut && late.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START:
		return fmt.Errorf("%w: no worker of it has taken the order: is relay-temporal worker running there?", machines.ErrRefused)
	case timedOut && late.TimeoutType() == enums.TIMEOUT_TYPE_HEARTBEAT:
		return fmt.Errorf("%w: no heartbeat came", what)
	case reported && failed.Type() == refusedType:
		return fmt.Errorf("%w: %s", machines.ErrRefused, failed.Message())
	case reported:
		return fmt.Errorf("%w: %s", what, failed.Message())
	case canceled:
		return fmt.Errorf("%w: stopped before a worker has taken the order", machines.ErrRefused)
	}
	return fmt.Errorf("%w: %w", what, err)
}

// look asks for the details of the last beat, and whether the attempt has ended.
func look(ctx context.Context, of client.ActivityHandle) (list []item, ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	is, err := of.Describe(ctx, client.DescribeActivityOptions{IncludeHeartbeatDetails: true})
	if err == nil && is.HasHeartbeatDetails() {
		err = is.GetHeartbeatDetails(&list)
	}
	return list, err == nil && is.Status != enums.ACTIVITY_EXECUTION_STATUS_RUNNING, err
}

func cancel(ctx context.Context, of client.ActivityHandle) error {
	ctx, end := context.WithTimeout(ctx, callWithin)
	defer end()
	return of.Cancel(ctx, client.CancelActivityOptions{Reason: "who decides stops it"})
}
