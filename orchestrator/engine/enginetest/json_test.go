package enginetest

import (
	"reflect"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// What crosses the border has no unexported field, function, channel or interface in it, at any depth.
func TestBorderIsPlainData(t *testing.T) {
	t.Parallel()
	seen := make(map[reflect.Type]bool)
	var look func(where string, of reflect.Type)
	look = func(where string, of reflect.Type) {
		if seen[of] || of == reflect.TypeFor[time.Time]() {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
			t.Errorf("%s is a %s", where, of.Kind())
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(where, of.Elem())
		case reflect.Struct:
			for field := range of.Fields() {
				if !field.IsExported() {
					t.Errorf("%s.%s is not exported", where, field.Name)
				}
				if field.Tag.Get("json") == "-" && of != reflect.TypeFor[attempts.TaskRecord]() { // what is heard of an attempt under way is in [engine.Attempt]
					t.Errorf("%s.%s is left out by JSON", where, field.Name)
				}
				look(where+"."+field.Name, field.Type)
			}
		default: // a plain value
		}
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[engine.Options](),
		reflect.TypeFor[engine.Attempt](), reflect.TypeFor[engine.Result](), reflect.TypeFor[engine.Event](), reflect.TypeFor[engine.Verified](),
		reflect.TypeFor[engine.Step](), reflect.TypeFor[engine.FailedCheck](), reflect.TypeFor[engine.ReviewedEpic](),
	} {
		look(of.Name(), of)
	}
}

// What JSON would lose is told.
func TestLossIsTold(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a function was sent")
		}
	}()
	sent(struct{ F func() }{})
}
