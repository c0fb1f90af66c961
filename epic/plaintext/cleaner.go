package plaintext

import (
	"maps"
	"math"
	"reflect"
	"slices"
)

// Cleaner cleans the texts in a value. A field with the tag text:"block" holds texts of several lines, one with the tag text:"own" words
// of relay, of the plan or of git; nil leaves such texts as they are. One with the tag text:"-" is always kept.
type Cleaner struct {
	Line, Block, Own func(string) string

	Most int // entries kept of each list and map, but for lists in fields with a tag most
}

// CleanAll returns a deep copy of a value with every text cleaned. Texts with a type of their own, such as outcomes, are kept.
func CleanAll[T any](c Cleaner, value T) T {
	c.walk(reflect.ValueOf(&value).Elem(), c.Line, c.Most)
	return value
}

func (c *Cleaner) walk(v reflect.Value, f func(string) string, most int) {
	switch v.Kind() { //nolint:exhaustive // values of other kinds have no texts
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(f(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			item := v.Elem()
			copied := reflect.New(item.Type())
			copied.Elem().Set(item)
			c.walk(copied.Elem(), f, most)
			if v.Kind() == reflect.Interface {
				copied = copied.Elem()
			}
			v.Set(copied)
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			kept := min(v.Len(), most)
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, kept), v.Slice(0, kept)))
			for i := range kept {
				c.walk(v.Index(i), f, c.Most)
			}
		}
	case reflect.Map:
		if texts, ok := reflect.TypeAssert[map[string]string](v); ok && texts != nil {
			out := map[string]string{}
			for _, key := range slices.Sorted(maps.Keys(texts))[:min(len(texts), most)] {
				out[c.Line(key)] = f(texts[key])
			}
			v.Set(reflect.ValueOf(out))
		}
	case reflect.Struct:
		c.fields(v, f)
	}
}

func (c *Cleaner) fields(v reflect.Value, f func(string) string) {
	for i := range v.NumField() {
		field := v.Field(i)
		if !field.CanSet() || field.IsZero() {
			continue
		}
		of, most, tag := f, c.Most, v.Type().Field(i).Tag
		switch tag.Get("text") {
		case "block":
			of = c.Block
		case "own":
			of = c.Own
		}
		if tag.Get("most") != "" {
			most = math.MaxInt
		}
		if of != nil && tag.Get("text") != "-" {
			c.walk(field, of, most)
		}
	}
}
