// Package each makes lists of lists: what a function returns of each item.
package each

// Of returns what f makes of each item, in their order; nil of an empty list.
func Of[T, V any](list []T, f func(T) V) (made []V) {
	for _, item := range list {
		made = append(made, f(item))
	}
	return made
}
