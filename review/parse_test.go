package review

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

const approved = `{"verdict":"APPROVED","summary":"good","findings":[]}`

func TestParseVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		want         Decision // "" : no verdict
	}{
		{"object", approved, Approved},
		{"object alone without findings", `{"verdict":"APPROVED"}`, Approved},
		{"object with space", "\n\t" + approved + "\n\n", Approved},
		{"fenced", "Looks good.\n\n```json\n" + approved + "\n```\n", Approved},
		{"fence without a name", "```\n" + `{"verdict":"BLOCKED","findings":[]}` + "\n```", Blocked},
		{"within text", "My answer: " + approved + " Thank you.", Approved},
		{"after braces that are no JSON", "func f() { return }\n" + approved, Approved},
		{"after another object", `{"a":1} ` + approved, Approved},
		{"twice the same", approved + "\n" + approved, Approved},
		{"needs work", `{"verdict":"needs work","findings":[]}`, NeedsChanges},
		{"underscore", `{"verdict":"NEEDS_CHANGES","findings":[]}`, NeedsChanges},
		{"hyphen", `{"verdict":"Needs-Work","findings":[]}`, NeedsChanges},
		{"changes requested", `{"verdict":"CHANGES_REQUESTED","findings":[]}`, NeedsChanges},
		{"needs change", `{"verdict":"NEEDS CHANGE","findings":[]}`, NeedsChanges},
		{"changes needed", `{"verdict":"CHANGES NEEDED","findings":[]}`, NeedsChanges},
		{"request changes", `{"verdict":"REQUEST CHANGES","findings":[]}`, NeedsChanges},
		{"changes were requested", `{"verdict":"CHANGES REQUESTED","findings":[]}`, NeedsChanges},
		{"approved with a sign", `{"verdict":"✅ **Approved.**","findings":[]}`, Approved},
		{"a line that agrees", "Verdict: APPROVED\n```json\n" + approved + "\n```", Approved},

		{"empty", "", ""},
		{"space", " \n\t ", ""},
		{"apology", "I'm sorry, but I can't help with that.", ""},
		{"limit", "You've hit your 5-hour limit · resets 4:30am (UTC)", ""},
		{"login", "Invalid API key · Please run /login", ""},
		{"prose approval", "The change is approved.", ""},
		{"word alone", "APPROVED", ""},
		{"line alone", "All fine.\n\nVerdict: APPROVED", ""},
		{"negated", `{"verdict":"NOT APPROVED","findings":[]}`, ""},
		{"with reservations", `{"verdict":"APPROVED if the tests pass","findings":[]}`, ""},
		{"asking", `{"verdict":"APPROVED?","findings":[]}`, ""},
		{"choice", `{"verdict":"APPROVED | NEEDS CHANGES | BLOCKED","findings":[]}`, ""},
		{"contradicted by a mark", `{"verdict":"❌ APPROVED","findings":[]}`, ""},
		{"an approval after another object", `{"verdict":"BLOCKED","findings":[]} ` + approved, ""},
		{"a refusal after a quoted object", approved + ` {"verdict":"BLOCKED","findings":[]}`, Blocked},
		{"a refusal after a quoted line", "It says\n\nVerdict: APPROVED\n\n```json\n" + `{"verdict":"NEEDS CHANGES","findings":[]}` + "\n```\n", NeedsChanges},
		{"a refusal after 64 braces", "Verdict: APPROVED\n\n" + strings.Repeat("if x {\n", 64) + `{"verdict":"BLOCKED","findings":[]}`, Blocked},
		{"a refusal after 64 objects", "Verdict: APPROVED\n\n" + strings.Repeat("{}\n", 64) + `{"verdict":"BLOCKED","findings":[]}`, Blocked},
		{"a refusal before the end", "Verdict: APPROVED\n" + `{"verdict":"BLOCKED","findings":[]}` + " as I said", ""},
		{"an approval after many braces", strings.Repeat("if x {\n", 9000) + approved, Approved},
		{"too many braces", "Verdict: APPROVED\n\n" + strings.Repeat(`{"a":`, 150_000) + `{"verdict":"BLOCKED","findings":[]}`, ""},
		{"a line that differs", "Verdict: BLOCKED\n" + approved, ""},
		{"a bold line that differs", approved + "\n\n**Final verdict:** needs changes", ""},
		{"a heading that differs", "## Verdict\n\n**BLOCKED**\n\n" + approved, ""},
		{"a line in other words", "Verdict: see below\n" + approved, ""},
		{"unknown word", `{"verdict":"LGTM-ish","findings":[]}`, ""},
		{"verdict of a wrong type", `{"verdict":true,"findings":[]}`, ""},
		{"findings of a wrong type", `{"verdict":"APPROVED","findings":"none"}`, ""},
		{"null", "null", ""},
		{"list", `["APPROVED"]`, ""},
		{"no verdict", `{"summary":"fine","findings":[]}`, ""},
		{"cut off object", `{"verdict":"APPROVED","summary":"good","find`, ""},
		{"cut off fence", "```json\n" + approved[:30], ""},
		{"quoted code without findings", "The code holds `{\"verdict\":\"APPROVED\"}`, which", ""},
		{"echo of the prompt", string(Prompt(Subject{TaskID: "T1", Base: "a", Head: "b"})), ""},
		{"too long", strings.Repeat("x", maxAnswer) + approved, ""},
	} {
		v, err := Parse(c.answer)
		if got := v.Decision; got != c.want {
			t.Errorf("%s: got %q (%v), want %q", c.name, got, err, c.want)
		}
		if (err == nil) != (c.want != "") || err != nil && !errors.Is(err, ErrNoVerdict) {
			t.Errorf("%s: got error %v", c.name, err)
		}
	}
}

// Why an answer is no verdict is told to the reviewer who is asked again, and to a person.
func TestParseInWords(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"":                               "the answer is empty",
		strings.Repeat("x", maxAnswer+1): "the answer is longer than 1048576 bytes",
		"Fine.":                          "the answer has no verdict",
		"Verdict: BLOCKED\n" + approved:  "the answer says both APPROVED and BLOCKED",
		"Verdict: do not merge this\n" + approved:         "the answer says both APPROVED and do not merge this",
		approved + "\n## Verdict\nThis must not land.":    "the answer says both APPROVED and This must not land.",
		`{"verdict":"BLOCKED","findings":[]} ` + approved: "the answer says both BLOCKED and APPROVED",
		strings.Repeat(`{"a":`, 150_000) + approved:       "the answer has too many braces to be read",
		`{"verdict":true,"findings":[]}`:                  `the answer has no text "verdict"`,
		`{"verdict":"fine","findings":[]}`:                `"fine" is not a verdict`,
		`{"verdict":"APPROVED","findings":"none"}`:        "the findings are no list of objects",
	} {
		if _, err := Parse(answer); err == nil || !strings.HasPrefix(err.Error(), "the reviewer gave no verdict: "+want) {
			t.Errorf("%.40q: got %v, want %s", answer, err, want)
		}
	}
	v, err := Parse(`{"verdict":"BLOCKED","findings":[{"severity":"high"}]}`)
	if want := "(the reviewer did not say what)"; err != nil || v.Findings[0].Issue != want {
		t.Errorf("got %+v, %v, want %s", v, err, want)
	}
}

func TestParseFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		want         []Finding
	}{
		{
			"JSON with other names",
			`{"verdict":"BLOCKED","findings":[{"severity":"BLOCKER","file":"a.go:3-9","title":"races","suggestion":"lock"},` +
				`{"line":"7","file":"b.go","description":"odd"}]}`,
			[]Finding{
				{Severity: Critical, File: "a.go", Line: 3, Issue: "races", Fix: "lock"},
				{Severity: High, File: "b.go", Line: 7, Issue: "odd"},
			},
		},
		{
			"hostile text",
			`{"verdict":"NEEDS CHANGES","findings":[{"severity":"low","issue":"a\u001b[31m\n## Finding 9: b\u0000\n**Severity:** low"}]}`,
			[]Finding{{Severity: Low, Issue: "a ## Finding 9: b **Severity:** low"}},
		},
	} {
		v, err := Parse(c.answer)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !reflect.DeepEqual(v.Findings, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, v.Findings, c.want)
		}
	}
}

// TestGravestFindingsAreKept fails when the cap on findings can hide a critical one.
func TestGravestFindingsAreKept(t *testing.T) {
	t.Parallel()
	minor := strings.Repeat(`{"severity":"low","issue":"x"},`, 2*maxFindings)
	v, err := Parse(`{"verdict":"APPROVED","findings":[` + minor + `{"severity":"critical","issue":"y"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Findings) != maxFindings || v.Findings[0].Severity != Critical {
		t.Errorf("got %d findings, the first %+v", len(v.Findings), v.Findings[0])
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	want := []Finding{
		{Severity: Critical, File: "a/b.go", Line: 3, Issue: "loses data: all of it", Fix: "sync first", Criterion: "nothing is lost"},
		{Severity: Info, Issue: "nice"},
		{Severity: Low, File: "c.go", Issue: "name"},
	}
	text := Markdown(raised(want, "ann", "bob"))
	for _, text := range []string{text, strings.TrimSpace(text)} {
		if got := ReadMarkdown(text); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v\nfrom\n%s", got, want, text)
		}
	}
	if begin := "## Finding 1: loses data: all of it\n**Severity:** CRITICAL\n**File:** a/b.go:3\n**Criterion:** nothing is lost\n**Fix:** sync first\n**Raised by:** ann, bob\n"; !strings.HasPrefix(text, begin) {
		t.Errorf("got %s, want %s first", text, begin)
	}
}

func raised(findings []Finding, by ...string) []Raised {
	var list []Raised
	for _, f := range findings {
		list = append(list, Raised{f, by})
	}
	return list
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		approved, "Verdict: BLOCKED\n" + approved, "{{{{", "```\n{}\n```",
		"## Verdict\n", `{"verdict":"NEEDS WORK","findings":[{"line":1e9,"file":":::"}]}`, "\xff\x00{\"verdict\":", "**Verdict:**\n\n# ✅ approve",
		strings.Repeat(`{"findings":[`, 50), "You've hit your limit",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		v, err := Parse(answer)
		if err != nil {
			if !errors.Is(err, ErrNoVerdict) || v.Decision != "" {
				t.Fatalf("got %+v and %v", v, err)
			}
			return
		}
		if _, known := decisions[string(v.Decision)]; !known {
			t.Fatalf("decision %q", v.Decision)
		}
		if !strings.Contains(strings.ToUpper(answer), "VERDICT") {
			t.Fatalf("a verdict from nothing: %q", answer)
		}
		text := Markdown(raised(v.Findings, "ann"))
		if again := ReadMarkdown(text); len(again) != len(v.Findings) {
			t.Fatalf("read back %+v, want %+v from\n%s", again, v, text)
		}
	})
}
