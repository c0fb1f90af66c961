package epic

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got:\n%s\nwant %s:\n%s", got, path, want)
	}
}

func loadTest(t *testing.T, path string) (*Epic, *Graph) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Read(path, src)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return e, g
}

func TestWrite(t *testing.T) {
	t.Parallel()
	e, g := loadTest(t, "testdata/full.yml")
	for format, file := range map[string]string{"text": "full.txt", "mermaid": "full.mmd", "dot": "full.dot"} {
		var out bytes.Buffer
		if err := g.Write(&out, e, format, nil); err != nil {
			t.Fatal(err)
		}
		golden(t, file, out.Bytes())
	}
	if err := g.Write(&bytes.Buffer{}, e, "svg", nil); err == nil || err.Error() != `graph format "svg" is not known: use text, mermaid, dot` {
		t.Errorf("unknown format: %v", err)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	e, _ := loadTest(t, "testdata/full.yml")
	text, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "full.encoded.yml", text)
	again(t, e)
}

// TestWriteHostile checks that a title stays inside its label, in every format.
func TestWriteHostile(t *testing.T) {
	t.Parallel()
	e := &Epic{Version: 2, ID: "20260111-x", Title: "\x1b[31mred\u202e", Tasks: []Task{
		{ID: "end", Title: "\"]; t9[\"`x` <b>#34; \\\" \x1b]8;;http://x\a"},
		{ID: "graph", Title: "\"; rm [x=\"", DependsOn: []string{"end"}},
	}}
	g, err := NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats {
		var out bytes.Buffer
		if err := g.Write(&out, e, format, nil); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\a\u202e") {
			t.Errorf("%s: control characters in %q", format, out.String())
		}
		golden(t, "hostile."+format, out.Bytes())
	}
}

// Graphviz reads entities in labels.
func TestDotText(t *testing.T) {
	t.Parallel()
	if got, want := dotText(`a "b" \n R&amp;D`), `"a \"b\" \\n R&amp;amp;D"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
