package sessionview

import "reflect"

// printJSON prints what value points to, with the secrets taken out of its texts: of those that have the form of one, as well as of
// those that relay knows.
func (v *View) printJSON(value any) error {
	if list := reflect.ValueOf(value).Elem(); list.Kind() == reflect.Slice && list.IsNil() {
		list.Set(reflect.MakeSlice(list.Type(), 0, 0)) // nil would be printed as null
	}
	eachText(reflect.ValueOf(value), v.app.Secrets.Text)
	return v.app.PrintJSON(value)
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
