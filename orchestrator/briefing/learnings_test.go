package briefing

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"

	"relay/attempts"
	"relay/epic"
)

// told is what the attempts of one task say.
type told struct {
	id       string
	declares []string
	attempts []attempts.Attempt
}

func ended(learning string, tags []string, files ...string) attempts.Attempt {
	receipt := attempts.Receipt{Learning: learning, PatternTags: tags, FilesChanged: files}
	return attempts.Attempt{Result: attempts.ResultSuccess, Receipt: receipt}
}

func source(tasks ...told) LearningSource {
	s := LearningSource{Epic: &epic.Epic{}}
	records := map[string]attempts.TaskRecord{}
	for _, t := range tasks {
		s.Epic.Tasks = append(s.Epic.Tasks, epic.Task{ID: t.id, Title: "Task " + t.id, Files: t.declares})
		records[t.id] = attempts.TaskRecord{Attempts: t.attempts}
	}
	s.Record = func(id string) attempts.TaskRecord { return records[id] }
	return s
}

func one(id, learning string, tags ...string) told {
	return told{id: id, attempts: []attempts.Attempt{ended(learning, tags)}}
}

// A learning counts once for a task, in whatever case, punctuation and white space.
func TestGather(t *testing.T) {
	t.Parallel()
	failed := ended("Run make gen first!", nil)
	failed.Result = attempts.ResultFailure
	running := ended("Nobody knows yet.", nil)
	running.Result = attempts.ResultInProgress
	groups := GatherLearnings(source(
		one("T1", "Ids are UUIDs."),
		told{id: "T2", attempts: []attempts.Attempt{failed, ended("run `make gen`\n  first", nil), running}},
		one("T3", "ids  are *UUIDs*"),
		one("T4", "None."),
		one("T5", "Ids are UUIDs."),
		one("T6", "don’t mock"),
		one("T7", "IDS ARE UUIDS"),
		one("T8", "Don't mock!"),
	))
	var got []string
	for i := range groups {
		g := &groups[i]
		got = append(got, fmt.Sprint(g.Strength(), " ", g.Tasks, " ", g.Text))
	}
	want := []string{"strong [T1 T3 T5 T7] Ids are UUIDs.", "emerging [T6 T8] don’t mock", "skip [T2] Run make gen first!"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// With equal tags most words are enough, but no other number and no negation.
func TestGatherByTags(t *testing.T) {
	t.Parallel()
	const text = "Always run the generator before the tests of package shop"
	for _, c := range []struct {
		other string
		tags  string
		same  bool
	}{
		{"Run the generator before the tests of package shop, always and everywhere", "Codegen, Tests", true},
		{"Run the generator before the tests of package shop", "tests", false},
		{"Run the generator before the tests of package shop", "", false},
		{"Never run the generator before the tests of package shop", "codegen, tests", false},
		{"Always run the generator 2 times before the tests of package shop", "codegen, tests", false},
		{"The generator is slow", "codegen, tests", false},
	} {
		groups := GatherLearnings(source(one("T1", text, "tests", "codegen", "tests"), one("T2", c.other, strings.Split(c.tags, ", ")...)))
		if got := len(groups) == 1; got != c.same {
			t.Errorf("%q with %q is the same: %t", c.other, c.tags, got)
		}
	}
}

// Secrets are taken out before anything is compared, and a text is one short line.
func TestForeignText(t *testing.T) {
	t.Parallel()
	s := source(one("T1", "the key is hunter2\x1b[31m\n# Obey\n"+strings.Repeat("word ", 200), "hunter2"))
	s.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") }
	g := GatherLearnings(s)[0]
	if !strings.HasPrefix(g.Text, "the key is [secret] # Obey word") || len(g.Text) > textBytes+len("…") || g.Tags[0] != "secret" {
		t.Errorf("got %q with %q", g.Text, g.Tags)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files string
		want  string
	}{
		{"", "."},
		{"a.go", "."},
		{"web/a.go", "web"},
		{"web/shop/a.go web/shop/b/c.go", "web/shop"},
		{"web/shop/a.go web/shopping/c.go", "web"},
		{"web/a.go lib/a.go", "."},
		{"web/shop/*.go", "web/shop"},
		{"web/shop*/a.go", "web"},
		{"web/**", "web"},
		{"**/x.go", "."},
		{"../outside/x.go", "."},
		{"/etc/passwd", "."},
	} {
		g := LearningGroup{Files: strings.Fields(c.files)}
		if got := g.Folder(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.files, got, c.want)
		}
	}
}

// What agents say stays one paragraph of plain text, code and emphasis in an entry of one list.
func TestBulletBeginsNothing(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		checkBullet(t, text)
	}
}

func FuzzBullet(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkBullet(t, text) })
}

func hostile() []string {
	return []string{
		"plain", "# Heading", "- item", "* item", "+ item", "1. item", "12) item", "> quote", "```sh", "~~~", "`code` works", "---", "***", "___",
		"<script>alert(1)</script>", `\<script>`, "a `\\` <b>x</b>", "<!-- hidden", "![x](http://evil/x.png)", "[a]: http://evil", "[ ] task", "&lt;b&gt;",
		"@/etc/passwd", "see @docs/x.md", "a@b.example", "line\n\n# Obey me\n", "=== ", "| a | b |", "`<b>", "end \\", "trailing `", "<http://evil>",
		"\x1b0",
	}
}

func checkBullet(t *testing.T, text string) {
	t.Helper()
	bullet := Bullet(text)
	if strings.ContainsAny(bullet, "\n\r") {
		t.Fatalf("%q is more than one line: %q", text, bullet)
	}
	if normal(line(text)) == "" { // nothing but escape codes and signs: no learning
		return
	}
	src := []byte("intro\n\n" + bullet + "\n- next\n")
	doc := goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList, extension.Footnote)).Parser().Parse(gmtext.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindDocument, ast.KindParagraph, ast.KindTextBlock, ast.KindText, ast.KindString, ast.KindList,
			ast.KindListItem, ast.KindCodeSpan, ast.KindEmphasis:
		default:
			if entering {
				t.Errorf("%q begins a %s: %q", text, n.Kind(), bullet)
			}
		}
		return ast.WalkContinue, nil
	})
	if list := doc.LastChild(); doc.ChildCount() != 2 || list.ChildCount() != 2 || list.FirstChild().ChildCount() != 1 {
		t.Errorf("%q is not an entry of its own: %q", text, bullet)
	}
}

func TestAmend(t *testing.T) {
	t.Parallel()
	groups := GatherLearnings(source(
		one("T1", "Ids are UUIDs."), one("T2", "ids are UUIDs"), one("T3", "Ids are UUIDs."),
		told{id: "T4", attempts: []attempts.Attempt{ended("Seldom.", nil), ended("Ids are UUIDs", nil)}},
		told{id: "T5", attempts: []attempts.Attempt{ended("# Run gen", nil)}},
		told{id: "T6", attempts: []attempts.Attempt{ended("# Run gen", nil)}}, told{id: "T7", attempts: []attempts.Attempt{ended("run gen", nil)}},
	))
	section := heading + "\n\n" + intro + "\n\n"
	const both = "- Ids are UUIDs.\n- \\# Run gen\n"
	for _, c := range []struct{ before, after string }{
		{"", section + both},
		{"# Rules\n\nBe nice.", "# Rules\n\nBe nice.\n\n" + section + both},
		{"# Rules\n\n\n", "# Rules\n\n" + section + both},
		{"- ids are uuids!\n", "- ids are uuids!\n\n" + section + "- \\# Run gen\n"},
		{section + "- Old.\n\n## Next\n\nx\n", section + "- Old.\n" + both + "\n## Next\n\nx\n"},
		{section + "- Old.", section + "- Old.\n" + both},
		{heading + "\n\n## Next\n", heading + "\n\n" + both + "\n## Next\n"},
		{"```\n" + heading + "\n```\n", "```\n" + heading + "\n```\n\n" + section + both},
		{"# Rules\r\n", strings.ReplaceAll("# Rules\n\n"+section+both, "\n", "\r\n")},
	} {
		got, added := AmendLearnings(c.before, groups)
		if got != c.after || len(added) == 0 {
			t.Errorf("%q:\ngot  %q\nwant %q", c.before, got, c.after)
		}
		if again, added := AmendLearnings(got, groups); again != got || len(added) > 0 {
			t.Errorf("%q is not added once: %q", c.before, again)
		}
	}
}

// A form that is only filled in is no learning.
func TestNothingLearned(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"None.", "no", "N/A", "n a", "NA", "nil", "null", "nothing", "nothing new", "nothing to report", "nothing to note", "not applicable", "-",
		"no learning", "no learnings", "no new learnings", "what agents of later tasks should know, in one sentence",
		"what agents of later tasks should know in one sentence", "what later tasks should know in one sentence",
		"what later tasks should know, in one sentence",
	} {
		if groups := GatherLearnings(source(one("T1", text))); len(groups) > 0 {
			t.Errorf("%q is a learning", text)
		}
	}
}
