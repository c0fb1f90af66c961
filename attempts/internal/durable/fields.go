package durable

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/epic/each"
	"relay/epic/plaintext"
)

// yamlField is a field of a struct that has a name in YAML.
type yamlField struct {
	name     string
	index    []int
	optional bool // left out when it is zero
	empties  bool // left out when it is zero, but for a Writer that is Whole
	raw      bool // holds keys as YAML
}

// Formed is a struct that is written as the struct that YAMLForm points to.
type Formed interface{ YAMLForm() any }

// section is a mapping of which nothing is written yet.
type section struct {
	indent int
	name   string
}

// Section writes what body writes, two columns further in, below a name; nothing when body writes nothing, which it reports.
func (y *YAMLWriter) Section(indent int, name string, body func()) (nothing bool) {
	y.open = append(y.open, section{indent, name})
	n := len(y.open)
	body()
	if nothing = len(y.open) == n; nothing {
		y.open = y.open[:n-1]
	}
	return nothing
}

// Fields writes the fields of the struct that v points to, by the names in their yaml tags, or else ledger or json tags, and in their
// order, with those of structs embedded in it. It leaves out empty texts and lists, but for the text that begins an entry of a list and
// those of a Writer that is Whole, times and pointers that are zero, and what else is zero and marked with omitempty. A field Extra is a
// text of further keys, as YAML. The fields without are not written.
func (y *YAMLWriter) Fields(indent int, v any, without ...string) {
	y.fields(indent, reflect.Indirect(reflect.ValueOf(v)), without...)
}

// Entry writes the fields of a struct as an entry of a list.
func (y *YAMLWriter) Entry(indent int, v any, without ...string) {
	y.entry = true
	y.Fields(indent+2, v, without...)
}

// Value writes a value below a name, as a field of a struct that [YAMLWriter.Fields] writes.
func (y *YAMLWriter) Value(indent int, name string, v any) { y.value(indent, name, reflect.ValueOf(v)) }

func (y *YAMLWriter) fields(indent int, v reflect.Value, without ...string) {
	list := y.types.fieldsOf(v.Type())
	for i := range list {
		f, in := &list[i], v
		for _, at := range f.index {
			in = in.Field(at)
		}
		switch {
		case (f.optional || f.empties && !y.Whole && !y.entry) && in.IsZero(), slices.Contains(without, f.name):
		case f.raw:
			for line := range strings.SplitSeq(strings.TrimRight(in.String(), "\n"), "\n") {
				if line != "" {
					y.Line(indent, line)
					continue
				}
				y.Line(0)
			}
		default:
			y.value(indent, f.name, in)
		}
	}
}

// yamlTypes are the fields of the structs that were written before.
type yamlTypes map[reflect.Type][]yamlField

func (types yamlTypes) fieldsOf(t reflect.Type) []yamlField {
	list, known := types[t]
	if known {
		return list
	}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("yaml")
		if tag == "" || tag == "-" {
			tag = cmp.Or(f.Tag.Get("ledger"), f.Tag.Get("json"))
		}
		name, options, _ := strings.Cut(tag, ",")
		if raw := f.Name == "Extra"; raw || name != "" && name != "-" {
			kind := f.Type.Kind()
			empties := kind == reflect.String || kind == reflect.Slice || kind == reflect.Pointer
			list = append(list, yamlField{name, f.Index, raw || strings.HasPrefix(options, "omit"), empties, raw})
		}
	}
	types[t] = list
	return list
}

func (y *YAMLWriter) value(indent int, name string, v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // records have no other kinds
	case reflect.String:
		if y.entry || y.Whole && v.Len() == 0 {
			y.Line(indent, name, ": ", YAMLScalar(v.String()))
		} else {
			y.Text(indent, name, v.String())
		}
	case reflect.Bool:
		y.Line(indent, name, ": ", strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int64:
		y.Line(indent, name, ": ", strconv.FormatInt(v.Int(), 10))
	case reflect.Float64:
		y.Number(indent, name, v.Float())
	case reflect.Pointer:
		if !v.IsNil() {
			y.value(indent, name, form(v).Elem())
		}
	case reflect.Slice:
		y.list(indent, name, v)
	case reflect.Map:
		y.texts(indent, name, v)
	case reflect.Struct:
		if t, ok := reflect.TypeAssert[time.Time](v); ok {
			y.Time(indent, name, t)
		} else {
			y.Section(indent, name, func() { y.fields(indent+2, v) })
		}
	}
}

// form returns the pointer to what is written of that which v points to.
func form(v reflect.Value) reflect.Value {
	if formed, ok := reflect.TypeAssert[Formed](v); ok {
		return reflect.ValueOf(formed.YAMLForm())
	}
	return v
}

// list writes a list of texts or structs.
func (y *YAMLWriter) list(indent int, name string, v reflect.Value) {
	if v.Len() > 0 {
		y.Line(indent, name, ":")
	} else if y.Whole {
		y.Line(indent, name, ": []")
	}
	for i := range v.Len() {
		if y.entry = true; v.Index(i).Kind() == reflect.String {
			y.Line(indent+4, YAMLScalar(v.Index(i).String()))
		} else {
			y.fields(indent+4, v.Index(i))
		}
	}
}

// texts writes a map of texts, unless it is empty.
func (y *YAMLWriter) texts(indent int, name string, v reflect.Value) {
	if v.Len() > 0 {
		y.Line(indent, name, ":")
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		y.Line(indent+2, YAMLScalar(key.String()), ": ", YAMLScalar(v.MapIndex(key).String()))
	}
}

// MostListed is how many texts of a list Bound keeps.
const MostListed = 200

// short returns a function that cuts a text to so many bytes.
func short(most int) func(string) string {
	return func(s string) string { return plaintext.Capped(s, most) }
}

// Bound cuts each text in a value to so many bytes and each list to so many entries, or to what the tags max (of texts) and most (of
// lists) of a field say of it and of all that is in it.
func Bound(v reflect.Value, text, list int) {
	switch v.Kind() { //nolint:exhaustive // values of other kinds are small
	case reflect.String:
		v.SetString(plaintext.Capped(v.String(), text))
	case reflect.Pointer:
		if !v.IsNil() {
			Bound(v.Elem(), text, list)
		}
	case reflect.Slice:
		switch l := v.Addr().Interface().(type) {
		case *[]string:
			*l = BoundedList(*l)
		case *json.RawMessage:
			if len(*l) > text {
				*l = nil
			}
		default:
			v.SetLen(min(v.Len(), list))
			for i := range v.Len() {
				Bound(v.Index(i), text, list)
			}
		}
	case reflect.Struct:
		switch s := v.Addr().Interface().(type) {
		case *time.Time:
			return
		case *plaintext.Statement:
			*s = plaintext.CleanAll(plaintext.Cleaner{Line: short(500), Block: short(4 << 10), Most: MostListed}, *s)
		}
		for kind, field := range v.Fields() {
			Bound(field, limit(kind.Tag.Get("max"), text), limit(kind.Tag.Get("most"), list))
		}
	}
}

func limit(tag string, otherwise int) int {
	if n, err := strconv.Atoi(tag); err == nil {
		return n
	}
	return otherwise
}

// BoundedList returns the first entries of a list of texts, each of them cut, and how many there are besides.
func BoundedList(list []string) []string {
	if len(list) > MostListed {
		cut := append([]string(nil), list[:MostListed]...)
		list = append(cut, fmt.Sprintf("… and %d more", len(list)-MostListed))
	}
	return each.Of(list, func(s string) string { return strings.ToValidUTF8(plaintext.Capped(s, 500), "\ufffd") })
}
