package update

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"relay/epic"
)

// match finds the tasks that a plan had before, and returns their ids here by those that they have in the plan now. A task is the same
// when its title is, else when it has the same id and says the same, or has a title that has words in common: inserting a task
// in the middle of a list changes the numbers behind it.
func match(made, plan *epic.Epic) map[string]string {
	ids, used := map[string]string{}, map[string]bool{}
	same := func(was, is *epic.Task) {
		if ids[is.ID] == "" && !used[was.ID] {
			ids[is.ID], used[was.ID] = was.ID, true
		}
	}
	for _, p := range titled(made, plan) {
		same(&made.Tasks[p.was], &plan.Tasks[p.is])
	}
	relabel(made, plan, same, func(was, is string) bool { return used[was] || ids[is] != "" })
	said := map[string]int{}
	byOrigin := map[string]*epic.Task{}
	for i := range made.Tasks {
		said[made.Tasks[i].Description]++
		if id := origin(&made.Tasks[i]); byOrigin[id] == nil {
			byOrigin[id] = &made.Tasks[i]
		}
	}
	for i := range plan.Tasks {
		is := &plan.Tasks[i]
		was := byOrigin[origin(is)]
		if was == nil {
			continue
		}
		sayIt := was.Description != "" && was.Description == is.Description && said[was.Description] == 1
		if sayIt || alike(was.Title, is.Title) {
			same(was, is)
		}
	}
	return ids
}

// relabel pairs tasks of which one title is the other with a label in front, as in Phase 2: Store the times, where only one is so.
func relabel(made, plan *epic.Epic, same func(was, is *epic.Task), taken func(was, is string) bool) {
	lastWord := func(t *epic.Task) string { return t.Title[strings.LastIndexByte(t.Title, ' ')+1:] }
	byEnd := map[string][]*epic.Task{}
	for i := range made.Tasks {
		word := lastWord(&made.Tasks[i])
		byEnd[word] = append(byEnd[word], &made.Tasks[i])
	}
	for i := range plan.Tasks {
		is := &plan.Tasks[i]
		list := slices.DeleteFunc(slices.Clone(byEnd[lastWord(is)]), func(was *epic.Task) bool {
			return taken(was.ID, is.ID) || !epic.Relabelled(was.Title, is.Title)
		})
		if len(list) == 1 {
			same(list[0], is)
		}
	}
}

// mostTwins bounds the pairs of tasks with one title; of more only those with the same id are the same.
const mostTwins = 10000

// pair is a task before and one now, by their places, and how much speaks for it that they are one.
type pair struct{ was, is, score int }

// titled pairs the tasks that have the same title, the likeliest pairs first: of tasks such as two with the title "Write tests" each is
// found again by what else is said of it, and where it stands.
func titled(made, plan *epic.Epic) (pairs []pair) {
	were, now := map[string][]int{}, map[string]int{}
	for i := range made.Tasks {
		were[made.Tasks[i].Title] = append(were[made.Tasks[i].Title], i)
	}
	for i := range plan.Tasks {
		now[plan.Tasks[i].Title]++
	}
	for is := range plan.Tasks {
		title := plan.Tasks[is].Title
		for _, was := range were[title] {
			switch many := len(were[title]) * now[title]; {
			case many == 1:
				pairs = append(pairs, pair{was: was, is: is})
			case many <= mostTwins || origin(&made.Tasks[was]) == origin(&plan.Tasks[is]):
				pairs = append(pairs, pair{was, is, likeness(made, plan, was, is)})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
	return pairs
}

// likeness says how much a task now is as one was.
func likeness(made, plan *epic.Epic, was, is int) (score int) {
	a, b := &made.Tasks[was], &plan.Tasks[is]
	for _, f := range []struct {
		weight int
		same   bool
	}{
		{8, a.Description == b.Description && slices.Equal(a.Files, b.Files) &&
			slices.EqualFunc(a.Checks, b.Checks, func(x, y epic.Check) bool { return x.Run == y.Run })},
		{4, slices.Equal(awaited(made, a), awaited(plan, b))},
		{2, titleAt(made, was-1) == titleAt(plan, is-1)},
		{2, titleAt(made, was+1) == titleAt(plan, is+1)},
		{1, origin(a) == origin(b)},
	} {
		if f.same {
			score += f.weight
		}
	}
	return score
}

// awaited returns the titles of the tasks that a task waits for.
func awaited(e *epic.Epic, t *epic.Task) (titles []string) {
	for _, id := range t.DependsOn {
		if on, ok := e.Task(id); ok {
			titles = append(titles, on.Title)
		}
	}
	slices.Sort(titles)
	return titles
}

func titleAt(e *epic.Epic, n int) string {
	if n < 0 || n >= len(e.Tasks) {
		return ""
	}
	return e.Tasks[n].Title
}

// origin returns the id of a task in the plan it came from, which is the last thing that its source says.
func origin(t *epic.Task) string {
	if open := strings.LastIndex(t.Source, "("); open >= 0 && strings.HasSuffix(t.Source, ")") {
		return t.Source[open+1 : len(t.Source)-1]
	}
	return t.ID
}

// alike reports whether two titles can be those of one task: half of the words of the shorter one are in the other, and not just the verb
// that it begins with. "Add the cart" is not "Add the login".
func alike(was, is string) bool {
	a, b := words(was), words(is)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	shared := 0
	for i, w := range a {
		if slices.Contains(b, w) && (i > 0 || w != b[0] || min(len(a), len(b)) == 1) {
			shared++
		}
	}
	verb := 0
	if a[0] == b[0] && shared > 0 && min(len(a), len(b)) > 1 {
		verb = 1
	}
	return shared > 0 && 2*(shared+verb) >= min(len(a), len(b))
}

// words returns the words of a title that say what is to be done, each once.
func words(title string) (list []string) {
	small := []string{"a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "of", "on", "or", "the", "to", "with"}
	for w := range strings.FieldsSeq(strings.ToLower(title)) {
		w = strings.Trim(w, ".,:;!?()`'\"")
		for _, w := range parts(w) {
			if w != "" && !slices.Contains(small, w) && !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// parts returns the pairs of letters of a word in a script without spaces between words, else the word.
func parts(w string) []string {
	letters := []rune(w)
	joined := func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) }
	if len(letters) < 3 || !strings.ContainsFunc(w, joined) {
		return []string{w}
	}
	pairs := make([]string, len(letters)-1)
	for i := range pairs {
		pairs[i] = string(letters[i : i+2])
	}
	return pairs
}
