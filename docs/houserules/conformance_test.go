package houserules

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const (
	conformance     = "docs/conformance.md"
	conformanceHead = `# Conformance

relay keeps formats that other projects have published, in five documents. Each row has a statement of one of them, in the words of this
project, and the tests that show it. "Differs" means that relay does something else on purpose. The page is generated from
docs/conformance: ` + "`go test ./docs/houserules -run TestConformance -update`" + `.

| document | statements | works | in part | missing | differs |
|---|---|---|---|---|---|
`
)

var verdicts = []string{"works", "in part", "missing", "differs"}

// document lists the statements of one source document, in a file of docs/conformance.
type document struct {
	Title, Letter string // the letter begins the numbers of its statements
	Parts         []struct {
		Title      string
		Statements []statement
	}
}

// statement is a sentence that tests can show. An empty verdict means that it works; any other has a reason.
type statement struct {
	Says, Verdict, Why string
	Shown              []string // script/records, attempts/sessions.TestSchema or, of a file, .ci/formats
}

// exhibits finds what statements name.
type exhibits map[string]bool

func (e exhibits) find(name string) (text string, ok bool) {
	file := name
	if script, ok := strings.CutPrefix(name, "script/"); ok {
		file = "cmd/relay/testdata/script/" + script + ".txtar"
		name = "[" + script + "](../" + file + ")"
	} else {
		name = "`" + name + "`"
	}
	info, err := os.Stat(path.Join(root, file))
	return name, e[file] || err == nil && info.Mode().IsRegular()
}

// row returns the line of a statement in the page, and what is wrong with the statement.
func (e exhibits) row(number string, s statement) (row string, problems []string) {
	fault := func(is bool, problem string) {
		if is {
			problems = append(problems, problem)
		}
	}
	var shown []string
	for _, name := range s.Shown {
		text, ok := e.find(name)
		fault(!ok, "there is no "+name)
		shown = append(shown, text)
	}
	works := s.Verdict == "works"
	fault(!slices.Contains(verdicts, s.Verdict), "its verdict is one of "+strings.Join(verdicts, ", "))
	fault(works != (s.Why == ""), "it has a reason exactly when it does not work")
	fault(len(shown) == 0 && (works || s.Verdict == "in part"), "it names no test")
	fault(!strings.HasSuffix(s.Says, ".") || strings.ContainsAny(s.Says+s.Why, "|\n"), "it is not a sentence on one line")
	verdict := strings.TrimSuffix(s.Verdict+": "+s.Why, ": ")
	return fmt.Sprintf("| %s | %s | %s | %s |\n", number, s.Says, verdict, strings.Join(shown, ", ")), problems
}

// The page of statements is written from docs/conformance. Each statement names tests that exist.
func TestConformance(t *testing.T) {
	t.Parallel()
	now := readNow(t)
	tests := exhibits{}
	for name, text := range now {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		_, file := parse(t, name, text)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[path.Dir(name)+"."+f.Name.Name] = true
			}
		}
	}
	page, tables := conformanceHead, ""
	sums := make([]int, 1+len(verdicts))
	for _, d := range readDocuments(t) {
		counts := make([]int, len(sums))
		tables += "\n## " + d.Title + "\n"
		for _, part := range d.Parts {
			tables += "\n### " + part.Title + "\n\n| | statement | verdict | shown by |\n|---|---|---|---|\n"
			for _, s := range part.Statements {
				s.Verdict = cmp.Or(s.Verdict, verdicts[0])
				counts[0]++
				if v := slices.Index(verdicts, s.Verdict); v >= 0 {
					counts[1+v]++
				}
				row, problems := tests.row(fmt.Sprint(d.Letter, counts[0]), s)
				tables += row
				for _, p := range problems {
					t.Errorf("%s%d: %s %s", d.Letter, counts[0], s.Says, p)
				}
			}
		}
		page += countRow(d.Title, counts)
		for i, n := range counts {
			sums[i] += n
		}
	}
	page += countRow("all", sums) + tables
	if *update {
		if err := os.WriteFile(path.Join(root, conformance), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if now[conformance] != page {
		t.Errorf("%s differs from docs/conformance: go test ./docs/houserules -run TestConformance -update", conformance)
	}
}

func countRow(title string, counts []int) string {
	cells := strings.Trim(fmt.Sprint(counts), "[]")
	return "| " + title + " | " + strings.ReplaceAll(cells, " ", " | ") + " |\n"
}

func readDocuments(t *testing.T) (list []document) {
	t.Helper()
	names, err := filepath.Glob(path.Join(root, "docs/conformance/*.yml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d document
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(&d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, d)
	}
	return list
}
