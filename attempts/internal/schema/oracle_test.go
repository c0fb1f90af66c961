package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"
)

// schemas are those that this package is there for.
var schemas = []string{"../../artifact/artifact.schema.json", "../../ledgersync/entry.schema.json"}

// short is the format of all names in these tests: texts of fewer than four bytes have it.
func short(text string) error {
	if len(text) < 4 {
		return nil
	}
	return errors.New("it is long")
}

// pair is a schema as this package and as the library have compiled it.
type pair struct {
	ours   *Schema
	theirs *jsonschema.Schema
}

func newPair(tb testing.TB, text []byte) pair {
	tb.Helper()
	formats := map[string]Format{}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, name := range []string{"date", "date-time", "uuid", "uri"} {
		formats[name] = short
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if text, ok := v.(string); ok {
				return short(text)
			}
			return nil
		}})
	}
	ours, err := Compile(text, formats)
	if err != nil {
		tb.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = compiler.AddResource("s.json", value)
	}
	if err != nil {
		tb.Fatal(err)
	}
	theirs, err := compiler.Compile("s.json")
	if err != nil {
		tb.Fatal(err)
	}
	return pair{ours, theirs}
}

// compare fails the test when the two have not the same problems with a value.
func (p pair) compare(tb testing.TB, value any) (problems int) {
	tb.Helper()
	ours := ourTexts(p.ours.Validate(value), nil)
	var theirs []string
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](p.theirs.Validate(value)); ok {
		theirs = theirTexts(p.ours.printer, invalid, nil)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	if !slices.Equal(ours, theirs) {
		text, _ := json.Marshal(value)
		tb.Fatalf("of %s\ngot\n%s\nthe library says\n%s", text, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
	return len(ours)
}

func ourTexts(problems []Problem, found []string) []string {
	for _, p := range problems {
		if p.Either == nil {
			found = append(found, strings.Join(p.Path, "/")+": "+p.Text)
			continue
		}
		found = ourTexts(p.Either, append(found, strings.Join(p.Path, "/")+": anyOf"))
	}
	return found
}

func theirTexts(printer *message.Printer, e *jsonschema.ValidationError, found []string) []string {
	at := strings.Join(e.InstanceLocation, "/") + ": "
	if _, ok := e.ErrorKind.(*kind.AnyOf); ok {
		found = append(found, at+"anyOf")
	}
	for _, cause := range e.Causes {
		found = theirTexts(printer, cause, found)
	}
	if len(e.Causes) == 0 {
		found = append(found, at+e.ErrorKind.LocalizedString(printer))
	}
	return found
}

// TestTheLibraryHasTheSameProblems makes values of the schemas, most of them with something wrong, and asks both.
func TestTheLibraryHasTheSameProblems(t *testing.T) {
	t.Parallel()
	for _, file := range append(slices.Clone(schemas), "testdata/all.schema.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := newPair(t, text)
		valid, wrong := 0, 0
		for seed := range uint64(1500) {
			m := maker{rand.New(rand.NewPCG(seed, 0)), float64(seed%8) / 40} //nolint:gosec // no secret
			if p.compare(t, m.value(p.ours.root)) == 0 {
				valid++
			} else {
				wrong++
			}
		}
		if valid < 100 || wrong < 500 {
			t.Errorf("%s: %d values are valid and %d are not: they show little", file, valid, wrong)
		}
	}
}

// maker makes values.
type maker struct {
	*rand.Rand
	wrong float64 // how likely something is wrong
}

// anything is what no schema expects.
func (m maker) anything() any {
	values := []any{
		nil, true, false, json.Number("1.5"), json.Number("-3"), json.Number("12345678"),
		json.Number("2.0"), json.Number("1e3"), "", "a'b\"c\\d\n", "it is 1,000 ☃",
		[]any{},
		[]any{"a", json.Number("0")},
		map[string]any{},
		map[string]any{"decision": "x", "y": nil},
	}
	return values[m.IntN(len(values))]
}

// value makes a value that a schema takes, or nearly.
func (m maker) value(n *node) any {
	if n == nil || m.Float64() < m.wrong {
		return m.anything()
	}
	if choices := slices.Concat(n.AnyOf, n.OneOf); n.Type == "" && choices != nil {
		return m.value(choices[m.IntN(len(choices))])
	}
	switch {
	case n.Const != nil:
		return *n.Const
	case n.Enum != nil:
		return n.Enum[m.IntN(len(n.Enum))]
	}
	switch n.Type {
	case "object":
		return m.object(n)
	case "array":
		list := []any{}
		for range m.IntN(3) {
			list = append(list, m.value(n.Items))
		}
		return list
	case "string":
		texts := []string{"1.0.0", "abc", "x", "☃☃", "abcd"}
		if m.Float64() >= m.wrong {
			texts = texts[1:3]
		}
		if n.pattern != nil {
			return "1.0.0"
		}
		if m.Float64() < m.wrong {
			return strings.Repeat("é", m.IntN(1500))
		}
		return texts[m.IntN(len(texts))]
	case "integer", "number":
		numbers := []json.Number{"0", "1", "1.0", "0.5", "-1", "1e2", "4000.25"}
		if m.Float64() >= m.wrong {
			numbers = numbers[:3]
		}
		return numbers[m.IntN(len(numbers))]
	case "boolean":
		return m.IntN(2) == 0
	case "null":
		return nil
	}
	return m.anything()
}

func (m maker) object(n *node) any {
	object := map[string]any{}
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for key := range n.Properties {
			if !yield(key) {
				return
			}
		}
	}) {
		if needed := slices.Contains(n.Required, key); needed && m.Float64() >= m.wrong || !needed && m.IntN(4) == 0 {
			object[key] = m.value(n.Properties[key])
		}
	}
	if n.Additional != nil {
		object["another"] = m.value(n.Additional.node)
	}
	for _, all := range n.AllOf { // what these need
		if all.Then == nil {
			continue
		}
		for _, key := range all.Then.Required {
			if m.Float64() >= m.wrong {
				object[key] = m.value(n.Properties[key])
			}
		}
	}
	return object
}

// FuzzValidate asks both of values that nobody has made for a schema.
func FuzzValidate(f *testing.F) {
	var pairs []pair
	for _, file := range append(slices.Clone(schemas), "testdata/all.schema.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		pairs = append(pairs, newPair(f, text))
	}
	f.Add([]byte(`{"mode":"handoff","date":5,"decisions":[{}]}`))
	f.Add([]byte(`{"number":1e3,"text":"abcdef","list":[1,"a"],"either":{"a":"1"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		ours, err := Decode(text)
		theirs, theirErr := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if (err == nil) != (theirErr == nil) || err != nil && err.Error() != theirErr.Error() {
			t.Fatalf("got the error %v, the library says %v", err, theirErr)
		}
		if err != nil || theirs == nil && ours != nil || bytes.ContainsAny(text, "eE") { // the library panics for a limit of 1e9999999
			return
		}
		for _, p := range pairs {
			p.compare(t, ours)
		}
	})
}
