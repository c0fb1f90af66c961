package markdown

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic/blueprint/names"
	"relay/epic/pattern"
)

// The places that lines of a series stand in, from the outside to the inside.
const (
	asHeading = iota + 1 // of the levels 1 to 6
	asBold    = 7        // a line that begins in bold
	asItem    = 8        // of a list
	asRow     = 9        // of a table
	asBox     = 10
)

// series are the lines of a text that may be its tasks: they stand in one place, and have labels of one kind. An author writes all tasks
// of a plan in one form, so a text has few series, and one of them is its tasks. No form alone says which: Step 1 is a task in one plan,
// and part of a task in another. Therefore relay rates all series, and compares them.
type series struct {
	place  int
	label  string // the word of their labels; "" for numbers alone
	parts  int    // of their numbers, where they have no word
	below  int    // the line of the heading that they are all directly below; -1: any
	bare   bool   // their titles have no labels
	at     []int  // lines
	ends   []int  // behind what belongs to each
	labels []Label

	fields  map[string]bool // that at least half of them have
	chapter bool            // they are chapters of a document
	score   float64
}

// Labels by their words: tasks have steps, and phases have tasks.
const (
	ofTask  = 4
	ofWork  = 2.4
	ofStep  = 2.5
	ofPhase = 2.2
)

// words are those of labels whose meaning is known. Others count as well, if they come again with other numbers.
//
//nolint:gochecknoglobals // a table
var words = func() map[string]float64 {
	known := map[string]float64{}
	for worth, list := range map[float64]string{
		ofTask: "task tarea tarefa aufgabe tâche задача zadanie taak attività compito opgave 任务 任務 子任务 タスク 작업 태스크 과제 görev " +
			"story issue ticket pr us ap arbeitspaket workpackage package wp 修复 commit",
		ofWork: "feature item bug fix todo change änderung cambio",
		ofStep: "step paso passo schritt étape шаг krok stap passaggio 步骤 第步 ステップ 단계 adım bước",
		ofPhase: "phase fase milestone stage sprint wave welle etapa etap этап фаза веха спринт 阶段 第阶段 里程碑 フェーズ " +
			"マイルストーン שלב aşama week woche semana settimana неделя tydzień hafta 주차 第周 day día dia jour giorno день dzień 일차 第天 iteration epic meilenstein part block lot onda",
		-5: "option approach risk question decision appendix figure section scenario example finding requirement goal level version chapter " +
			"problem risco riesgo risque risiko rischio figura tabelle table",
	} {
		for word := range strings.FieldsSeq(list) {
			known[word] = worth
		}
	}
	return known
}()

// containers are words of labels that only sort the tasks below them.
//
//nolint:gochecknoglobals // a table
var containers = strings.Fields("p prio priority priorität prioridad workstream stream track area theme module person developer e m w 优先级")

// lastWord is the word of a label that says what it is: phase of "migration phase".
func lastWord(label string) string {
	label = strings.TrimRight(label, "@")
	return strings.ToLower(label[strings.LastIndexByte(label, ' ')+1:])
}

var (
	workName  = pattern.New(`(?i)\b(?:tasks?|plan|steps?|phases?|implementation|work|backlog|to-?do|milestones?|roadmap|sequence|issues?|waves?|wellen|phasen|aufgaben|tareas|fases|tarefas|etapas|tâches|operations|changes|remaining|next)\b|任务|阶段|步骤|清单|タスク|작업|순서|этап|задач`)
	boldTitle = pattern.New(`^\*\*(.+?)\*\*`)
	rowID     = pattern.New("^[`*\\s]*(?:[A-Za-z]{0,6}[ -]?\\d[\\w.-]*)[`*\\s]*$")
	fieldName = pattern.New(`^(?:[-*+]\s+)?(?:\*\*([^*]{1,40}?)[:：]?\*\*|(\pL[^:：|]{1,24})[:：]\s)`)
	taskLabel = pattern.New(`(?i)^[^\pL\d]*(?:(?:key|main|implementation|detailed) )*(?:tasks?|steps|work items|action items|actions|activities|to-?dos?)[^\pL\d]*$`)
)

// judge returns the series that are the tasks of a text, the best guess first. The best series may be phases, or other parts that only sort
// tasks; then the tasks are the best series inside of it.
func judge(list []Line, at []place) []*series {
	end := sectionEnds(list)
	found := seriesIn(list, at, end)
	aside := map[int]bool{} // levels at which a section beside the work stands among numbered ones
	for i, l := range list {
		if l.Kind == Heading && at[i].beside {
			aside[l.Level] = true
		}
	}
	for _, s := range found {
		s.rate(list, at, aside)
	}
	for _, s := range found {
		if s.chapter {
			for _, x := range found {
				if s.extendedBy(x) {
					x.score -= 2
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *series) int { return cmp.Compare(b.score, a.score) })
	if len(found) == 0 {
		return nil
	}
	if inner := found[0].inner(found[1:]); inner != nil {
		found = slices.Insert(found, 0, inner)
	}
	return found
}

// rate says how sure the lines of a series are tasks. Their labels count most. Then count what their bodies have in common, a heading above
// them that means work, and how many they are. Numbers that come again, as those of the steps of every task,
// and chapters of a document, of which one holds the work, count against them.
func (s *series) rate(list []Line, at []place, aside map[int]bool) {
	n := float64(len(s.at))
	s.score = s.worth(list) + s.bodies(list)
	inside, seen := 0, map[string]bool{}
	for k, i := range s.at {
		if at[i].inside {
			inside++
		}
		seen[s.labels[k].Word+" "+s.labels[k].Number] = true
	}
	s.score += 0.8*float64(inside)/n + min(1, n/12)
	if s.label != "" && s.labels[0].Number != "" {
		s.score -= 2 * (1 - float64(len(seen))/n)
	}
	if s.chapter = s.place <= 2 && s.label == "" && !s.bare && (aside[s.place] || s.holdsWork(list)); s.chapter {
		s.score -= 3
	}
}

// holdsWork reports whether one of the titles is that of the work: the others stand beside it.
func (s *series) holdsWork(list []Line) bool {
	for k, i := range s.at {
		name := orderAside.ReplaceAllString(Unformatted(s.labels[k].Title), "")
		if len(strings.Fields(name)) > 3 || !workName.MatchString(name) {
			continue
		}
		items := 0
		for _, l := range list[i+1 : s.ends[k]] {
			if l.Kind == Heading || l.Kind == Item && l.Indent == 0 && l.Box == 0 {
				items++
			}
		}
		if items > 2 {
			return true
		}
	}
	return false
}

// worth is what the place and the labels of a series are worth.
func (s *series) worth(list []Line) float64 {
	switch {
	case s.place == asBox:
		return 1.3
	case s.place == asRow && (isCode(s.label) || s.label == "?"):
		return 1.5 + s.headed(list)
	case s.place == asRow && s.label == "":
		return 0.5 + s.headed(list)
	case s.place == asRow:
		return 0.5
	case s.bare:
		return 1
	case s.place == asBold:
		return s.labelWorth() - 0.7
	case s.place == asItem:
		return min(s.labelWorth(), 3) - 1.5
	}
	return s.labelWorth()
}

// labelWorth is what the labels of a series are worth.
func (s *series) labelWorth() float64 {
	known := words[lastWord(s.label)]
	switch {
	case known != 0 && (s.label != "commit" || s.labels[0].Number == ""):
		return known
	case s.label == "":
		return 1.2
	case s.label == "?", isCode(s.label):
		return 3
	}
	return 1.5
}

// headed is what the head of the first row's table is worth: a column of tasks, or of what they wait for.
func (s *series) headed(list []Line) float64 {
	for i := s.at[0] - 1; i > 0 && strings.HasPrefix(list[i].Text, "|"); i-- {
		if names.TableRule.MatchString(list[i].Text) && slices.ContainsFunc(names.Cells(list[i-1].Text), func(cell string) bool {
			return taskLabel.MatchString(cell) || orderCell.MatchString(cell) || words[strings.ToLower(Unformatted(cell))] > 0
		}) {
			return 1.5
		}
	}
	return 0
}

// bodies is what the text below the lines is worth: lists and code, and fields of the same names.
func (s *series) bodies(list []Line) float64 {
	const most = 200 // lines of each that are looked at
	with, fields := 0, map[string]int{}
	for k, i := range s.at {
		body := list[i+1 : max(i+1, min(s.ends[k], i+most))]
		for name := range fieldsIn(body) {
			fields[name]++
		}
		if slices.ContainsFunc(body, func(l Line) bool { return l.Kind == Item || l.Kind == Code || strings.HasPrefix(l.Text, "|") }) {
			with++
		}
	}
	s.fields = map[string]bool{}
	for name, count := range fields {
		if count > 1 && 2*count >= len(s.at) {
			s.fields[name] = true
		}
	}
	return min(2, 0.6*float64(len(s.fields))) + float64(with)/float64(len(s.at))
}

// fieldsIn returns the names of the fields in some lines: **Files:** a.go.
func fieldsIn(list []Line) map[string]bool {
	names := map[string]bool{}
	for _, l := range list {
		if m := fieldName.FindStringSubmatch(strings.TrimSpace(l.Text)); m != nil && l.Kind != Code {
			names[strings.ToLower(m[1]+m[2])] = true
		}
	}
	return names
}

// inner returns the best series inside of phases, with the phases that have none of it; nil where the lines are tasks themselves.
func (s *series) inner(others []*series) *series {
	if s.place > asBold || s.bare || words[lastWord(s.label)] == ofTask {
		return nil
	}
	var best *series
	for _, x := range others {
		if x.place > s.place && x.place != asBox && s.has(x) && (best == nil || x.score > best.score) {
			best = x
		}
	}
	if best == nil {
		return nil
	}
	return s.with(best)
}

// with returns a series inside of phases, with the phases that have none of it.
func (s *series) with(best *series) *series {
	made := *best
	made.at, made.ends, made.fields, made.score = nil, nil, nil, s.score
	k := 0
	for n, i := range s.at {
		before := k
		for ; k < len(best.at) && best.at[k] < s.ends[n]; k++ {
			made.at, made.ends = append(made.at, best.at[k]), append(made.ends, best.ends[k])
		}
		if k == before && (k == 0 || best.at[k-1] < i) {
			made.at, made.ends = append(made.at, i), append(made.ends, s.ends[n])
		}
	}
	return &made
}

// sorts reports whether the lines may be no more than what sorts tasks: they are phases, or their word is not known.
func (s *series) sorts() bool {
	word := lastWord(s.label)
	unknown := words[word] == 0 && s.label != "" && !isCode(s.label) && s.label != "?"
	return unknown || words[word] == ofPhase || slices.Contains(containers, word)
}

// has reports whether the lines consist of another series.
func (s *series) has(x *series) bool {
	switch {
	case (s.sorts() || s.label == "" || x.place <= asBold) && s.extendedBy(x):
		return s.covered(x, 3)
	case s.label == "", !s.sorts() && (!isCode(s.label) || x.label != s.label):
		return false
	}
	return s.covered(x, 2)
}

// covered reports whether at least one of so many lines has some of another series, which stands nowhere else.
func (s *series) covered(x *series, part int) bool {
	inside, with, k := 0, 0, 0
	for n, i := range s.at {
		before := inside
		for ; k < len(x.at) && x.at[k] < s.ends[n]; k++ {
			if x.at[k] > i {
				inside++
			}
		}
		if inside > before {
			with++
		}
	}
	return 10*inside >= 9*len(x.at) && part*with >= len(s.at) && (part > 2 || len(x.at) >= len(s.at))
}

// extendedBy reports whether the numbers of another series begin with those of this one: 1.1 below phase 1.
func (s *series) extendedBy(x *series) bool {
	if s.bare || x.bare || x.label != "" && x.label != s.label {
		return false
	}
	extend := 0
	for k, l := range x.labels {
		n, _ := slices.BinarySearch(s.ends, x.at[k]+1)
		if n == len(s.at) || s.labels[n].Number == "" || l.Number == s.labels[n].Number {
			continue
		}
		if strings.HasPrefix(l.Number, strings.TrimLeft(s.labels[n].Number, "0")) {
			extend++
		}
	}
	return 5*extend >= 4*len(x.at)
}

// join returns the lines of a series, with the headings beside them that have the same fields.
func (s *series) join(list []Line, at []place) []int {
	if s.place > 6 || len(s.fields) < 2 || len(s.labels) != len(s.at) {
		return s.at
	}
	end, lines := sectionEnds(list), slices.Clone(s.at)
	for i, l := range list {
		k, there := slices.BinarySearch(s.at, i)
		if there || l.Kind != Heading || l.Level != s.place || at[i].beside || k < len(s.at) && s.at[k] < end[i] {
			continue
		}
		own := fieldsIn(list[i+1 : end[i]])
		both := 0
		for name := range s.fields {
			if own[name] {
				both++
			}
		}
		if 2*both > len(s.fields) {
			lines = append(lines, i)
		}
	}
	slices.Sort(lines)
	return lines
}

// sortsBoxes reports whether the lines are phases, and the boxes below them are the work: at least three quarters have some.
func (s *series) sortsBoxes(list []Line, at []place) bool {
	if s.place >= asItem || s.areTasks() {
		return false
	}
	inside, outside := s.boxes(list, at)
	n := len(s.at)
	switch {
	case s.dotted() && (inside == 0 || 2*inside >= 5*n): // each has several
		return false
	case outside > inside && outside > 2*n:
		return true
	case len(s.fields) > 1, !s.bare && s.label != "" && inside > 10*n: // they say more than a list, or boxes are too many to be tasks
		return false
	}
	with := 0
	for k, i := range s.at {
		if slices.ContainsFunc(list[i+1:s.ends[k]], func(l Line) bool { return l.Box != 0 }) {
			with++
		}
	}
	return inside > 0 && 4*with >= 3*n
}

// areTasks reports whether the labels are those of tasks and steps, or codes.
func (s *series) areTasks() bool {
	worth := words[lastWord(s.label)]
	return !s.bare && (worth == ofTask || worth == ofStep || isCode(s.label) || s.label == "?")
}

// boxes counts the boxes at the margin that belong to a line of the series, and others.
func (s *series) boxes(list []Line, at []place) (inside, outside int) {
	k := 0
	for i, l := range list {
		for k < len(s.at) && s.ends[k] <= i {
			k++
		}
		switch {
		case l.Box == 0 || l.Indent > 1 || at[i].beside:
		case k < len(s.at) && i > s.at[k]:
			inside++
		default:
			outside++
		}
	}
	return inside, outside
}

// dotted reports whether the numbers have several parts, as steps of phases have them.
func (s *series) dotted() bool {
	return len(s.labels) > 0 && strings.Contains(s.labels[len(s.labels)-1].Number, ".")
}

// bound finds where what belongs to each line ends.
func (s *series) bound(list []Line, end, heading []int) {
	for k, i := range s.at {
		to := end[i]
		if list[i].Kind != Heading {
			if to = heading[i]; k+1 < len(s.at) {
				to = min(to, s.at[k+1])
			}
		}
		s.ends = append(s.ends, to)
	}
}
