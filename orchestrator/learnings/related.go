package learnings

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/globs"
)

// Told is one learning for an agent, and the task whose agent said it.
type Told struct{ Task, Text string }

// MostTold is how many learnings an agent is told.
const MostTold = 12

// How much a learning has to do with a task: a file in common says more than a tag, and a tag more than a word.
const (
	perFile = 4
	perTag  = 2
	mostPer = 3 // of each that count
)

// ForTask returns what other tasks have learned, what has most to do with a task first: by the files it declares, and by the words
// of its title among tags and learnings. Each is told once, the newest words of a task first; what the task is told anyhow is left
// out.
func ForTask(s Source, t *epic.Task, toldAnyhow []string) []Told {
	seen := map[string]bool{}
	for _, text := range toldAnyhow {
		seen[normal(line(text))] = true
	}
	words := wordsOf(normal(t.Title)).words
	type ranked struct {
		Told
		score int
	}
	var list []ranked
	for _, one := range slices.Backward(s.all()) {
		if one.task == t.ID || seen[one.normal] {
			continue
		}
		seen[one.normal] = true
		list = append(list, ranked{Told{one.task, one.text}, one.score(t.Files, words)})
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	var told []Told
	for _, r := range list[:min(len(list), MostTold)] {
		told = append(told, r.Told)
	}
	return told
}

// score says how much a learning has to do with a task that declares some files and has a title of some words.
func (one *said) score(declared []string, title map[string]bool) int {
	files, tags, words := 0, 0, 0
	for _, f := range one.files {
		if files < mostPer && slices.ContainsFunc(declared, func(d string) bool { return globs.Covers(d, f) || globs.Covers(f, d) }) {
			files++
		}
	}
	for _, tag := range one.tags {
		named := func(file string) bool { return wordsOf(normal(file)).words[tag] }
		if hasAny(title, strings.ReplaceAll(tag, "-", " ")) || slices.ContainsFunc(declared, named) {
			tags++
		}
	}
	for w := range wordsOf(one.normal).words {
		if len(w) > 3 && title[w] {
			words++
		}
	}
	return perFile*files + perTag*min(tags, mostPer) + min(words, mostPer)
}

// hasAny reports whether one of the words of a text is in a set.
func hasAny(set map[string]bool, text string) bool {
	for w := range strings.FieldsSeq(text) {
		if set[w] {
			return true
		}
	}
	return false
}
