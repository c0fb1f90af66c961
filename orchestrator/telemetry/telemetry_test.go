package telemetry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

func TestConfigure(t *testing.T) {
	t.Parallel()
	const base = "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318/ "
	for _, test := range []struct{ env, traces, metrics, problem string }{
		{"", "", "", ""},
		{base, "http://c:4318/v1/traces", "http://c:4318/v1/metrics", ""},
		{base + "OTEL_SDK_DISABLED=TRUE", "", "", ""},
		{base + "OTEL_METRICS_EXPORTER=none", "http://c:4318/v1/traces", "", ""},
		{base + "OTEL_TRACES_EXPORTER=zipkin OTEL_METRICS_EXPORTER=none", "", "", "relay sends no traces"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://c/x", "https://c/x", "", ""},
		{base + "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://c/x", "https://c/x", "http://c:4318/v1/metrics", ""},
		{base + "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=grpc", "http://c:4318/v1/traces", "", "relay sends no metrics"},
		{base + "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "http://c:4318/v1/traces", "http://c:4318/v1/metrics", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=c:4318", "", "", "relay sends no traces"},
	} {
		s := Configure(lookup(test.env))
		if s.Traces.URL != test.traces || s.Metrics.URL != test.metrics || !strings.HasPrefix(strings.Join(s.Problems, ""), test.problem) ||
			(test.problem == "") != (s.Problems == nil) {
			t.Errorf("%s: got %q, %q, %q", test.env, s.Traces.URL, s.Metrics.URL, s.Problems)
		}
	}
	s := Configure(lookup(base + "OTEL_EXPORTER_OTLP_HEADERS=a=b%20c,x-y=1,bad OTEL_EXPORTER_OTLP_TIMEOUT=250 OTEL_EXPORTER_OTLP_METRICS_TIMEOUT=x " +
		"OTEL_RESOURCE_ATTRIBUTES=team=a%2Cb,service.name=lost OTEL_SERVICE_NAME=night"))
	if got := s.Traces.Headers.Get("A") + s.Traces.Headers.Get("X-Y"); got != "b c1" || s.Traces.Timeout != 250*time.Millisecond {
		t.Errorf("got headers %v, timeout %v", s.Traces.Headers, s.Traces.Timeout)
	}
	if got := fmt.Sprint(s.Resource); got != "map[service.name:night team:a,b]" {
		t.Errorf("got %s", got)
	}
}

func lookup(env string) func(string) string {
	return func(name string) string {
		for entry := range strings.FieldsSeq(env) {
			if key, value, _ := strings.Cut(entry, "="); key == name {
				return value
			}
		}
		return ""
	}
}

var start = time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// tell has a tracker see one attempt that mends its work, in a run that goes on where another one was killed.
func tell(t *tracker) {
	t.resume(&attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{
		"T1": {Attempts: []attempts.Attempt{{ID: 2, Run: "first", StartedAt: at(-60), Result: attempts.ResultInProgress, Runner: "claude"}}},
	}})
	usage := &attempts.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 50, CostUSD: 0.5}
	ended := attempts.Ended{Result: attempts.ResultSuccess, Outcome: attempts.Success, Cause: "proved", Landed: "abc", Usage: usage, Session: "s"}
	ended.Receipt.Checks = []attempts.CheckRun{{Name: "go test", Seconds: 30, Phase: attempts.PhaseTask}}
	t.event(&attempts.Event{Type: attempts.TypeRunStarted, At: at(0), RunStarted: &attempts.RunStarted{Jobs: 2}})
	for minute, u := range []decide.Update{
		{Kind: decide.Checking, Text: "go test"},
		{Kind: decide.Reviewing, Text: "ann"},
		{Kind: decide.Reviewing, Text: "bob"},
		{Kind: decide.Mending},
		{Kind: decide.Verified},
		{Kind: decide.Checking, Text: "go test on the merged tree"},
	} {
		u.Task, u.At = "T1", at(10+minute)
		t.update(&u)
	}
	t.event(&attempts.Event{Type: attempts.TypeBriefed, Task: "T1", Attempt: 2, At: at(5)}) // the log tells late
	t.event(&attempts.Event{Type: attempts.TypeAttemptEnded, Task: "T1", Attempt: 2, At: at(20), Ended: &ended})
	t.event(&attempts.Event{Type: attempts.TypeRunStopped, At: at(30), RunStopped: &attempts.RunStopped{Reason: "epic_complete"}})
}

func TestSpans(t *testing.T) {
	t.Parallel()
	on := Settings{Traces: Endpoint{URL: "http://collector/"}}
	r := Run{Trace: "trace", ID: "second", Epic: &epic.Epic{ID: "e", Tasks: []epic.Task{{ID: "T1", Title: "One"}}}}
	one, other := New(on, r).tracker, New(on, r).tracker
	tell(one)
	tell(other)
	if !reflect.DeepEqual(one.done, other.done) {
		t.Error("the same events make other spans")
	}
	var got []string
	minute := func(v any) string {
		var n int64
		_, _ = fmt.Sscan(v.(string), &n)
		return time.Unix(0, n).Sub(start).String()
	}
	for _, s := range one.done {
		got = append(got, fmt.Sprint(s["name"], " ", minute(s["startTimeUnixNano"]), " ", minute(s["endTimeUnixNano"])))
	}
	want := "attempt T1 -1h0m0s 20m0s; invoke_agent claude 5m0s 10m0s; check go test 10m0s 10m30s; review ann 11m0s 13m0s; review bob 12m0s 13m0s; " +
		"invoke_agent claude 13m0s 14m0s; landing 14m0s 20m0s; check go test on the merged tree 15m0s 15m30s; task T1 -1h0m0s 20m0s; run e 0s 30m0s"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if one.done[0]["spanId"] != engine.AttemptSpan("first", "T1", 2) {
		t.Error("an attempt of an earlier run has another id than its agent was given")
	}
	said, _ := json.Marshal(one.done)
	if n := strings.Count(string(said), "gen_ai.usage.input_tokens"); n != 1 {
		t.Errorf("tokens count %d times", n)
	}
}

// A collector that hangs has the run wait for a few seconds at its end, and never before; memory stays bounded.
func TestHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := New(Settings{Traces: Endpoint{URL: "http://collector/", Timeout: time.Hour}}, Run{Trace: "t", ID: "r", Epic: &epic.Epic{ID: "e"}})
		e.client.Transport = transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		e.Start(t.Context(), &attempts.Ledger{})
		began := time.Now()
		for i := range 3 * mostSpans {
			started := attempts.Event{Type: attempts.TypeAttemptStarted, Task: "T", Attempt: i, Started: &attempts.Started{}}
			ended := attempts.Event{Type: attempts.TypeAttemptEnded, Task: "T", Attempt: i, Ended: &attempts.Ended{Result: attempts.ResultSuccess}}
			e.Add([]attempts.Event{started, ended})
			if i == mostSpans {
				<-time.After(sendEvery) // so that it posts
				synctest.Wait()
			}
		}
		if took := time.Since(began); took != sendEvery {
			t.Errorf("events took %v", took)
		}
		if n := len(e.tracker.done); n > mostSpans {
			t.Errorf("%d spans wait", n)
		}
		said := e.Close()
		if took := time.Since(began); took > sendEvery+flushTime {
			t.Errorf("the run waits until %v", took)
		}
		if !strings.HasPrefix(said, "telemetry: ") || !strings.HasSuffix(said, "not delivered, the last error: context canceled") {
			t.Errorf("said %q", said)
		}
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAgain(t *testing.T) {
	t.Parallel()
	answers, taken := []int{http.StatusServiceUnavailable, http.StatusBadRequest, http.StatusFound, http.StatusOK}, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(answers[taken])
		taken++
	}))
	defer server.Close()
	e := New(Settings{Traces: Endpoint{URL: server.URL, Headers: http.Header{}, Timeout: time.Minute}}, Run{Epic: &epic.Epic{}})
	for i, want := range []struct{ left, lost int }{{1, 0}, {0, 1}, {0, 2}, {0, 2}} {
		if i != 1 {
			e.tell(func(t *tracker) { t.add(&span{id: "i"}) })
		}
		e.send(t.Context())
		if len(e.tracker.done) != want.left || e.lost != want.lost {
			t.Errorf("after answer %d %d spans are left and %d lost", answers[i], len(e.tracker.done), e.lost)
		}
	}
	if taken != len(answers) {
		t.Errorf("%d requests", taken)
	}
}
