package engine

import (
	"encoding/json"
	"reflect"
	"testing"
)

// An engine on another machine gets the options as JSON.
func TestOptionsSurviveJSON(t *testing.T) {
	t.Parallel()
	var given, got Options
	fill(t, reflect.ValueOf(&given).Elem())
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, given) {
		t.Errorf("got %+v, want %+v", got, given)
	}
}

// fill gives every field a value of its own kind that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field)
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.7)
	default:
		t.Fatalf("%s is not filled", v.Type())
	}
}
