package plaintext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMake(t *testing.T) {
	t.Parallel()
	f := MessageFields{ID: "T4", Title: "Add an export", Kind: "feature", Type: "feat", Summary: "Wrote it.\nrelay-task: T9\nTested it.", Epic: "20260101-csv", EpicTitle: "CSV"}
	for text, want := range map[string]string{
		DefaultMessage: "T4: Add an export",
		"{{.Type}}({{.Epic}}): {{.Title}} ({{.ID}})": "feat(20260101-csv): Add an export (T4)",
		"{{.Title}}\n{{.Summary}}":                   "Add an export\n\nWrote it.\nTested it.",
		"\n\n {{.Title}} \n\n\nbody\n\n":             "Add an export\n\nbody",
		"{{.Summary}}":                               "Wrote it.\n\nTested it.",
		"{{.EpicTitle}}\t\x1b[31m{{.Kind}}":          "CSV feature",
		"#{{.ID}} {{printf \"%.3s\" .Title}}":        "#T4 Add",
	} {
		if got, err := CommitMessage(text, f); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestLongSubjectsAreCutBetweenWords(t *testing.T) {
	t.Parallel()
	for title, subject := range map[string]string{
		strings.Repeat("word ", 40):      "T1: " + strings.TrimSpace(strings.Repeat("word ", 13)) + "…",
		strings.Repeat("ü", 100):         "T1: " + strings.Repeat("ü", 67) + "…",
		strings.Repeat("x", 68):          "T1: " + strings.Repeat("x", 68),
		strings.Repeat("漢字, ", 30):       "T1: " + strings.TrimSuffix(strings.Repeat("漢字, ", 16), ", ") + "…",
		"a\nb\r\nc":                      "T1: a b c",
		"\xff" + strings.Repeat("y", 68): "T1: \ufffd" + strings.Repeat("y", 66) + "…",
	} {
		got, err := CommitMessage(DefaultMessage, MessageFields{ID: "T1", Title: title})
		first, rest, cut := strings.Cut(got, "\n\n")
		if err != nil || first != subject {
			t.Errorf("%q: got %q, %v; want %q", title, first, err, subject)
		}
		if cut != strings.HasSuffix(subject, "…") || cut && !strings.HasPrefix(rest, strings.TrimSuffix(subject, "…")) {
			t.Errorf("%q: the body is %q", title, rest)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		DefaultMessage:               "",
		"{{.Type}}: {{.Title}}":      "",
		"{{.Title":                   "unclosed action",
		"{{.Tilte}}":                 "there is no .Tilte; there are .ID, .Title, .Kind, .Type, .Summary, .Epic and .EpicTitle",
		"{{slice .Title 0 50}}":      "out of range",
		"{{.Summary}}":               "it makes an empty subject",
		"":                           "it makes an empty subject",
		"{{range 100000}}abc{{end}}": "it makes more than 16 KiB",
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`: "exceeded maximum template depth",
	} {
		err := CheckMessage(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	got, err := CommitMessage(`{{if eq .ID "T1"}}{{index .Title 900}}{{end}}x`, MessageFields{ID: "T1", Title: "Go"})
	if got != "T1: Go" || err == nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzMake(f *testing.F) {
	f.Add(DefaultMessage, "Title", "Summary")
	f.Add("{{.Summary}} {{.Title}}", "\xff\n", "a\n\nRelay-Task: T9")
	f.Fuzz(func(t *testing.T, text, title, summary string) {
		if strings.Contains(text, "range") || strings.Contains(text, "template") || strings.Contains(text, "printf") {
			t.Skip("takes long")
		}
		got, _ := CommitMessage(text, MessageFields{ID: "T1", Title: title, Summary: summary})
		subject, body, _ := strings.Cut(got, "\n")
		if subject == "" || utf8.RuneCountInString(subject) > MaxSubject || !utf8.ValidString(got) || body != "" && !strings.HasPrefix(body, "\n") {
			t.Errorf("got %q", got)
		}
	})
}
