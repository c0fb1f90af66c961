package artifact

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/epic/slowtest"

	"gopkg.in/yaml.v3"
)

// byLines reads a key as readers do that know no YAML.
func byLines(text, key string) string {
	for line := range strings.Lines(text) {
		if said, ok := strings.CutPrefix(line, key+":"); ok {
			said = strings.TrimSpace(said)
			return strings.TrimSuffix(strings.TrimPrefix(said, said[:1]), said[:1])
		}
	}
	return ""
}

// hold checks everything that is promised of a file that was written.
func hold(t *testing.T, v *Validator, text string) {
	t.Helper()
	separators := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...") {
			separators++
		}
	}
	front, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n\n")
	if separators != 2 || !ok || !strings.HasPrefix(text, "---\n") || !strings.HasSuffix(text, "\n") || strings.Contains(text, "\r") {
		t.Fatalf("the layout is wrong:\n%s", text)
	}
	var keys, said map[string]any
	if err := yaml.Unmarshal([]byte(front), &keys); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := yaml.Unmarshal([]byte(body), &said); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, part := range []string{front, body} {
		var tree yaml.Node
		if err := yaml.Unmarshal([]byte(part), &tree); err != nil {
			t.Fatal(err)
		}
		alike(t, &tree)
	}
	for key := range maps.Keys(keys) {
		if _, isText := keys[key].(string); !isText || slices.Contains([]string{"goal", "now", "next"}, key) {
			t.Errorf("front matter has %s: %v", key, keys[key])
		}
	}
	for _, key := range []string{"goal", "now"} {
		if got := byLines(text, key); got != said[key] {
			t.Errorf("by lines %s is %q, and %q as YAML", key, got, said[key])
		}
	}
	if problems := v.Validate([]byte(text)); len(problems) > 0 {
		t.Errorf("problems %+v of\n%s", problems, text)
	}
	again, problems, err := Decode([]byte(text))
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v of\n%s", problems, err, text)
	}
	if got, err := v.Encode(again); err != nil || string(got) != text {
		t.Errorf("written again it is\n%s\n%v, and it was\n%s", got, err, text)
	}
}

// alike reports scalars that readers of YAML 1.1 and 1.2 take for different things: a text without quotes has to be a word that neither
// takes for more, and anything else a number or a word of JSON.
func alike(t *testing.T, n *yaml.Node) {
	t.Helper()
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle
	word, number := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`), regexp.MustCompile(`^(-?(0|[1-9][0-9]*)(\.[0-9]+)?|null|true|false)$`)
	if n.Kind == yaml.ScalarNode && n.Style&quoted == 0 {
		special := slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, strings.ToLower(n.Value))
		if n.Tag == "!!str" && (special || !word.MatchString(n.Value)) || n.Tag != "!!str" && !number.MatchString(n.Value) {
			t.Errorf("%s %q on line %d is not read alike by all", n.Tag, n.Value, n.Line)
		}
	}
	for _, child := range n.Content {
		alike(t, child)
	}
}

// hostile are texts that YAML or a terminal could take for more than text.
func hostile() []string {
	return []string{
		"no", "true", "null", "~", "1234567", "0123456", "12e45678", "1_000", "0x1F", "2026-01-01", "2026-01-13T15:00:00Z", "1:30", ".inf", "=", "<<",
		"---", "---\nmode: finalize\n---", "...\n--- x", "a\n---\nb", "- x", "? x", "key: value", "# no comment", "a # b", "!!binary x", "&a *a", "*a", "%YAML 1.1", "@x", "`x`", "|-", ">",
		`say "hi"`, "it's", `it's "both" \n`, `back\slash`, `"`, "'", `''`, `""`, `\`, "{a: [b", "]}", "  leading", "trailing  ", "\tleading tab", "a\tb", "\n\nleading lines", "trailing lines\n\n\n", "line \nspace before its end",
		"  indented\n first", "a\n\tb\n  c", "nul\x00", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "bad \xff\xfe", "\r\nCRLF\r\n", "\u2028", "\u0085", "\ufeff", "\ufffe", "😀", "日本\n😀", "\u202e", " ", "\n", "", "\u00a0",
		strings.Repeat("long ", 2000), strings.Repeat("ä", 3000), strings.Repeat("line\n", 200), "goal: other", "a\ngoal: other\nnow: y",
	}
}

func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		a := sample()
		a.Goal, a.Now = "g"+text, text+"n"
		a.PrimaryBead, a.SessionID, a.RootSpanID = "b"+text, text, text
		a.Done = []Task{{Task: text, Files: []string{text}, Extra: map[string]any{text: text}}}
		a.Next, a.Test, a.ContinuationPrompt = []string{text, "x", text}, text, text
		a.Decisions = []Decision{{Decision: text, Rationale: text}, {Decision: text + " ", Rationale: "again"}}
		a.Findings = []Note{{text, text}}
		a.Git = &Git{Branch: text, Commit: text, Remote: text}
		a.FinalDecisions = []Decision{{Decision: text, Alternatives: []string{text}}}
		a.Metadata = map[string]any{text: []any{text, map[string]any{text: text}}}
		a.Extra = map[string]any{"x" + text: text}
		written := encode(t, a)
		hold(t, newValidator(t), written)
		again, _, err := Decode([]byte(written))
		if err != nil || again.Mode != Handoff || again.Outcome != PartialPlus || len(again.Next) != 3 || again.Next[1] != "x" || len(again.Decisions) != 2 {
			t.Errorf("%q: got %+v, %v", text, again, err)
		}
	}
}

// Texts that drive no terminal are read as they were written.
func TestTextsComeBack(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		if strings.ContainsAny(text, "\x00\x1b\r\u2028\u0085\ufeff\ufffe\u202e") || strings.Contains(text, "\xff") {
			continue
		}
		a := sample()
		a.Test, a.ContinuationPrompt, a.Next = text, text, []string{text}
		again, _, err := Decode([]byte(encode(t, a)))
		if err != nil || again.Test != text || again.ContinuationPrompt != text || again.Next[0] != text {
			t.Errorf("got %q, %v, want %q", again.Test, err, text)
		}
	}
}

// A file that is as large as it may be, whatever is in it, is read and checked in a moment.
func TestLargeFiles(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const front = "---\nmode: handoff\n---\n\ngoal: g\n"
	many := func(line string) string { return strings.Repeat(line, (MaxSize-200)/len(line)) }
	numbered := func(format string) string {
		var b strings.Builder
		for n := 0; b.Len() < MaxSize-300; n++ {
			fmt.Fprintf(&b, format, n)
		}
		return b.String()
	}
	v := newValidator(t)
	for name, text := range map[string]string{
		"keys":          front + numbered("k%d: v\n"),
		"both parts":    "---\n" + numbered("k%d: v\n")[:MaxSize/2] + "\n---\n\n" + numbered("k%d: v\n")[:MaxSize/2-100] + "\n",
		"the same key":  front + many("k: v\n"),
		"items":         front + "next:\n" + many("  - x\n"),
		"comments":      front + many("# x\n"),
		"brackets":      front + many("["),
		"braces":        front + many("{"),
		"one line":      front + "now: " + many("x"),
		"quotes":        front + "now: \"" + many(`\\u0041`) + "\"\n",
		"separators":    front + many("---\n"),
		"wrong items":   front + "done_this_session:\n" + many("  - x\n")[:200_000],
		"carriage":      many("\r"),
		"escape codes":  front + "now: " + many("\x1b["),
		"question mark": front + many("? "),
		"dashes":        front + many("- "),
		"anchors":       front + numbered("k%d: &a x\n"),
		"tags":          front + many("!!"),
	} {
		begin := time.Now()
		_, _, _ = Decode([]byte(text))
		v.Validate([]byte(text))
		_, _ = Legacy{Path: ".handoff/x.md", Text: []byte(text), Outcome: Failed}.Import()
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
	for name, text := range map[string]string{"sections": many("## a\nx\n"), "items": many("- x\n"), "words": many("outcome: x\n"), "fences": many("```\n"), "colons": many("a:"), "goals": many("## Goal\nx\n")} {
		begin := time.Now()
		a, err := Legacy{Path: ".handoff/x.md", Text: []byte("## Goal\nx\n## Next\n" + text), Outcome: Failed}.Import()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, _ = v.Encode(a)
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// whole makes an artifact valid as far as its own fields are concerned.
func whole(a *Artifact) *Artifact {
	if !slices.Contains(Modes(), a.Mode) {
		a.Mode = Handoff
	}
	if !slices.Contains(Outcomes(), a.Outcome) {
		a.Outcome = PartialMinus
	}
	if _, ok := a.At(); !ok {
		a.Date = "2026-01-13T15:00:00Z"
	}
	if a.Git != nil {
		a.Git.PRReady = ""
	}
	a.Session, a.PrimaryBead = Slug(a.Session), a.PrimaryBead+"b"
	a.Goal, a.Now = a.Goal+".", a.Now+"."
	return a
}

func FuzzDecode(f *testing.F) {
	for _, glob := range []string{"testdata/real/*.yaml", "testdata/writer-golden/*.yaml"} {
		paths, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			f.Add(readFile(f, path))
		}
	}
	for _, text := range hostile() {
		if len(text) < 100 {
			f.Add([]byte("---\nmode: handoff\n---\n\ngoal: x\nnow: " + text + "\nnext:\n  - " + text + "\n" + text + ": y\n"))
		}
	}
	v := newValidator(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		a, _, err := Decode(text)
		v.Validate(text)
		if err != nil {
			return
		}
		written, err := v.Encode(whole(a))
		if err != nil {
			t.Fatal(err)
		}
		hold(t, v, string(written))
	})
}
