// Package each makes lists of lists: what a function returns of each item, or each item once. It counts items, too.
package each

import "slices"

// Of returns what f makes of each item, in their order; nil of an empty list.
func Of[T, V any](list []T, f func(T) V) []V {
	return Where(list, func(item T) (V, bool) { return f(item), true })
}

// Where is Of without what f reports false with.
func Where[T, V any](list []T, f func(T) (V, bool)) (made []V) {
	for _, item := range list {
		if v, ok := f(item); ok {
			made = append(made, v)
		}
	}
	return made
}

// Added returns a list with more, each once.
func Added[T comparable](list []T, more ...T) []T {
	for _, item := range more {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// Count returns how many items of a list fit.
func Count[T any](list []T, fits func(*T) bool) (n int) {
	for i := range list {
		if fits(&list[i]) {
			n++
		}
	}
	return n
}
