package picture

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/view"
)

var update = flag.Bool("update", false, "write the goldens")

// plan makes a graph of n tasks, as the view makes it: each depends on a few of those a little before it.
func plan(n, perSection int) *view.Graph {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	g := &view.Graph{}
	states := []view.State{view.Done, view.Done, view.Done, view.Done, view.Done, view.Look, view.Gated, view.Asks, view.Running, view.Blocked}
	for i := range n {
		node := view.Node{ID: fmt.Sprintf("T%d", i+1), Title: fmt.Sprintf("Task <%d> & \"more\"", i+1), State: states[random.IntN(len(states))], Deps: []int{}}
		for d := max(0, i-9); d < i; d++ {
			if random.IntN(6) == 0 && i > 3 {
				node.Deps = append(node.Deps, d)
			}
		}
		if len(node.Deps) == 0 && i > 3 && i%7 != 0 {
			node.Deps = append(node.Deps, i-3)
		}
		for _, d := range node.Deps {
			node.Level = max(node.Level, g.Nodes[d].Level+1)
		}
		g.Levels = max(g.Levels, node.Level+1)
		if perSection > 0 {
			node.Section = fmt.Sprintf("Part %d of the whole plan", i/perSection+1)
		}
		g.Nodes = append(g.Nodes, node)
		if k := i / max(perSection, 1); perSection > 0 {
			if k == len(g.Sections) {
				s := view.Section{Name: node.Section, Counts: view.Counts{}}
				for back := 1; back <= 2 && k-back*back >= 0; back++ {
					s.Deps = append(s.Deps, k-back*back)
				}
				g.Sections = append(g.Sections, s)
			}
			g.Sections[k].Tasks = append(g.Sections[k].Tasks, i)
			g.Sections[k].Counts[node.State]++
		}
	}
	for i := n - 1; ; { // a path through the whole
		g.Nodes[i].Critical = true
		g.Critical = append([]int{i}, g.Critical...)
		if len(g.Nodes[i].Deps) == 0 {
			break
		}
		i = g.Nodes[i].Deps[0]
	}
	return g
}

// night makes a timeline of n attempts in three jobs.
func night(n int) *view.Timeline {
	random := rand.New(rand.NewPCG(2, uint64(n)))
	began := time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC)
	t := &view.Timeline{Jobs: 3, From: began}
	free := []time.Time{began, began, began}
	for i := range n {
		job := i % 3
		at := func(minutes int) time.Time {
			free[job] = free[job].Add(time.Duration(minutes) * time.Minute * 40 / time.Duration(n))
			return free[job]
		}
		s := view.Span{Job: job + 1, Task: fmt.Sprintf("T%d", i+1), Attempt: 1, Agent: []string{"claude", "codex", "gemini"}[random.IntN(3)]}
		put := func(kind view.SpanKind, minutes int, r attempts.Result) {
			one := s
			one.Kind, one.From, one.Result = kind, at(0), r
			one.To = at(minutes)
			t.Spans = append(t.Spans, one)
			t.To = one.To
		}
		if i >= n-2 {
			one := s
			one.Kind, one.From = view.SpanAttempt, at(0)
			t.Spans = append(t.Spans, one)
			continue
		}
		if random.IntN(8) == 0 {
			put(view.SpanAttempt, 12, attempts.ResultFailure)
			put(view.SpanChecks, 3, attempts.ResultFailure)
			continue
		}
		put(view.SpanAttempt, 10+random.IntN(30), attempts.ResultSuccess)
		put(view.SpanChecks, 2+random.IntN(4), "")
		put(view.SpanReview, 3+random.IntN(4), "")
		put(view.SpanLanding, 1, attempts.ResultSuccess)
	}
	for _, at := range free {
		if at.After(t.To) {
			t.To = at
		}
	}
	t.Spans = append(t.Spans, view.Span{Kind: view.SpanCool, Agent: "claude", From: began.Add(2 * time.Hour), To: began.Add(3 * time.Hour), Why: "usage limit <b>"})
	t.To = t.To.Add(20 * time.Minute)
	return t
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	for name, drawn := range map[string]string{
		"graph-5":      Graph(plan(5, 0), Options{File: true}),
		"graph-40":     Graph(plan(40, 0), Options{File: true}),
		"graph-400":    Graph(plan(400, 25), Options{File: true}),
		"timeline-5":   Timeline(night(5), Options{File: true}),
		"timeline-40":  Timeline(night(40), Options{File: true}),
		"timeline-400": Timeline(night(400), Options{File: true}),
		"page-5":       Graph(plan(5, 0), Options{}) + Timeline(night(5), Options{Zone: time.FixedZone("x", 3600)}),
	} {
		file := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(drawn), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if drawn != string(want) {
			t.Errorf("%s differs: go test ./orchestrator/picture -update", file)
		}
	}
}

// Whatever a plan says, its picture is XML, with the text where text belongs.
func TestText(t *testing.T) {
	t.Parallel()
	const evil = "</title><script>alert(1)</script>\x1b[2J\x00\xff\" onload=\"x'&#0;"
	g := &view.Graph{Levels: 1, Nodes: []view.Node{{ID: evil, Title: evil, State: view.Done, Critical: true}}, Critical: []int{0}}
	line := &view.Timeline{Jobs: 1, From: time.Unix(0, 0), To: time.Unix(9000, 0), Spans: []view.Span{
		{Kind: view.SpanAttempt, Job: 1, Task: evil, Agent: evil, From: time.Unix(0, 0), To: time.Unix(9000, 0)},
		{Kind: view.SpanWait, Agent: evil, Why: evil, From: time.Unix(0, 0)},
	}}
	file := Options{File: true}
	for _, drawn := range []string{Graph(g, Options{}), Graph(g, file), Timeline(line, Options{}), Timeline(line, file)} {
		d := xml.NewDecoder(strings.NewReader(drawn))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, drawn)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if start.Name.Local == "script" {
				t.Error("a script")
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Error("a handler")
				}
			}
		}
	}
}

// No box touches another one, none leaves the picture, and edges go down.
func TestLayout(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 12, 40, 149} {
		g := plan(n, 0)
		boxes := make([]box, n)
		for i := range g.Nodes {
			boxes[i] = box{g.Nodes[i].Level, g.Nodes[i].Deps}
		}
		s := layOut(boxes, 52)
		for _, row := range s.rows {
			end := 0.0
			for _, i := range row {
				if from := s.points[i].x - s.points[i].width/2; from < end-0.01 {
					t.Errorf("%d tasks: a point at %v follows one until %v", n, from, end)
				}
				end = s.points[i].x + s.points[i].width/2
			}
			if end > phone {
				t.Errorf("%d tasks: a row is %v wide", n, end)
			}
		}
		for i := range s.points {
			for _, d := range s.points[i].down {
				if s.points[d].row != s.points[i].row+1 {
					t.Errorf("%d tasks: an edge from row %d to %d", n, s.points[i].row, s.points[d].row)
				}
			}
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	g := plan(149, 0)
	for b.Loop() {
		Graph(g, Options{})
	}
}
