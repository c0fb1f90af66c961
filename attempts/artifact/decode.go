package artifact

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"relay/internal/plaintext"
)

// textOf returns a value as text, whatever it is. A mapping in a list is most often a text with a colon that nobody has quoted.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case []any:
		return strings.Join(listOf(v, textOf), "; ")
	case Map:
		parts := make([]string, 0, len(v))
		for _, f := range v {
			parts = append(parts, f.Key+": "+textOf(f.Value))
		}
		return strings.Join(parts, "; ")
	}
	return fmt.Sprint(v)
}

// listOf makes a list of a value: one that is no list is its only item.
func listOf[T any](v any, item func(any) T) (list []T) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, i := range v {
			list = append(list, item(i))
		}
	default:
		list = append(list, item(v))
	}
	return list
}

func fromMap(m Map) *Artifact {
	a := &Artifact{}
	read(m, reflect.ValueOf(a).Elem())
	if a.Mode == "" { // the older layout
		v, _ := m.Get("event_type")
		a.Mode = Mode(oneLine(textOf(v)))
		a.Extra = slices.DeleteFunc(a.Extra, func(f Field) bool { return f.Key == "event_type" })
	}
	if o, ok := ParseOutcome(string(a.Outcome)); ok {
		a.Outcome = o
	}
	return a
}

func known(m Map) bool {
	for _, key := range []string{"mode", "event_type", "goal", "now"} {
		if v, ok := m.Get(key); ok && plaintext.Line(textOf(v)) != "" {
			return true
		}
	}
	return false
}
