package configs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// complaint records what is wrong with a written value. item is its place in a list or map, from 1, or 0 for the whole value;
// key names an item of a map.
type complaint struct {
	item          int
	key           string
	message, hint string
}

// wrong complains of a whole value.
func wrong(hint, format string, args ...any) []complaint {
	return []complaint{{message: fmt.Sprintf(format, args...), hint: hint}}
}

// octal matches numbers that some readers of YAML take as octal, and others not.
var octal = pattern.New(`^\+?0+[1-9][0-9]*$`)

// fromNode reads a value from YAML. The result is string, bool, int, float64 or []string.
func (f *field) fromNode(n *yaml.Node) (any, []complaint) {
	n = epic.Follow(n)
	switch f.kind {
	case boolean:
		var b bool
		if n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
			return nil, f.mistyped(n, "true or false")
		}
		return b, nil
	case prices:
		return pricesFromNode(n)
	case integer, span, decimal:
		var number float64
		if octal.MatchString(n.Value) {
			return nil, wrong("write "+strings.TrimLeft(n.Value, "+0"), "wants a number that does not begin with 0, got %s", shorten(n.Value))
		}
		if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || n.Decode(&number) != nil {
			return nil, f.mistyped(n, "a number")
		}
		return f.number(number)
	case list:
		return f.listFromNode(n)
	default:
		if n.ShortTag() != "!!str" {
			return nil, f.mistyped(n, "text")
		}
		return f.text(n.Value)
	}
}

func (f *field) listFromNode(n *yaml.Node) (any, []complaint) {
	if f.form == forms["host"] && n.Kind == yaml.ScalarNode && (n.Value == openHosts || n.Value == noHosts) {
		return []string{n.Value}, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, f.mistyped(n, "a list, such as [a, b]")
	}
	items, bad := make([]string, 0, len(n.Content)), []complaint(nil)
	for i, item := range n.Content {
		item = epic.Follow(item)
		if item.ShortTag() != "!!str" {
			c := f.mistyped(item, "text")[0]
			c.item = i + 1
			bad = append(bad, c)
			continue
		}
		items = append(items, item.Value)
	}
	if bad != nil {
		return nil, bad
	}
	return f.list(items)
}

// mistyped complains of a value of another type and says how to write the right one.
func (f *field) mistyped(n *yaml.Node, want string) []complaint {
	return wrong(f.remedy(n, want), "wants %s, got %s", want, found(n))
}

// found names what stands where something else should.
func found(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "nothing"
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	default:
		return "a " + strings.TrimPrefix(tag, "!!")
	}
}

// remedy returns text that says what to write instead of a value of the wrong type, or nothing.
func (f *field) remedy(n *yaml.Node, want string) string {
	isText := n.ShortTag() == "!!str"
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
	switch {
	case n.Kind != yaml.ScalarNode:
		return ""
	case n.ShortTag() == "!!null":
		return "give it a value or remove the key"
	case want == "text":
		return "put it in quotes"
	case f.kind == list && isText:
		return "put it in brackets"
	case isText && quoted:
		return "remove the quotes"
	case f.kind == boolean && slices.Contains([]string{"yes", "on", "y"}, strings.ToLower(n.Value)):
		return "write true"
	case f.kind == boolean && slices.Contains([]string{"no", "off", "n"}, strings.ToLower(n.Value)):
		return "write false"
	}
	return ""
}

// fromText reads a value from an environment variable or a flag. A list is separated by commas, or is a YAML list when
// it begins with a bracket, so that [] and items with commas can be said.
func (f *field) fromText(s string) (any, []complaint) {
	switch f.kind {
	case boolean:
		b, err := strconv.ParseBool(strings.ToLower(s))
		if err != nil {
			return nil, wrong("", "wants true or false, got %q", shorten(s))
		}
		return b, nil
	case integer, span, decimal:
		number, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, wrong("", "wants a number, got %q", shorten(s))
		}
		return f.number(number)
	case list, prices:
		want := "wants prices by model, such as {gpt-5: {input: 1.25, output: 10}}"
		if f.kind == list {
			want = "wants a list, such as [a, b]"
			if !strings.HasPrefix(s, "[") {
				items := strings.Split(s, ",")
				for i := range items {
					items[i] = strings.TrimSpace(items[i])
				}
				return f.list(items)
			}
		}
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(s), &document); err != nil || len(document.Content) != 1 {
			return nil, wrong("", "%s", want)
		}
		return f.fromNode(document.Content[0])
	default:
		return f.text(s)
	}
}

// fromAny reads a value that a flag holds: text, or a Go value of the setting's type. Durations become units.
func (f *field) fromAny(v any) (any, []complaint) {
	switch x := v.(type) {
	case string:
		return f.fromText(x)
	case []string:
		if f.kind == list {
			return f.list(slices.Clone(x))
		}
	case time.Duration:
		if f.kind == span {
			return f.number(float64(x) / float64(f.unit))
		}
	case bool, int, float64:
		return f.fromText(fmt.Sprint(x))
	}
	return nil, wrong("", "cannot be a %T", v)
}

func (f *field) number(v float64) (any, []complaint) {
	if !(v >= f.min && v <= f.max) { // also false for NaN
		return nil, wrong(fmt.Sprintf("from %s to %s", digits(f.min), digits(f.max)), "is %v, out of range", v)
	}
	if f.kind == span || f.kind == decimal {
		return v, nil
	}
	if v != math.Trunc(v) {
		return nil, wrong("", "is %v, not a whole number", v)
	}
	return int(v), nil
}

// digits writes a number without an exponent.
func digits(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (f *field) text(s string) (any, []complaint) {
	if f.words != nil && !slices.Contains(f.words, s) {
		return nil, wrong(didYouMean(s, f.words), "cannot be %q", shorten(s))
	}
	if message := f.form.complain(s, f.hidden); message != "" {
		return nil, wrong("", "%s", message)
	}
	return s, nil
}

func (f *field) list(items []string) (any, []complaint) {
	if len(items) > maxItems {
		return nil, wrong("", "has %d items, more than %d", len(items), maxItems)
	}
	var bad []complaint
	for i, item := range items {
		if message := f.form.complain(item, f.hidden); message != "" {
			bad = append(bad, complaint{item: i + 1, message: message})
		}
	}
	if bad != nil {
		return nil, bad
	}
	return items, nil
}

// complain returns text that says why s does not have the form, or nothing. It never repeats a hidden text.
func (fm *form) complain(s string, hidden bool) string {
	shown := fmt.Sprintf("%q ", shorten(s))
	if hidden {
		shown = ""
	}
	switch {
	case len(s) > maxText:
		return fmt.Sprintf("is longer than %d bytes", maxText)
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case fm == nil:
		return ""
	case !fm.pattern.MatchString(s):
		return strings.TrimSpace(shown + "is not " + fm.want)
	case fm.check != nil:
		if why := fm.check(s); why != "" {
			return strings.TrimSpace(shown + why)
		}
	}
	return ""
}

// shorten keeps a wrong value from filling the screen.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return plaintext.Head(s, most) + "…"
}
