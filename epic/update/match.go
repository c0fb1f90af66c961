package update

import (
	"strings"

	"relay/epic"
)

// match finds the tasks that a plan had before, and returns their ids here by those that they have in the plan now. A task is the same
// when it has the same id and title there, else when it has the same title, else when it has the same id and a title that has words
// in common: lists are numbered anew when something is put into their middle.
func match(made, plan *epic.Epic) map[string]string {
	ids, used := map[string]string{}, map[string]bool{}
	for _, same := range []func(was, is *epic.Task) bool{
		func(was, is *epic.Task) bool { return origin(was) == origin(is) && was.Title == is.Title },
		func(was, is *epic.Task) bool { return was.Title == is.Title },
		func(was, is *epic.Task) bool { return origin(was) == origin(is) && alike(was, is) },
	} {
		for i := range plan.Tasks {
			is := &plan.Tasks[i]
			for j := range made.Tasks {
				was := &made.Tasks[j]
				if ids[is.ID] == "" && !used[was.ID] && same(was, is) {
					ids[is.ID], used[was.ID] = was.ID, true
				}
			}
		}
	}
	return ids
}

// origin returns the id of a task in the plan it came from, which is the last thing that its source says.
func origin(t *epic.Task) string {
	if open := strings.LastIndex(t.Source, "("); open >= 0 && strings.HasSuffix(t.Source, ")") {
		return t.Source[open+1 : len(t.Source)-1]
	}
	return t.ID
}

// alike reports whether two tasks of one id are one, with another title: they say the same, or half of the words of the shorter title are
// in the other.
func alike(was, is *epic.Task) bool {
	if was.Description != "" && was.Description == is.Description {
		return true
	}
	a, b := words(was.Title), words(is.Title)
	shared := 0
	for w := range a {
		if b[w] {
			shared++
		}
	}
	return 2*shared >= min(len(a), len(b))
}

func words(title string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(strings.ToLower(title)) {
		set[strings.Trim(w, ".,:;!?()`'\"")] = true
	}
	return set
}
