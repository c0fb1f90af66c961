package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
)

// Exporter sends the spans and counts of a run. Its methods never wait, but for Close; those of a nil Exporter do nothing.
type Exporter struct {
	settings  Settings
	client    http.Client
	end, done chan struct{}
	cancel    context.CancelFunc

	mu      sync.Mutex
	tracker *tracker
	lost    int   // spans that were not delivered
	failure error // the last one
}

const (
	mostSpans = 2048 // that wait for the collector; more are dropped
	sendEvery = 10 * time.Second
	flushTime = 5 * time.Second // for all that is left when the run ends
)

// Run is what an exporter sends about.
type Run struct {
	Trace, ID string
	Epic      *epic.Epic
	Relay     string // its version
}

// New returns an exporter for a run, which sends nothing before it is started; nil when the settings send nothing.
func New(s Settings, r Run) *Exporter {
	if s.Traces.URL == "" && s.Metrics.URL == "" {
		return nil
	}
	s.Resource = with(object{"service.version": r.Relay, "service.instance.id": r.ID, "relay.epic": r.Epic.ID}, s.Resource)
	t := &tracker{Run: r, open: map[string]*attempt{}, tasks: map[string]*span{}, sums: sums{}}
	e := &Exporter{settings: s, tracker: t, end: make(chan struct{}), done: make(chan struct{})}
	// A redirect could carry the headers, which are secrets, to another host.
	e.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return e
}

// Start begins to send. It takes the attempts that an earlier run has left under way. Close must be called.
func (e *Exporter) Start(ctx context.Context, l *attempts.Ledger) {
	if e == nil {
		return
	}
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx)) // what is left when the run is stopped is sent, too
	e.tell(func(t *tracker) { t.resume(l) })
	go e.serve(ctx)
}

// Add takes events that are in the log, in order.
func (e *Exporter) Add(events []attempts.Event) {
	for i := range events {
		e.tell(func(t *tracker) { t.event(&events[i]) })
	}
}

// Watch returns a watcher that takes each update before it passes it on.
func (e *Exporter) Watch(next func(decide.Update)) func(decide.Update) {
	if e == nil {
		return next
	}
	return func(u decide.Update) {
		e.tell(func(t *tracker) { t.update(&u) })
		if next != nil {
			next(u)
		}
	}
}

func (e *Exporter) tell(f func(*tracker)) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f(e.tracker)
	if more := len(e.tracker.done) - mostSpans; more > 0 {
		e.lost += more
		e.tracker.done = e.tracker.done[more:]
	}
}

// Close sends what is left, for a few seconds at most, and returns what a person should know: "" when everything was delivered.
func (e *Exporter) Close() string {
	if e == nil {
		return ""
	}
	defer time.AfterFunc(flushTime, e.cancel).Stop()
	close(e.end)
	<-e.done
	e.cancel()
	e.client.CloseIdleConnections()
	lost := e.lost + len(e.tracker.done)
	said := "telemetry: " + plaintext.Count(lost, "span") + " not delivered"
	switch {
	case e.failure != nil:
		return said + ", the last error: " + e.failure.Error()
	case lost > 0:
		return said
	}
	return ""
}

func (e *Exporter) serve(ctx context.Context) {
	defer close(e.done)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-e.end:
			over = true
		}
		e.send(ctx)
	}
}

// send posts the spans that have ended and the counts so far. Spans that the collector may take later stay.
func (e *Exporter) send(ctx context.Context) {
	e.mu.Lock()
	spans, metrics := e.tracker.done, e.tracker.metrics(time.Now())
	e.tracker.done = nil
	e.mu.Unlock()
	again, err := e.post(ctx, &e.settings.Traces, "Spans", spans)
	_, other := e.post(ctx, &e.settings.Metrics, "Metrics", metrics)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failure = cmp.Or(err, other)
	switch {
	case again:
		e.tracker.done = append(spans, e.tracker.done...)
	case err != nil:
		e.lost += len(spans)
	}
}

// post sends Spans or Metrics, and reports after an error whether they may be sent again.
func (e *Exporter) post(ctx context.Context, to *Endpoint, kind string, items []object) (again bool, err error) {
	if to.URL == "" || len(items) == 0 {
		return false, nil
	}
	scope := object{"scope": object{"name": "relay", "version": e.tracker.Relay}, strings.ToLower(kind): items}
	resource := object{"resource": object{"attributes": facts(e.settings.Resource)}, "scope" + kind: []object{scope}}
	body, err := json.Marshal(object{"resource" + kind: []object{resource}})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, to.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	maps.Copy(request.Header, to.Headers)
	request.Header.Set("Content-Type", "application/json")
	answer, err := e.client.Do(request)
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return true, wrapped.Err // without the address, which may have a key in it
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	again = answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests
	return again, errors.New("the collector answers " + answer.Status)
}
