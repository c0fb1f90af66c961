// Package telemetry sends what happens in a run to an OpenTelemetry collector: spans of the run, its tasks, attempts, agents, checks,
// reviews and landings, and counts of tokens, money and outcomes.
//
// It makes them of the events of the log and of the updates that a watcher gets, and sends them as OTLP over HTTP in JSON. It writes the
// protocol itself, as the OpenTelemetry SDK would make the program a fifth larger. A run never waits for the collector: relay drops and
// counts what the collector does not take in time.
package telemetry

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// Settings say where telemetry goes, by the standard variables of OpenTelemetry. The zero value sends none.
type Settings struct {
	Traces, Metrics Endpoint
	Resource        object
	Problems        []string // variables that relay cannot follow, for a person
}

// Endpoint is the address that a signal is posted to. It is off without a URL.
type Endpoint struct {
	URL     string
	Headers http.Header
	Timeout time.Duration
}

// Configure reads the settings from variables of the environment, as lookup returns them.
func Configure(lookup func(name string) string) (s Settings) {
	if strings.EqualFold(lookup("OTEL_SDK_DISABLED"), "true") {
		return s
	}
	s.Resource = object{"service.name": "relay"}
	eachPair(lookup("OTEL_RESOURCE_ATTRIBUTES"), func(name, value string) { s.Resource[name] = value })
	if name := lookup("OTEL_SERVICE_NAME"); name != "" {
		s.Resource["service.name"] = name
	}
	s.Traces = s.endpoint(lookup, "TRACES", "/v1/traces")
	s.Metrics = s.endpoint(lookup, "METRICS", "/v1/metrics")
	return s
}

// endpoint returns where one signal goes: its own variables stand before those for all signals.
func (s *Settings) endpoint(lookup func(string) string, signal, path string) Endpoint {
	value := func(name string) string {
		return cmp.Or(lookup("OTEL_EXPORTER_OTLP_"+signal+"_"+name), lookup("OTEL_EXPORTER_OTLP_"+name))
	}
	e := Endpoint{URL: lookup("OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"), Headers: http.Header{}, Timeout: 10 * time.Second}
	if all := lookup("OTEL_EXPORTER_OTLP_ENDPOINT"); e.URL == "" && all != "" {
		e.URL = strings.TrimSuffix(all, "/") + path
	}
	exporter := cmp.Or(lookup("OTEL_"+signal+"_EXPORTER"), "otlp")
	if e.URL == "" || exporter == "none" {
		return Endpoint{}
	}
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || exporter != "otlp" || value("PROTOCOL") == "grpc" {
		s.Problems = append(s.Problems, "relay sends no "+strings.ToLower(signal)+": for that OTEL_"+signal+"_EXPORTER has to be otlp, "+
			"OTEL_EXPORTER_OTLP_PROTOCOL http/json and the endpoint an http or https URL (port 4318 of most collectors)")
		return Endpoint{}
	}
	if n, err := strconv.Atoi(value("TIMEOUT")); err == nil && n > 0 {
		e.Timeout = time.Duration(n) * time.Millisecond
	}
	eachPair(value("HEADERS"), e.Headers.Add)
	return e
}

// eachPair reads a list of NAME=VALUE with commas between them, where values are encoded as in URLs.
func eachPair(list string, take func(name, value string)) {
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		if plain, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			take(strings.TrimSpace(name), plain)
		}
	}
}

// TraceOf returns the trace of an epic's runs, which the first of them gives its id: a run that goes on where another one ended adds to
// the same trace. dir is the folder of the epic, and run the run that begins. It is "" when no spans are sent.
func (s *Settings) TraceOf(dir, run string) string {
	if s.Traces.URL == "" {
		return ""
	}
	if before, err := os.ReadDir(filepath.Join(dir, attempts.RunsDir)); err == nil && len(before) > 0 {
		run = before[0].Name() // the names begin with the time
	}
	return engine.TraceID(16, "trace", run)
}
