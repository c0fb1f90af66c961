package jsonscan

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Decode reads a JSON object into the struct that to points to, which is zero. It reports whether it understood the whole text;
// if not, the struct is left in any state.
func (s *Scanner) Decode(text []byte, to any) bool {
	s.text, s.at, s.gaveUp = text, 0, false
	s.value(reflect.ValueOf(to).Elem())
	return !s.gaveUp && s.at == len(s.text)
}

// field is a field of a struct that has a name in JSON.
type field struct {
	name  string
	index []int
	rare  bool // encoding/json reads its type
}

// fields returns those of a struct type, with those of the structs embedded in it.
func (s *Scanner) fields(t reflect.Type) []field {
	list, known := s.types[t]
	if known {
		return list
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		list = append(list, field{name, f.Index, rare(f.Type) || strings.Contains(options, "string")})
	}
	if s.types == nil {
		s.types = map[reflect.Type][]field{}
	}
	s.types[t] = list
	return list
}

// rare reports whether a type decodes itself, other than a time.
func rare(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
		t = t.Elem()
	}
	switch reflect.New(t).Interface().(type) {
	case *time.Time, *json.RawMessage:
		return false
	case json.Unmarshaler, encoding.TextUnmarshaler:
		return true
	}
	return false
}

// value reads any value into v, which is zero.
func (s *Scanner) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s.word())
	case reflect.Bool:
		v.SetBool(s.bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(s.int())
	case reflect.Uint64:
		v.SetUint(s.uint())
	case reflect.Float64:
		v.SetFloat(s.float())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		s.value(v.Elem())
	case reflect.Slice:
		if raw, ok := reflect.TypeAssert[*json.RawMessage](v.Addr()); ok {
			*raw = bytes.Clone(s.verbatim())
		} else {
			s.list(v)
		}
	case reflect.Struct:
		if t, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			*t = s.time()
		} else {
			s.object(v)
		}
	default:
		s.gaveUp = true
	}
}

// object reads an object into a struct. Fields mostly come in the order in which the struct has them.
func (s *Scanner) object(v reflect.Value) {
	fields := s.fields(v.Type())
	var seen uint64
	next := 0
	s.want('{')
	if s.take('}') {
		return
	}
	for !s.gaveUp {
		name, plain := s.raw()
		s.want(':')
		i := find(fields, next, name)
		if s.gaveUp || !plain || i < 0 || i >= 64 || seen&(1<<i) != 0 || fields[i].rare {
			s.gaveUp = true
			return
		}
		seen |= 1 << i
		next = i + 1
		if at := fields[i].index; len(at) == 1 {
			s.value(v.Field(at[0]))
		} else {
			s.value(v.FieldByIndex(at))
		}
		if s.take('}') {
			return
		}
		s.want(',')
	}
}

func find(fields []field, from int, name []byte) int {
	for n := range fields {
		i := (from + n) % len(fields)
		if fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

func (s *Scanner) list(v reflect.Value) {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	s.want('[')
	if s.take(']') {
		return
	}
	for n := 1; !s.gaveUp; n++ {
		v.Grow(1)
		v.SetLen(n)
		s.value(v.Index(n - 1))
		if s.take(']') {
			return
		}
		s.want(',')
	}
}
