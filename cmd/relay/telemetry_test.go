package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// collector is an OpenTelemetry collector on this machine, as far as a run sees one.
type collector struct {
	mu      sync.Mutex
	spans   []collected
	metrics bytes.Buffer
}

type collected struct {
	Trace, Span, Parent, Name, Start string
	Facts                            string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Authorization") != "Bearer let me in" || r.Header.Get("Content-Type") != "application/json" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/v1/metrics" {
		c.metrics.Write(append(body, '\n'))
		return
	}
	var sent struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano string

					Attributes, Status json.RawMessage
				}
			}
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, s := range sent.ResourceSpans[0].ScopeSpans[0].Spans {
		facts := string(s.Attributes) + string(s.Status)
		c.spans = append(c.spans, collected{s.TraceID, s.SpanID, s.ParentSpanID, s.Name, s.StartTimeUnixNano, facts})
	}
}

// collect starts a collector that works, hangs, fails or is absent, and names it to relay: collect hangs.
func collect(ts *testscript.TestScript, _ bool, args []string) {
	c := &collector{}
	over := make(chan struct{})
	handler := map[string]http.Handler{
		"works": c,
		"hangs": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }),
		"fails": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }),
	}[args[0]]
	server := httptest.NewServer(handler)
	ts.Defer(server.Close)
	ts.Defer(func() { close(over) })
	if handler == nil { // absent
		server.Close()
	}
	ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	ts.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20let%20me%20in")
	collectors.Store(ts.Getenv("WORK"), c)
}

var collectors sync.Map // by script

// spans writes the tree of spans that the collector has to FILE, and all that it was sent to FILE.raw: spans FILE.
func spans(ts *testscript.TestScript, _ bool, args []string) {
	found, _ := collectors.Load(ts.Getenv("WORK"))
	c := found.(*collector)
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(c.spans, func(a, b collected) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Name, b.Name)) })
	known, traces := map[string]bool{}, map[string]bool{}
	for _, s := range c.spans {
		known[s.Span], traces[s.Trace] = true, true
	}
	var tree func(w io.Writer, parent string, deep int)
	tree = func(w io.Writer, parent string, deep int) {
		for _, s := range c.spans {
			if s.Parent == parent || parent == "" && !known[s.Parent] {
				mark := ""
				if strings.Contains(s.Facts, `"code":2`) {
					mark = " !"
				}
				fmt.Fprintf(w, "%s%s%s\n", strings.Repeat("  ", deep), s.Name, mark)
				tree(w, s.Span, deep+1)
			}
		}
	}
	var out, raw bytes.Buffer
	fmt.Fprintln(&out, "traces:", len(traces))
	tree(&out, "", 0)
	for _, s := range c.spans {
		fmt.Fprintln(&raw, s.Name, "00-"+s.Trace+"-"+s.Span+"-01", s.Facts)
	}
	raw.Write(c.metrics.Bytes())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".raw"), raw.Bytes(), 0o644))
}
