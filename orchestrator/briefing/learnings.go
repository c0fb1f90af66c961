package briefing

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/reanchor"
)

// Strength says how sure a learning is, by the number of tasks that say it.
type Strength string

// Strengths, weakest first.
const (
	Skip      Strength = "skip"      // one task
	Emerging  Strength = "emerging"  // two
	Recommend Strength = "recommend" // three
	Strong    Strength = "strong"    // four and more
)

func strengthOf(tasks int) Strength {
	switch {
	case tasks <= 1:
		return Skip
	case tasks == 2:
		return Emerging
	case tasks == 3:
		return Recommend
	}
	return Strong
}

// LearningGroup is one learning, however many tasks have said it and in whatever words.
type LearningGroup struct {
	Text  string   // the wording that most tasks have, one line
	Tags  []string // of any of them, sorted
	Tasks []string // in the order of the plan
	Files []string // that their attempts changed, or declare when they have changed none

	wordings []wording
}

type wording struct {
	text, normal string
	tasks        int
}

// Strength returns how sure the learning is.
func (g *LearningGroup) Strength() Strength { return strengthOf(len(g.Tasks)) }

// Worth reports whether the learning is sure enough to be proposed.
func (g *LearningGroup) Worth() bool { return len(g.Tasks) >= 3 }

// LearningSource is where learnings are gathered from.
type LearningSource struct {
	Epic   *epic.Epic
	Only   []int // places in the plan, ascending, of the tasks that are asked; nil: all
	Record func(task string) attempts.TaskRecord
	Redact func(text string) string // nil: nothing is taken out
}

// LearningsOf returns the attempts that a ledger has of an epic, with nothing taken out.
func LearningsOf(e *epic.Epic, l *attempts.Ledger) LearningSource {
	return LearningSource{Epic: e, Record: func(id string) attempts.TaskRecord { return *l.Record(id) }}
}

// said is the learning of one ended attempt.
type said struct {
	task         string
	text, normal string
	tags         []string // normal, sorted, each once
	files        []string
}

// all returns what the ended attempts of an epic have learned, in the order of the plan.
func (s LearningSource) all() []said {
	var list []said
	for _, i := range s.places() {
		t := &s.Epic.Tasks[i]
		rec := s.Record(t.ID)
		for j := range rec.Attempts {
			if one, ok := s.of(t, &rec.Attempts[j]); ok {
				list = append(list, one)
			}
		}
	}
	return list
}

// places returns the places in the plan of the tasks that are asked.
func (s LearningSource) places() []int {
	if s.Only != nil {
		return s.Only
	}
	all := make([]int, len(s.Epic.Tasks))
	for i := range all {
		all[i] = i
	}
	return all
}

// of returns what an attempt says; nothing when it has not ended, or has learned nothing.
func (s LearningSource) of(t *epic.Task, a *attempts.Attempt) (said, bool) {
	if a.Result == attempts.ResultInProgress || a.Receipt.Learning == "" {
		return said{}, false
	}
	redact := s.Redact
	if redact == nil {
		redact = func(text string) string { return text }
	}
	one := said{task: t.ID, text: line(redact(plaintext.Clean(a.Receipt.Learning)))}
	one.normal = normal(one.text)
	if says := one.normal; says == "" || isNothing(says) {
		return said{}, false
	}
	for _, tag := range a.Receipt.PatternTags {
		if tag := strings.ReplaceAll(normal(redact(tag)), " ", "-"); tag != "" {
			one.tags = append(one.tags, plaintext.Head(tag, tagBytes))
		}
	}
	slices.Sort(one.tags)
	one.tags = slices.Compact(one.tags)
	one.files = a.Receipt.FilesChanged
	if len(one.files) == 0 {
		one.files = t.Files
	}
	return one, true
}

const (
	textBytes = 400 // of one learning
	tagBytes  = 60
)

// line returns a text as one line that is not too long.
func line(text string) string {
	text = plaintext.Line(text)
	if len(text) > textBytes {
		text = strings.TrimRight(plaintext.Head(text, textBytes), " ") + "…"
	}
	return text
}

// mostCompared is how many groups with equal tags a wording is compared with.
const mostCompared = 300

// GatherLearnings returns the learnings of an epic, those of most tasks first. Two are the same when their words are, or when their tags
// are equal and most of their words.
func GatherLearnings(s LearningSource) []LearningGroup {
	var groups []LearningGroup
	words := map[int]wordSet{} // of the first wording of a group
	byText, byTags := map[string]int{}, map[string][]int{}
	for _, one := range s.all() {
		tags := strings.Join(one.tags, " ")
		at, ok := byText[one.normal]
		if !ok {
			at = -1
			now := wordsOf(one.normal)
			if k := slices.IndexFunc(byTags[tags], func(i int) bool { return words[i].mostly(now) }); k >= 0 {
				at = byTags[tags][k]
			}
		}
		if at < 0 {
			at = len(groups)
			groups = append(groups, LearningGroup{})
			words[at] = wordsOf(one.normal)
		}
		byText[one.normal] = at
		if tags != "" && !slices.Contains(byTags[tags], at) && len(byTags[tags]) < mostCompared {
			byTags[tags] = append(byTags[tags], at)
		}
		groups[at].add(one)
	}
	for i := range groups {
		groups[i].finish()
	}
	slices.SortStableFunc(groups, func(a, b LearningGroup) int { return len(b.Tasks) - len(a.Tasks) })
	return groups
}

// add counts what an attempt says; a task counts once, however often its attempts say it.
func (g *LearningGroup) add(one said) {
	g.Tags = append(g.Tags, one.tags...)
	g.Files = append(g.Files, each.Of(one.files, pattern.CleanPath)...)
	fresh := !slices.Contains(g.Tasks, one.task)
	if fresh {
		g.Tasks = append(g.Tasks, one.task)
	}
	at := slices.IndexFunc(g.wordings, func(w wording) bool { return w.normal == one.normal })
	if at < 0 {
		at = len(g.wordings)
		g.wordings = append(g.wordings, wording{text: one.text, normal: one.normal})
	}
	if fresh {
		g.wordings[at].tasks++
	}
}

// finish chooses the wording.
func (g *LearningGroup) finish() {
	best := 0
	for i, w := range g.wordings {
		if w.tasks > g.wordings[best].tasks {
			best = i
		}
	}
	g.Text = g.wordings[best].text
	slices.Sort(g.Tags)
	slices.Sort(g.Files)
	g.Tags, g.Files = slices.Compact(g.Tags), slices.Compact(g.Files)
}

// MostTold is how many learnings a brief has.
const MostTold = 12

// How much a learning has to do with a task: a file in common says more than a tag, and a tag more than a word.
const (
	perFile = 4
	perTag  = 2
	mostPer = 3 // of each that count
)

// LearningsFor returns what other tasks have learned, what has most to do with a task first: by the files it declares, and by the words
// of its title among tags and learnings. It returns each once, the newest words of a task first, without those that the task's
// brief has anyhow.
func LearningsFor(s LearningSource, t *epic.Task, toldAnyhow []string) []reanchor.Learning {
	seen := map[string]bool{}
	for _, text := range toldAnyhow {
		seen[normal(line(text))] = true
	}
	words := wordsOf(normal(t.Title)).words
	type ranked struct {
		reanchor.Learning
		score int
	}
	var list []ranked
	for _, one := range slices.Backward(s.all()) {
		if one.task == t.ID || seen[one.normal] {
			continue
		}
		seen[one.normal] = true
		list = append(list, ranked{reanchor.Learning{Task: one.task, Text: one.text}, one.score(t.Files, words)})
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return each.Of(list[:min(len(list), MostTold)], func(r ranked) reanchor.Learning { return r.Learning })
}

// score says how much a learning has to do with a task that declares some files and has a title of some words.
func (one *said) score(declared []string, title map[string]bool) int {
	files, tags, words := 0, 0, 0
	for _, f := range one.files {
		if files < mostPer && slices.ContainsFunc(declared, func(d string) bool { return pattern.Covers(d, f) || pattern.Covers(f, d) }) {
			files++
		}
	}
	for _, tag := range one.tags {
		named := func(file string) bool { return wordsOf(normal(file)).words[tag] }
		if slices.ContainsFunc(strings.Split(tag, "-"), func(w string) bool { return title[w] }) || slices.ContainsFunc(declared, named) {
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

// normal returns the words of a text: letters and digits in lower case, one space between two words.
func normal(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			b.WriteRune(r)
		case r == '\'' || r == '’': // don't is one word
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// fillers are what agents write that only fill in a form.
var fillers = []string{
	"none", "no", "n a", "na", "nil", "null", "nothing", "nothing new", "nothing to report", "nothing to note", "not applicable",
	"no learning", "no learnings", "no new learnings", "what agents of later tasks should know in one sentence",
	"what later tasks should know in one sentence", "work you found and left", "why it is to be done",
}

func isNothing(normal string) bool { return slices.Contains(fillers, normal) }

// wordSet are the different words of a text, with those apart that turn its meaning round.
type wordSet struct {
	words    map[string]bool
	decisive string // negations, and what has a digit, in order
}

func wordsOf(normal string) wordSet {
	s := wordSet{words: map[string]bool{}}
	for w := range strings.FieldsSeq(normal) {
		s.words[w] = true
		if slices.Contains(negations, w) || strings.ContainsFunc(w, unicode.IsDigit) {
			s.decisive += w + " "
		}
	}
	return s
}

// mostly reports whether two texts have two thirds of their words in common, with the same numbers and negations: use it and do
// not use it are no one learning.
func (s wordSet) mostly(o wordSet) bool {
	if s.decisive != o.decisive {
		return false
	}
	shared := 0
	for w := range o.words {
		if s.words[w] {
			shared++
		}
	}
	return 3*shared >= 2*max(len(s.words), len(o.words))
}

// negations turn the meaning of a text round.
var negations = []string{
	"not", "no", "never", "without", "avoid", "cannot", "cant", "dont", "wont", "isnt", "arent", "doesnt", "didnt", "shouldnt", "mustnt",
}
