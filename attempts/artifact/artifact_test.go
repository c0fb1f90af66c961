package artifact

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func newValidator(tb testing.TB) *Validator {
	tb.Helper()
	v, err := NewValidator()
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func encode(tb testing.TB, a *Artifact) string {
	tb.Helper()
	text, err := newValidator(tb).Encode(a)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func sample() *Artifact {
	a := New(Handoff, "Implement\n user authentication", "Complete logout", PartialPlus, Origin{
		Date: time.Date(2026, 1, 13, 16, 0, 0, 0, time.FixedZone("CET", 3600)), Session: "auth refactor", PrimaryBead: "beads-123", SessionID: "12e45678", AgentID: "relay",
	})
	a.Done = []Task{{Task: "JWT middleware", Files: []string{"src/auth/jwt.ts"}}, {Task: "no files"}}
	a.Next = []string{"Implement logout", "no", "several\nlines"}
	a.Decisions = []Decision{{Decision: "jwt_library", Rationale: "jsonwebtoken"}, {Decision: "no", Rationale: ""}}
	a.Findings = []Note{{"T1", "1234567"}}
	a.Git = &Git{Branch: "1.0", Commit: "1234567", PRReady: "https://example.org/pull/1"}
	a.Files = &Files{Created: []string{"a.go"}, Deleted: []string{"b.go"}}
	a.ContinuationPrompt = "---\nContinue with bead 1.\n---\n"
	a.Metadata = map[string]any{"relay": map[string]any{"run": "r1", "seq": 12, "cost_usd": 1.5, "done": true, "none": nil, "list": []string{}}}
	return a
}

func TestWriter(t *testing.T) {
	t.Parallel()
	got := encode(t, sample())
	want := string(readFile(t, "testdata/written.yaml"))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCasesHaveTheValidatorsVerdict(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name, Verdict string
		Artifact      map[string]any
	}
	if err := json.Unmarshal(readFile(t, "testdata/artifact-cases.json"), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 116 {
		t.Fatalf("%d cases", len(cases))
	}
	v := newValidator(t)
	for _, c := range cases {
		if problems := v.check(c.Artifact); (len(problems) == 0) != (c.Verdict == "ACCEPT") {
			t.Errorf("%s: got %v, and the validator of the format says %s", c.Name, problems, c.Verdict)
		}
	}
}

// Real files are read, and those are valid that the project's own validator calls so.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/real/*.yaml")
	if err != nil || len(paths) != 6 {
		t.Fatalf("%v, %v", paths, err)
	}
	v := newValidator(t)
	for _, path := range paths {
		text := readFile(t, path)
		wrong := slices.ContainsFunc(v.Validate(text), func(p Problem) bool { return !p.Warning })
		if want := strings.HasPrefix(filepath.Base(path), "INVALID_"); wrong != want {
			t.Errorf("%s: invalid is %v: %+v", path, wrong, v.Validate(text))
		}
		a, _, err := Decode(text)
		if err != nil || a.Goal == "" || a.Now == "" || a.Session == "" || !slices.Contains(Outcomes(), a.Outcome) {
			t.Errorf("%s: got %+v, %v", path, a, err)
		}
	}
}

func TestWhatRealFilesSay(t *testing.T) {
	t.Parallel()
	a, problems, err := Decode(readFile(t, "testdata/real/INVALID_ukr_finalize.yaml"))
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if a.Mode != Finalize || a.Date != "2026-01-14T20:28:49.640Z" || len(a.Done) != 2 || a.Done[1].Task != "Pushed migration commits to origin (fork) for each repo." ||
		len(a.FinalSolutions) != 2 || len(a.FinalDecisions) != 1 || len(a.ArtifactsProduced) != 10 || len(a.Files.Modified) != 3 || a.Git.Commit != "50cb884a18bfcc29b84905fffc3b701b775393fa" {
		t.Errorf("got %+v", a)
	}
	a, _, err = Decode(readFile(t, "testdata/real/INVALID_upstream-style_30w.yaml"))
	if err != nil || a.Mode != "" || len(a.Done) != 4 || len(a.Decisions) != 2 || len(a.Findings) != 3 || len(a.Files.Modified) != 2 {
		t.Errorf("got %+v, %v", a, err)
	}
	if a.Extra["bead"] != "30w" {
		t.Errorf("unknown keys are %v", a.Extra)
	}
	a, _, err = Decode(readFile(t, "testdata/real/VALID_d6v_handoff.yaml"))
	if err != nil || !strings.HasPrefix(a.ContinuationPrompt, "---\nContinue implementing") || !strings.HasSuffix(a.ContinuationPrompt, "session end\n---") || len(a.Decisions) != 4 {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestWrittenByTheOriginal(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]*Artifact{
		"2026-01-13_15-00_auth-refactor_handoff.yaml": {
			Version: "1.0.0", Mode: Handoff, Date: "2026-01-13T15:00:00Z", Session: "beads-123-auth-refactor", Outcome: PartialPlus, PrimaryBead: "beads-123", SessionID: "77ef540c", AgentID: "relay",
			Goal: "Implement auth", Now: "Complete logout", Done: []Task{{Task: "x", Files: []string{"a.ts"}}}, Decisions: []Decision{{Decision: "k", Rationale: "v"}}, Git: &Git{Branch: "main", Commit: "abc1234"},
		},
		"2026-01-14_00-54_auth-refactor_checkpoint.yaml": {Version: "1.0.0", Mode: Checkpoint, Date: "2026-01-14T00:54:26.972Z", Session: "auth-refactor", Outcome: Failed, Goal: "g", Now: "n"},
		"2026-01-14_23-59_s_checkpoint.yaml":             {Version: "1.0.0", Mode: Checkpoint, Date: "2026-01-14T23:59:59+05:30", Session: "S", Outcome: Failed, Goal: "g", Now: "n"},
		"2026-01-14_01-00_001_checkpoint.yaml": {
			Version: "1.0.0", Mode: Checkpoint, Date: "2026-01-14T01:00:00Z", Session: "001", Outcome: Failed, SessionID: "12e45678", Goal: "true", Now: "no", Git: &Git{Branch: "1.0", Commit: "1234567"},
			Next:      []string{"- dash", "key: value", "multi\nline", "# hash", "---", "2026-01-01", "日本 😀"},
			Decisions: []Decision{{Decision: "a: b", Rationale: "x: y"}}, Worked: []string{""},
		},
	} {
		text := readFile(t, filepath.Join("testdata/writer-golden", name))
		a, _, err := Decode(text)
		if err != nil || fmt.Sprintf("%+v", show(a)) != fmt.Sprintf("%+v", show(want)) {
			t.Errorf("%s: got\n%s\n%v, want\n%s", name, show(a), err, show(want))
		}
		for _, p := range newValidator(t).Validate(text) {
			if !p.Warning {
				t.Errorf("%s: %+v", name, p)
			}
		}
		title := strings.Split(name, "_")[2]
		if got := filepath.Base(Name(want, title)); got != name {
			t.Errorf("got the name %s, want %s", got, name)
		}
	}
}

// show prints all of an artifact.
func show(a *Artifact) string {
	text, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestReaderIsLenient(t *testing.T) {
	t.Parallel()
	const file = "---\nmode: handoff\ndate: 2026-01-13\nsession: s\noutcome: success\nprimary_bead: 12\n---\n\ngoal: g\nnow: n\ngit:\n  branch: main\n  commit: 0123456\n  extra: 1\nnew_key: {a: [1, 2.50, ~, true]}\nnext: one\nwhatever: x\n"
	for name, text := range map[string]string{
		"as it is":       file,
		"CRLF":           strings.ReplaceAll(file, "\n", "\r\n"),
		"byte order":     "\xef\xbb\xbf" + file,
		"older layout":   strings.Replace(file, "mode:", "event_type:", 1),
		"duplicate":      strings.Replace(file, "now: n\n", "now: x\nnow: n\n", 1),
		"in both parts":  strings.Replace(file, "---\n\n", "now: x\n---\n\n", 1),
		"separator":      file + "---\ngoal: other\n",
		"no end":         strings.Replace(file, "---\n\n", "", 1),
		"no front":       strings.Replace(strings.Replace(file, "---\n\n", "", 1), "---\n", "", 1),
		"spaces":         "\n\n" + strings.Replace(file, "---\n", "--- \n", 2),
		"no end of line": strings.TrimSuffix(file, "\n"),
		"escape codes":   strings.Replace(file, "goal: g", "goal: \x1b[31mg", 1),
		"anchors":        strings.Replace(file, "goal: g\nnow: n\n", "goal: &n n\nnow: *n\ngoal: g\n", 1),
	} {
		a, problems, err := Decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a.Mode != Handoff || a.Date != "2026-01-13" || a.Outcome != Succeeded || a.PrimaryBead != "12" || a.Goal != "g" || a.Now != "n" || a.Git.Commit != "0123456" || len(a.Next) != 1 {
			t.Errorf("%s: got %s", name, show(a))
		}
		told := slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning })
		if quiet := slices.Contains([]string{"as it is", "spaces", "older layout", "no end of line"}, name); told == quiet {
			t.Errorf("%s: problems are %+v", name, problems)
		}
		written := encode(t, a)
		hold(t, newValidator(t), written)
		if !strings.Contains(written, "new_key:\n  a:\n    - 1\n    - 2.5\n    - null\n    - true\nwhatever: \"x\"\n") || !strings.Contains(written, "  extra: 1\n") {
			t.Errorf("%s: unknown keys are lost:\n%s", name, written)
		}
	}
}

func TestWhatIsNoArtifact(t *testing.T) {
	t.Parallel()
	deep := "goal: " + strings.Repeat("[", 5000)
	const bomb = "goal: x\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
	for text, want := range map[string]string{
		"x: y\n":                             "it is not an artifact: it has neither mode, goal nor now",
		"":                                   "it is not an artifact: it has neither mode, goal nor now",
		"---\nmode: handoff\n---\na: b: c\n": "line 4: it is not YAML as artifacts have it: mapping values are not allowed in this context",
		"---\nmode: handoff\n---\n\n# Markdown\n\ntext\n": "line 7: it is not YAML as artifacts have it: a text stands where keys and values belong",
		"goal\n":                "line 1: it is not YAML as artifacts have it: a text stands where keys and values belong",
		"---\nmode: \"\n---\n":  "line 2: it is not YAML as artifacts have it: found unexpected end of stream",
		deep:                    "line 1: it is not YAML as artifacts have it: did not find expected node content",
		"goal: x\n? [a]\n: b\n": "line 2: a key is not a text",
		bomb:                    "its values are too many or too deep in each other",
		"goal: x\na: &a [*a]\n": "its values are too many or too deep in each other",
		"goal: x\na: " + strings.Repeat("[", 101) + strings.Repeat("]", 101): "its values are too many or too deep in each other",
		strings.Repeat("x", MaxSize+1):                                       "it has more than 1048576 bytes",
	} {
		if _, _, err := Decode([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %q", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(path, make([]byte, MaxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadFile(path); err == nil || err.Error() != path+": it has more than 1048576 bytes" {
		t.Errorf("got %v", err)
	}
}

// What other readers stumble over, one thing at a time, as a user sees it.
func TestProblems(t *testing.T) {
	t.Parallel()
	const file = "---\nschema_version: 1.0.0\nmode: checkpoint\ndate: 2026-01-13\nsession: s\noutcome: FAILED\n---\n\ngoal: g\nnow: soon\n"
	for text, want := range map[string]string{
		file:                                     "",
		"\xef\xbb\xbf" + file:                    "1: the line has a byte order mark, a carriage return, a control character, or text that is not UTF-8\n  readers of Continuous Claude see nothing of such a file: save it as UTF-8 with LF line ends\n",
		strings.Replace(file, "g\n", "g\r\n", 1): "9: the line has a byte order mark, a carriage return, a control character, or text that is not UTF-8\n  readers of Continuous Claude see nothing of such a file: save it as UTF-8 with LF line ends\n",
		strings.Replace(file, "soon\n", "\xff\n", 1):           "10: the line has a byte order mark, a carriage return, a control character, or text that is not UTF-8\n  readers of Continuous Claude see nothing of such a file: save it as UTF-8 with LF line ends\n",
		strings.Replace(file, "now: soon", "now: soon\x1b", 1): "10: the line has a byte order mark, a carriage return, a control character, or text that is not UTF-8\n  readers of Continuous Claude see nothing of such a file: save it as UTF-8 with LF line ends\n",
		strings.Replace(file, "---\n", "", 2):                  "1: there is no front matter\n  a file begins with ---, front matter and ---\n",
		strings.Replace(file, "---\n\n", "", 1):                "1: the front matter has no end\n  a file begins with ---, front matter and ---\n",
		file + "---\nnow: x\n":                                 "11: the line begins with ---, in the body\n  readers of Continuous Claude see nothing of such a file: indent the line, or take it out\n",
		file + "...\n":                                         "11: the line begins with ..., in the body\n  readers of Continuous Claude see nothing of such a file: indent the line, or take it out\n",
		file + "now: soon\n":                                   "11: \"now\" is there twice\n  other readers see nothing of such a file: keep one of the two\n",
		file + "mode: handoff\n":                               "1: missing property 'primary_bead'\n  handoff and finalize name what the work is about\n11: \"mode\" is there twice\n  other readers see nothing of such a file: keep one of the two\n",
		file + "next: {\n":                                     "11: it is not YAML as artifacts have it: did not find expected node content\n  texts with a colon or a # belong in quotes\n",
		file + "test: 1.5\n":                                   "11: test: got number, want string\n  put it in quotes\n",
		file + "test: true\n":                                  "11: test: got boolean, want string\n  put it in quotes\n",
		strings.Replace(file, "now: soon\n", "", 1):            "1: missing property 'now'\n  relay artifact validate --schema prints what an artifact needs\n",
		strings.Replace(file, "mode: checkpoint", "event_type: checkpoint\nprimary_bead: b", 1): "3: missing property 'mode'\n  the file has the older layout: write mode in place of event_type\n",
		file + "done_this_session: [x]\n":                       "11: done_this_session.0: got string, want object\n  relay artifact validate --schema prints what an artifact needs\n",
		file + "final_solutions: [{problem: x, solution: z}]\n": "11: final_solutions.0: missing property 'rationale'\n  relay artifact validate --schema prints what an artifact needs\n",
		file + "final_decisions: [x]\n":                         "11: final_decisions.0: got string, want object\n  relay artifact validate --schema prints what an artifact needs\n",
		file + "files_to_review:\n  - path: x\n  - note: x\n":   "13: files_to_review.1: missing property 'path'\n  relay artifact validate --schema prints what an artifact needs\n",
		file + "files: [x]\n":                                   "11: files: got array, want object\n  relay artifact validate --schema prints what an artifact needs\n",
		file + "git: {branch: x}\n":                             "11: git: missing property 'commit'\n  relay artifact validate --schema prints what an artifact needs\n",
		file + "x: 0x1F\n":                                      "11: warning: 0x1F is a number for some readers\n  put it in quotes\n",
		file + "x: Yes\n":                                       "11: warning: Yes is true or false for readers of YAML 1.1\n  put it in quotes\n",
	} {
		var got strings.Builder
		for _, p := range newValidator(t).Validate([]byte(text)) {
			kind := ""
			if p.Warning {
				kind = "warning: "
			}
			fmt.Fprintf(&got, "%d: %s%s\n  %s\n", p.Line, kind, p.Message, p.Hint)
		}
		if got.String() != want {
			t.Errorf("%s\ngot\n%swant\n%s", text, &got, want)
		}
	}
}

func TestValidateNamesLineAndReason(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"---", "schema_version: \"1.0\"", "event_type: handoff", "date: yesterday", "session: a/b", "outcome: DONE", "---", "", "goal: |-", "  two", "  lines", "now: no",
		"next: one", "git:", "  branch: main", "  commit: 1234567", "done_this_session:", "  - task: x", "next: [two]", "files: [a]", "commit: 0x1F", "---", "x: y", "",
	}, "\n")
	var got []string
	for _, p := range newValidator(t).Validate([]byte(text)) {
		got = append(got, fmt.Sprintf("%d %v %s", p.Line, p.Warning, p.Message))
		if p.Hint == "" {
			t.Errorf("line %d has no hint", p.Line)
		}
	}
	want := []string{
		`2 false schema_version: '1.0' does not match pattern '^[0-9]+\\.[0-9]+\\.[0-9]+$'`,
		"3 false missing property 'mode'",
		"4 false date: it is neither a date nor a date and time with a zone, as in 2026-01-13T15:00:00Z",
		"6 false outcome: value must be one of 'SUCCEEDED', 'PARTIAL_PLUS', 'PARTIAL_MINUS', 'FAILED'",
		"12 true no is true or false for readers of YAML 1.1",
		"16 false git.commit: got number, want string",
		"18 false done_this_session.0: missing property 'files'",
		`19 false "next" is there twice`,
		"20 false files: got array, want object",
		"21 true 0x1F is a number for some readers",
		"22 false the line begins with ---, in the body",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGuardsAndNew(t *testing.T) {
	t.Parallel()
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range Modes() {
		a := New(mode, "g", "n", Succeeded, Origin{Date: time.Unix(0, 0), Session: "s"})
		if got := a.IsHandoff(); got != (mode == Handoff) {
			t.Errorf("%s as a handoff: %v", mode, got)
		}
		if RequiresBead(mode) == (mode == Checkpoint) {
			t.Errorf("%s is taken for another mode", mode)
		}
		if _, err := v.Encode(a); (err == nil) == RequiresBead(mode) || err != nil && err.Error() != "the artifact is invalid: missing property 'primary_bead'" {
			t.Errorf("%s without a bead: %v", mode, err)
		}
		a.PrimaryBead = "b"
		if _, err := v.Encode(a); err != nil {
			t.Error(err)
		}
	}
	if RequiresBead("other") {
		t.Error("an unknown mode requires a bead")
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"20260116-auth": "20260116-auth", "a b/c\\..d": "a-b-c-..d", "../../etc": "etc", "": "session", "日本": "session", ".git": "git", "--x--": "x",
		strings.Repeat("x", 200): strings.Repeat("x", 80), "S": "S",
	} {
		if got := Slug(text); got != want || Slug(got) != got {
			t.Errorf("Slug(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestJSONHasTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	a := &Artifact{Mode: "handoff", Date: "2026-01-13", Goal: "a < b", Next: []string{"n", ""}, Git: &Git{Branch: "b", Commit: "c"}}
	var keys []string
	for i, n := range a.Node().Content {
		if i%2 == 0 {
			keys = append(keys, n.Value)
		}
	}
	text, at := show(a), 0
	for _, key := range keys {
		next := strings.Index(text[at:], strconv.Quote(key)+":")
		if next < 0 {
			t.Fatalf("%s is not behind the keys before it: %s", key, text)
		}
		at += next
	}
}
