package update

import (
	"reflect"
	"slices"

	"relay/epic"
	"relay/epic/each"
)

// mergeTask brings a task up to date. It returns the keys of what was changed, which of these had been edited here too, and what stays
// although the plan gives it no more.
func mergeTask(was, have, want *epic.Task) (changed, over, left []string) {
	changed, over, left = mergeFields(was, have, want, "depends_on", "source")
	if on := mergeLists(was.DependsOn, have.DependsOn, want.DependsOn); !slices.Equal(on, have.DependsOn) {
		have.DependsOn = on
		changed = append(changed, "depends_on")
	}
	have.Source = want.Source
	return changed, over, left
}

// mergeWhole brings what an epic has beside its tasks up to date, and returns the keys of what was changed, and of what stays although the
// plan gives it no more. Its checks become more, and never fewer: some were given with --checks, and are in no plan.
func mergeWhole(was, have, want *epic.Epic) (changed, left []string) {
	changed, _, left = mergeFields(was, have, want, "version", "id", "source", "created_at", "checks", "tasks")
	have.Checks = slices.Clone(have.Checks)
	before := len(have.Checks)
	for _, c := range want.Checks {
		same := func(o epic.Check) bool { return o.Name == c.Name || o.Run == c.Run }
		if !slices.ContainsFunc(was.Checks, same) && !slices.ContainsFunc(have.Checks, same) {
			have.Checks = append(have.Checks, c)
		}
	}
	gone := func(c epic.Check) bool {
		same := func(o epic.Check) bool { return o.Run == c.Run }
		return slices.ContainsFunc(have.Checks, same) && !slices.ContainsFunc(want.Checks, same)
	}
	if len(have.Checks) > before {
		changed = append(changed, "checks")
		if slices.ContainsFunc(was.Checks, gone) { // in other words by now, most likely
			left = append(left, "checks")
		}
	}
	if have.Source != want.Source { // the plan has moved
		have.Source = want.Source
		changed = append(changed, "source")
	}
	return changed, left
}

// mergeFields takes over what the plan gives, and gives otherwise than before, but for some keys. Fields that it no longer gives stay,
// except groups.
func mergeFields[T any](was, have, want *T, but ...string) (changed, over, left []string) {
	for f, now := range reflect.ValueOf(have).Elem().Fields() {
		key := f.Tag.Get("yaml")
		if key == "" || slices.Contains(but, key) {
			continue
		}
		before, next := reflect.ValueOf(was).Elem().FieldByIndex(f.Index), reflect.ValueOf(want).Elem().FieldByIndex(f.Index)
		switch {
		case same(before, next), same(now, next):
			continue
		case empty(next) && key != "parallelization":
			left = append(left, key)
			continue
		case !same(before, now):
			over = append(over, key)
		}
		now.Set(next)
		changed = append(changed, key)
	}
	return changed, over, left
}

func same(a, b reflect.Value) bool {
	return empty(a) && empty(b) || reflect.DeepEqual(a.Interface(), b.Interface())
}

// empty reports whether a plan does not give a field. A priority of 0 is the most urgent one, and given.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Int:
		return false
	default:
		return v.IsZero()
	}
}

// mergeLists takes out of a list what the plan has no more, and adds what is new there.
func mergeLists(was, have, want []string) []string {
	list := slices.DeleteFunc(slices.Clone(have), func(s string) bool { return slices.Contains(was, s) && !slices.Contains(want, s) })
	fresh := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(was, s) })
	return each.Added(list, fresh...)
}

// edited reports whether a task is another than the plan made it.
func edited(was, have *epic.Task) bool {
	a, b := *was, *have
	a.Line, b.Line, a.Source, b.Source = 0, 0, "", ""
	return !reflect.DeepEqual(a, b)
}
