package runners

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"relay/epic/plaintext"
)

// Kinds of tasks that have a payload of their own; every other kind has that of an implementation.
const (
	kindBugfix = "bugfix"
	kindReview = "review"
)

// OfKind returns the result without the payloads that are not those of a kind of task.
func (r Result) OfKind(kind string) Result {
	if kind == kindBugfix || kind == kindReview {
		r.Implementation = nil
	}
	if kind != kindBugfix {
		r.Bugfix = nil
	}
	if kind != kindReview {
		r.Inspection = nil
	}
	return r
}

// payloads takes what an agent says by the kind of its task. Keys may also be written as in designDecisions.
func (r *Result) payloads(fields object) {
	o := objectOf(fields["implementation"])
	built := plaintext.Implementation{DesignDecisions: o.texts("design_decisions"), BreakingChanges: o.texts("breaking_changes")}
	if len(built.DesignDecisions)+len(built.BreakingChanges) > 0 {
		r.Implementation = &built
	}
	o = objectOf(fields["bugfix"])
	mended := plaintext.Bugfix{
		Symptom: o.text("symptom"), RootCause: o.text("root_cause"), Fix: o.text("fix"), RegressionRisk: o.text("regression_risk"),
	}
	if mended != (plaintext.Bugfix{}) {
		r.Bugfix = &mended
	}
	o = objectOf(fields["review"])
	judged := plaintext.Inspection{
		Scope: o.texts("scope"), Findings: findings(o["findings"]),
		Assessment: cmp.Or(o.text("overall_assessment"), o.text("assessment")),
	}
	if len(judged.Scope)+len(judged.Findings) > 0 || judged.Assessment != "" {
		r.Inspection = &judged
	}
}

// findings reads a list of them; what names no issue is none.
func findings(raw json.RawMessage) []plaintext.InspectionFinding {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []plaintext.InspectionFinding
	for _, item := range list[:min(len(list), maxList)] {
		o := objectOf(item)
		f := plaintext.InspectionFinding{
			Severity: severity(o.text("severity")), Location: o.text("location"), Issue: o.text("issue"), Recommendation: o.text("recommendation"),
		}
		if f.Issue != "" {
			out = append(out, f)
		}
	}
	return out
}

// severity returns one of the five words for what an agent calls it; info for what it does not say.
func severity(word string) string {
	switch word = strings.ToLower(word); word {
	case "critical", "high", "medium", "low":
		return word
	case "blocker":
		return "critical"
	case "major":
		return "high"
	case "moderate", "warning":
		return "medium"
	case "minor":
		return "low"
	default:
		return "info"
	}
}

// decisions reads a map of texts, or a list of {name, value} or of texts: a schema whose objects are closed has no map. It ignores
// other types.
func decisions(raw json.RawMessage) map[string]string {
	made := map[string]string{}
	var list []json.RawMessage
	var named map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list[:min(len(list), maxList)] {
			o := objectOf(item)
			decide(made, cmp.Or(o.text("name"), textOf(item)), o.text("value"))
		}
	case json.Unmarshal(raw, &named) == nil:
		for _, name := range sortedKeys(named, maxList) {
			if bytes.HasPrefix(named[name], []byte(`"`)) {
				decide(made, name, textOf(named[name]))
			}
		}
	}
	if len(made) == 0 {
		return nil
	}
	return made
}

// decide adds a decision. A name that is too long is its own value, if it has none.
func decide(made map[string]string, name, value string) {
	whole := CleanText(name, MaxString)
	name, value = CleanText(name, MaxDetail), CleanText(value, MaxString)
	if value == "" && whole != name {
		value = whole
	}
	if name != "" {
		made[name] = value
	}
}

// object is a JSON object, read as far as its values have the types that are looked for.
type object map[string]json.RawMessage

// objectOf reads an object with its keys in snake_case; nil of anything else. A key in snake_case wins over another form of it.
func objectOf(raw json.RawMessage) object {
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		return nil
	}
	out := make(object, min(len(keys), maxList))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if name := snake(key); name == key || out[name] == nil {
			if len(out) < maxList || out[name] != nil {
				out[name] = keys[key]
			}
		}
	}
	return out
}

// snake returns designDecisions as design_decisions.
func snake(key string) string {
	if len(key) > MaxName {
		return key
	}
	var b strings.Builder
	for i, r := range key {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (o object) text(key string) string { return CleanText(textOf(o[key]), MaxString) }

// texts reads a list of texts, of which one may stand alone, unless it says that there is none.
func (o object) texts(key string) []string {
	var list []json.RawMessage
	if json.Unmarshal(o[key], &list) != nil && !plaintext.Nothing(textOf(o[key])) {
		list = []json.RawMessage{o[key]}
	}
	var out []string
	for _, item := range list[:min(len(list), maxList)] {
		if text := CleanText(textOf(item), MaxString); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// textOf returns a JSON text; "" of anything else.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// sortedKeys returns the first max keys of m in order, so that what is cut does not depend on chance.
func sortedKeys[V any](m map[string]V, max int) []string {
	keys := slices.Sorted(maps.Keys(m))
	return keys[:min(len(keys), max)]
}
