package orchestrator

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
	"relay/orchestrator/verdict"
	"relay/runners"
)

func TestRedactor(t *testing.T) {
	t.Parallel()
	r := secrets.Cleaner{Redactor: secrets.New([]string{
		"PATH=/usr/bin:/bin", "A_KEY=abcdefghijklmnop", "A_VERY_LONG_NAME_OF_A_TOKEN=abcdefgh", "SHORT_TOKEN=1234567", "EMPTY_SECRET=",
		"PEM_KEY=-----BEGIN-----\nMIIEvQIBADANBgkq\n-----END-----", "TokenLower=hunter2hunter2", "NOVALUE_KEY",
	})}
	for in, want := range map[string]string{
		"say abcdefghijklmnop":          "say [redacted A_KEY]", // and not the rest of it behind a shorter secret
		"say abcdefgh.":                 "say [redacted A_VERY_LONG_NAME_OF_A_TOKEN].",
		"1234567 in /usr/bin:/bin":      "1234567 in /usr/bin:/bin",
		"key: MIIEvQIBADANBgkq":         "key: [redacted PEM_KEY]",
		"hunter2hunter2hunter2hunter2!": "[redacted TokenLower][redacted TokenLower]!",
	} {
		if got := r.Block(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	secret := "abcdefghijklmnop"
	in := attempts.Receipt{
		Summary: secret, ErrorSummary: secret, Findings: secret, Suggestion: secret, Learning: secret, Claimed: secret, DiffStat: secret,
		FilesChanged: []string{secret}, PatternTags: []string{secret}, Checks: []attempts.CheckRun{{Name: secret, Tail: secret}},
	}
	out := r.Ended(attempts.Ended{Receipt: in}).Receipt
	told := strings.Join(append(append(out.FilesChanged, out.PatternTags...), out.Summary, out.ErrorSummary, out.Findings, out.Suggestion,
		out.Learning, out.Claimed, out.DiffStat, out.Checks[0].Name, out.Checks[0].Tail), " ")
	if strings.Contains(told, "abc") || strings.Count(told, "redacted") != 11 {
		t.Errorf("got %s", told)
	}
	if in.Checks[0].Tail != secret || in.FilesChanged[0] != secret {
		t.Error("the receipt it was given was changed")
	}
}

// Whatever a receipt will hold besides: a text in it is redacted, or relay's own and named here.
func TestNoTextOfAReceiptIsForgotten(t *testing.T) {
	t.Parallel()
	const secret = "abcdefghijklmnop"
	ours := []string{
		"error_category", "quality_gate_verdict", "salvage", "log", "log_sha256", "phase", "attribution", "verdict",
		"severity", "decision", "reviewer", "by", "head", "question", "also_kept", "result_from", "change", "cli",
	}
	var in attempts.Receipt
	fill(reflect.ValueOf(&in).Elem(), secret)
	out := secrets.Cleaner{Redactor: secrets.New([]string{"A_KEY=" + secret})}.Ended(attempts.Ended{Receipt: in}).Receipt
	proof := &out.Review.Proofs[0]
	proof.Criterion, proof.Check, proof.Commit, proof.Reviewers = "", "", "", nil // the plan's, git's
	data, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "[redacted A_KEY]") {
		t.Errorf("nothing is redacted in %s", data)
	}
	for _, found := range regexp.MustCompile(`"(\w+)":\[?"`+secret).FindAllStringSubmatch(string(data), -1) {
		if !slices.Contains(ours, found[1]) {
			t.Errorf("%s holds the secret in\n%s", found[1], data)
		}
	}
}

// Whatever evidence will hold besides: a text in it is redacted, unless it is one of relay's words, which have types of their own.
func TestNoTextOfEvidenceIsForgotten(t *testing.T) {
	t.Parallel()
	const secret = "abcdefghijklmnop"
	var in verdict.Evidence
	fill(reflect.ValueOf(&in).Elem(), secret)
	out := in.Record(secrets.Cleaner{Redactor: secrets.New([]string{"A_KEY=" + secret})}.Block)
	if n := strings.Count(string(out), "[redacted A_KEY]"); n < 60 {
		t.Errorf("%d texts are redacted in %s", n, out)
	}
	for _, found := range regexp.MustCompile(`"(\w+)":\[?"`+secret).FindAllStringSubmatch(string(out), -1) {
		if !slices.Contains([]string{"is", "before", "by", "category", "outcome"}, found[1]) {
			t.Errorf("%s holds the secret in\n%s", found[1], out)
		}
	}
}

// fill sets every text to s, and gives every list and pointer one item.
func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), s)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, s)
			}
		}
	default: // no text in it
	}
}

// What an agent does is told to whoever watches, without the secrets in it.
func TestActivityIsRedacted(t *testing.T) {
	t.Parallel()
	e, err := epic.Read("epic.yml", []byte(threeInARow))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Epic: e,
				Dir:  t.TempDir(),
				Run:  "20260101T220000Z-0000",
			},
			Graph:   g,
			Secrets: secrets.New([]string{"A_KEY=abcdefghijklmnop"}),
		},
		Policy: decide.Policy{
			Runners: []string{"claude"},
			Notify:  func(u decide.Update) { told = append(told, u.Text) },
		},
	}
	store, err := openedLedger(t, &o)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan engine.Event, 1)
	heard <- engine.Event{Task: "A", Kind: engine.KindActivity, Detail: runners.Event{Text: "Bash curl -H abcdefghijklmnop"}}
	close(heard)
	newRun(&o, store, abilities(&simulated{})).listener.listen(heard)
	if want := []string{"Bash curl -H [redacted A_KEY]"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
