package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/message"
)

// Problem is one thing that a schema refuses in a value.
type Problem struct {
	Path   []string // of keys and indices, from the outermost
	Text   string
	Either []Problem // instead of a text: why each of the schemas refuses the value of which one must take it (anyOf)
}

// Validate returns what the schema refuses in a value: of maps, slices, texts, [json.Number]s, booleans and nil. The order is that of
// the schema, and any order where the value has keys.
func (s *Schema) Validate(value any) []Problem {
	return (&place{value: value, printer: s.printer}).validate(s.root)
}

// place is a value and where it stands.
type place struct {
	value   any
	path    []string
	printer *message.Printer
}

func (p *place) problem(text string) []Problem {
	return []Problem{{Path: slices.Clone(p.path), Text: text}}
}

// at returns the place of a value inside this one.
func (p *place) at(key string, value any) *place {
	return &place{value: value, path: append(slices.Clone(p.path), key), printer: p.printer}
}

// validate returns what a schema refuses. What fails for its type, its constants or its format is not looked at further.
func (p *place) validate(n *node) (found []Problem) {
	if text := p.mismatch(n); text != "" {
		return p.problem(text)
	}
	switch v := p.value.(type) {
	case map[string]any:
		found = p.object(n, v)
	case []any:
		for i, item := range v {
			if n.Items != nil {
				found = append(found, p.at(strconv.Itoa(i), item).validate(n.Items)...)
			}
		}
	case string:
		found = p.text(n, v)
	case json.Number:
		found = p.number(n, v)
	}
	return append(found, p.combined(n)...)
}

// mismatch says how the value is not of the type, one of the constants or of the format that the schema names, if so.
func (p *place) mismatch(n *node) string {
	kind := typeOf(p.value)
	if kind == "" {
		return fmt.Sprintf("invalid jsonType %T", p.value)
	}
	if n.Type == "integer" && kind == "number" && isInteger(p.value) {
		kind = n.Type
	}
	if n.Type != "" && n.Type != kind {
		return "got " + kind + ", want " + n.Type
	}
	text, isText := p.value.(string)
	switch {
	case n.Const != nil && (!isText || text != *n.Const):
		return "value must be " + quote(*n.Const)
	case n.Enum != nil && (!isText || !slices.Contains(n.Enum, text)):
		return oneOf(n.Enum)
	case isText:
		return n.misformed(text)
	}
	return ""
}

// misformed says how a text is not of the format that the schema names, if so.
func (n *node) misformed(text string) string {
	if n.format == nil {
		return ""
	}
	if err := n.format(text); err != nil {
		return fmt.Sprintf("%s is not valid %s: %v", quote(text), n.Format, err)
	}
	return ""
}

func (p *place) object(n *node, object map[string]any) (found []Problem) {
	var missing []string
	for _, key := range n.Required {
		if _, ok := object[key]; !ok {
			missing = append(missing, quote(key))
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		found = p.problem("missing property " + missing[0])
	default:
		found = p.problem("missing properties " + strings.Join(missing, ", "))
	}
	for key, value := range object {
		inner := n.Properties[key]
		if inner == nil && n.Additional != nil {
			inner = n.Additional.node
		}
		if inner != nil {
			found = append(found, p.at(key, value).validate(inner)...)
		}
	}
	return found
}

func (p *place) text(n *node, text string) (found []Problem) {
	length := utf8.RuneCountInString(text)
	if n.MinLength != nil && length < *n.MinLength {
		found = append(found, p.problem(p.printer.Sprintf("minLength: got %d, want %d", length, *n.MinLength))...)
	}
	if n.MaxLength != nil && length > *n.MaxLength {
		found = append(found, p.problem(p.printer.Sprintf("maxLength: got %d, want %d", length, *n.MaxLength))...)
	}
	if n.pattern != nil && !n.pattern.MatchString(text) {
		found = append(found, p.problem(quote(text)+" does not match pattern "+quote(n.Pattern))...)
	}
	return found
}

func (p *place) number(n *node, number json.Number) (found []Problem) {
	if n.minimum != nil && compare(number, n.minimum) < 0 {
		found = append(found, p.limit("minimum", number, n.minimum)...)
	}
	if n.maximum != nil && compare(number, n.maximum) > 0 {
		found = append(found, p.limit("maximum", number, n.maximum)...)
	}
	return found
}

func (p *place) limit(name string, number json.Number, limit *big.Rat) []Problem {
	got, _ := number.Float64()
	want, _ := limit.Float64()
	return p.problem(name + p.printer.Sprintf(": got %v, want %v", got, want))
}

// compare compares a number with a limit. What is too large or too small for an exact comparison is infinite, or nothing.
func compare(number json.Number, limit *big.Rat) int {
	if exact, ok := new(big.Rat).SetString(number.String()); ok {
		return exact.Cmp(limit)
	}
	rough, _ := number.Float64()
	return big.NewFloat(rough).Cmp(new(big.Float).SetRat(limit))
}

// combined holds the value against the schemas that this one is combined of.
func (p *place) combined(n *node) (found []Problem) {
	for _, inner := range n.AllOf {
		found = append(found, p.validate(inner)...)
	}
	if _, refused := p.matches(n.AnyOf, 1); refused != nil {
		found = append(found, Problem{Path: slices.Clone(p.path), Either: refused})
	}
	matched, refused := p.matches(n.OneOf, 2)
	found = append(found, refused...)
	if len(matched) == 2 {
		found = append(found, p.problem(fmt.Sprintf("'oneOf' failed, subschemas %d, %d matched", matched[0], matched[1]))...)
	}
	if n.If != nil && n.Then != nil && len(p.validate(n.If)) == 0 {
		found = append(found, p.validate(n.Then)...)
	}
	return found
}

// matches returns the first schemas that take the value, at most so many, and what all of them refuse when none does.
func (p *place) matches(nodes []*node, atMost int) (matched []int, refused []Problem) {
	for i, n := range nodes {
		problems := p.validate(n)
		if len(problems) > 0 {
			refused = append(refused, problems...)
			continue
		}
		if matched = append(matched, i); len(matched) == atMost {
			break
		}
	}
	if len(matched) > 0 {
		refused = nil
	}
	return matched, refused
}

// typeOf returns JSON's name of a value's type, and nothing for one that JSON does not have.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return ""
}

func isInteger(v any) bool {
	r, ok := new(big.Rat).SetString(fmt.Sprint(v))
	return ok && r.IsInt()
}

func oneOf(want []string) string {
	if len(want) == 1 {
		return "value must be " + quote(want[0])
	}
	quoted := make([]string, 0, len(want))
	for _, w := range want {
		quoted = append(quoted, quote(w))
	}
	return "value must be one of " + strings.Join(quoted, ", ")
}

// quote puts a text into single quotes, and writes what does not print as Go does.
func quote(text string) string {
	text = strconv.Quote(text)
	text = strings.ReplaceAll(text, `\"`, `"`)
	text = strings.ReplaceAll(text, `'`, `\'`)
	return "'" + text[1:len(text)-1] + "'"
}
