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
	"regexp"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

var update = flag.Bool("update", false, "write the goldens")

// plan makes a graph of n tasks: each depends on a few of those a little before it.
func plan(n int) *view.Graph {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	g := &view.Graph{}
	for i := range n {
		node := view.Node{ID: fmt.Sprintf("T%d", i+1), State: view.Done, Deps: []int{}}
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
		g.Nodes = append(g.Nodes, node)
	}
	return g
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	golden := func(name, drawn string) {
		file := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(drawn), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if drawn != string(want) {
			t.Errorf("%s differs: go test ./orchestrator/picture -update", file)
		}
	}
	for _, n := range []int{5, 40, 400} {
		night := viewtest.Of(t, n)
		b := night.Builder()
		golden(fmt.Sprintf("graph-%d", n), Graph(b.Graph(night.Now), Options{File: true}))
		golden(fmt.Sprintf("timeline-%d", n), Timeline(b.Timeline(night.Now), Options{File: true}))
		golden(fmt.Sprintf("page-%d", n), Graph(b.Graph(night.Now), Options{})+Timeline(b.Timeline(night.Now), Options{Zone: time.FixedZone("x", 3600)}))
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
		g := plan(n)
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
	g := plan(149)
	for b.Loop() {
		Graph(g, Options{})
	}
}

// Of attempts that share a pixel the first is drawn, and one that failed.
func TestTimelineInOnePixel(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	line := &view.Timeline{Jobs: 1, From: began, To: began.Add(10 * time.Hour)}
	for i := range 20 {
		from := began.Add(time.Hour + time.Duration(i)*time.Second)
		line.Spans = append(line.Spans, view.Span{Kind: view.SpanAttempt, Job: 1, Task: fmt.Sprint("T", i), From: from, To: from.Add(time.Second)})
	}
	line.Spans[7].Result = attempts.ResultFailure
	got := regexp.MustCompile(`href="#T(\d+)"`).FindAllStringSubmatch(Timeline(line, Options{}), -1)
	if len(got) != 2 || got[0][1] != "0" || got[1][1] != "7" {
		t.Errorf("it draws %v, want T0 and T7", got)
	}
}
