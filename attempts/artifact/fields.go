package artifact

import (
	"reflect"
	"strconv"
	"strings"
)

type field struct {
	key, how string
	at       reflect.Value
}

func (f field) has(word string) bool { return strings.Contains(f.how, word) }

func fieldsOf(s reflect.Value) (list []field) {
	for about, at := range s.Fields() {
		if tag, ok := about.Tag.Lookup("key"); ok {
			key, how, _ := strings.Cut(tag, ",")
			list = append(list, field{key, how, at})
		}
	}
	return list
}

func extraOf(s reflect.Value) *Map {
	extra, _ := reflect.TypeAssert[*Map](s.FieldByName("Extra").Addr())
	return extra
}

// read reads a value. One of another type than the format's is taken for what it most likely means.
func read(v any, to reflect.Value) {
	m, isMap := v.(Map)
	switch into := to.Addr().Interface().(type) {
	case *Map:
		if *into = m; !isMap && v != nil {
			*into = Map{{"value", v}}
		}
		return
	case *[]Note:
		*into = notesOf(v)
		return
	case *[]Decision:
		if isMap {
			for _, f := range m {
				*into = append(*into, Decision{Decision: f.Key, Rationale: textOf(f.Value)})
			}
			return
		}
	case *Decision:
		if _, full := m.Get("decision"); !full {
			v = textOf(v)
		}
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(textOf(v))
	case reflect.Pointer:
		if v != nil {
			to.Set(reflect.New(to.Type().Elem()))
			read(v, to.Elem())
		}
	case reflect.Slice:
		for _, item := range listOf(v, func(v any) any { return v }) {
			to.Set(reflect.Append(to, reflect.Zero(to.Type().Elem())))
			read(item, to.Index(to.Len()-1))
		}
	default:
		readFields(v, to)
	}
}

// notesOf reads notes from a mapping, or from a list, whose notes are numbered.
func notesOf(v any) (notes []Note) {
	m, isMap := v.(Map)
	if !isMap {
		for i, text := range listOf(v, textOf) {
			m = append(m, Field{strconv.Itoa(i + 1), text})
		}
	}
	for _, f := range m {
		notes = append(notes, Note{f.Key, textOf(f.Value)})
	}
	return notes
}

// readFields reads the keys of a mapping, or what stands in its place.
func readFields(v any, to reflect.Value) {
	m, isMap := v.(Map)
	rest := make(map[string]bool)
	for _, f := range m {
		rest[f.Key] = true
	}
	for _, f := range fieldsOf(to) {
		value, _ := m.Get(f.key)
		if !isMap && f.has("self") {
			value = v
		}
		if read(value, f.at); f.has("line") {
			f.at.SetString(oneLine(f.at.String()))
		}
		delete(rest, f.key)
	}
	for _, f := range m {
		if rest[f.Key] {
			*extraOf(to) = append(*extraOf(to), f)
		}
	}
}
