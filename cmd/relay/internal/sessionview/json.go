package sessionview

import (
	"fmt"
	"reflect"
)

// printJSON prints what value points to, with the secrets taken out of its texts: of those that have the form of one, as well as of
// those that relay knows.
func (v *View) printJSON(value any) error {
	if list := reflect.ValueOf(value).Elem(); list.Kind() == reflect.Slice && list.IsNil() {
		list.Set(reflect.MakeSlice(list.Type(), 0, 0)) // nil would be printed as null
	}
	eachText(reflect.ValueOf(value), v.app.Secrets.Text)
	return v.app.PrintJSON(value)
}

// shown prints a list as JSON, if that is wanted, and says what is missing when it is empty. It is done then, and after an error.
func shown[T any](v *View, list []T, err error, none string) (done bool, _ error) {
	switch {
	case err != nil:
		return true, err
	case v.json:
		return true, v.printJSON(&list)
	case len(list) == 0 && none != "":
		fmt.Fprintln(v.app.Err, "relay: note: "+none)
		return true, nil
	}
	return false, nil
}

// eachText puts f of every text below a value in its place.
func eachText(at reflect.Value, f func(string) string) {
	switch at.Kind() {
	case reflect.String:
		if at.CanSet() {
			at.SetString(f(at.String()))
		}
	case reflect.Pointer:
		if !at.IsNil() {
			eachText(at.Elem(), f)
		}
	case reflect.Interface:
		if text, ok := reflect.TypeAssert[string](at); ok && at.CanSet() {
			at.Set(reflect.ValueOf(f(text)))
		}
	case reflect.Slice, reflect.Array:
		for i := range at.Len() {
			eachText(at.Index(i), f)
		}
	case reflect.Struct:
		for _, field := range at.Fields() {
			eachText(field, f)
		}
	default:
	}
}
