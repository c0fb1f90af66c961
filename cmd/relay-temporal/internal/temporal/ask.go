package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"relay/cmd/relay-temporal/internal/order"
)

// questionName is what questions are on the server. They have a queue of their own: a host whose jobs are all at work answers, too.
const questionName = "question"

func questionsOf(host string) string { return queueOf(host) + ".questions" }

// heardWithin is how long a question waits for the worker.
const heardWithin = 10 * time.Second

// Ask implements [machines.Jobs].
func (j *Jobs) Ask(ctx context.Context, host string, question []byte) (said []byte, err error) {
	of, err := j.Client.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: fmt.Sprintf("question.%s.%d", host, time.Now().UnixNano()), TaskQueue: questionsOf(host),
		ScheduleToStartTimeout: heardWithin, StartToCloseTimeout: longestAnswer, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}, questionName, question)
	if err != nil {
		return nil, err
	}
	err = of.Get(ctx, &said)
	if late, ok := errors.AsType[*temporal.TimeoutError](err); ok && late.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START {
		return nil, fmt.Errorf("no worker of it has heard the question within %s", heardWithin)
	}
	return said, err
}

// longestAnswer bounds the work on an answer: who asks waits less.
const longestAnswer = 5 * time.Minute

// answerer returns what answers questions to a worker.
func answerer(w *Worker) worker.Worker {
	of := worker.New(w.client, questionsOf(w.Name), worker.Options{DisableWorkflowWorker: true, WorkerStopTimeout: callWithin})
	of.RegisterActivityWithOptions(func(ctx context.Context, question []byte) ([]byte, error) {
		q, err := order.Decode[order.Question](question)
		a := order.Answer{Version: order.Version, Relay: order.Relay(), Now: time.Now()}
		switch {
		case err == nil && q.What == order.Drain:
			w.Drain(ErrDrain)
		case err == nil && q.What == order.Labels: // a relay that does not ask for them does not know them
			a.Labels = w.Labels
		default:
			return w.Processes.Ask(ctx, w.Name, question)
		}
		return order.Encode(a)
	}, activity.RegisterOptions{Name: questionName})
	return of
}
