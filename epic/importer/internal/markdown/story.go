package markdown

import (
	"cmp"
	"strconv"
	"strings"

	"relay/epic/pattern"
)

// Story is a story as BMAD writes it, in a file of its own or among others.
type Story struct {
	Title, State string // Status: done
	Line         int
	Criteria     []string
	Text         string // all else, but for what agents have recorded
	Records      []Line // where such records begin
	body         []Line
	After        []Reference // nil: it does not say what it waits for
}

// Reference is the number of another story, in a line.
type Reference struct {
	ID   string
	Line int
}

var (
	storyForm     = pattern.New(`(?i)^story\s+((?:[a-z]?\d+|[a-z])(?:\.\d+)*[a-z]?)\b\s*(?:[:.–—-]\s*)?(.*)$`)
	storyCriteria = pattern.New(`(?i)^acceptance criteria\b[^:]{0,30}:?$`)
	storyTasks    = pattern.New(`(?i)^tasks\b`)
	storyRecord   = pattern.New(`(?i)^(dev agent record|change log|file list|status updates|qa results)\b`)
	storyStatus   = pattern.New(`(?i)^\**status\**:?\**\s*(.*)$`)
	storyAfter    = pattern.New(`(?i)^[-*\s]*(?:prerequisites?|depends on|dependencies|blocked by)\**:\**\s*(.*)$`)
	storyNumber   = pattern.New(`\b((?:\d+|[A-Z])(?:\.\d+)+[a-z]?)(?:\s*[-–—]\s*(\d+\.\d+))?\b`)
	storyEpic     = pattern.New(`\b(?i:epic)s? (\d+|[A-Z])\b`)
	storyLabel    = pattern.New(`^\*\*[A-Z][^*:]{2,40}(?::\*\*|\*\*\s*:)\s*$`)
	clause        = pattern.New(`(?i)^(given|when|then|and|but)\b`)

	// Nothing matches what says that there is nothing to wait for.
	Nothing = pattern.New(`(?i)^(?:nothing|none|n/?a|no\b|keine|ningun|nenhum|aucun|нет|无|なし|-|–|—|$)`)
)

// Stories returns the stories in a file by their numbers. They begin with a heading, or a line in bold; else lists or tables have them.
func Stories(list []Line) map[string]*Story {
	if found := stories(list, false); len(found) > 0 {
		return found
	}
	return stories(list, true)
}

func stories(list []Line, listed bool) map[string]*Story {
	found := map[string]*Story{}
	var s *Story
	level := 0
	for _, l := range list {
		at, number, title, more := storyStart(l, listed)
		switch {
		case at > 0 && found[number] == nil:
			s, level = &Story{Title: title, Line: l.N, body: []Line{{Text: more, N: l.N}}}, at
			found[number] = s
		case l.Kind == Heading && l.Level <= level:
			s = nil
		case s != nil:
			s.body = append(s.body, l)
		}
	}
	for _, s := range found {
		s.take()
	}
	return found
}

// storyStart returns the level at which a story begins in a line, 0 if none does, and what the line says of it: its title in bold, or all.
func storyStart(l Line, listed bool) (level int, number, title, more string) {
	text := cmp.Or(l.Rest, l.Text)
	row := strings.HasPrefix(text, "| ")
	text = strings.Replace(strings.TrimPrefix(text, "| "), " | ", ": ", 1)
	if inner, bold := strings.CutPrefix(text, "**"); bold {
		text, more, _ = strings.Cut(inner, "**")
		more = strings.TrimLeft(more, ": ")
	}
	m := storyForm.FindStringSubmatch(Unformatted(text))
	if m == nil || l.Kind == Code || l.Box != 0 {
		return 0, "", "", ""
	}
	dotted := strings.Contains(m[1], ".")
	switch {
	case l.Kind == Heading && dotted:
		level = l.Level
	case strings.HasPrefix(l.Text, "**Story ") && more == "" && dotted:
		level = 4
	case listed && (l.Kind == Item || row):
		level = 6
	}
	if !dotted { // of the only epic
		m[1] = "1." + m[1]
	}
	return level, m[1], strings.TrimRight(cmp.Or(m[2], more), ": |"), more
}

// take reads the lines of a story.
func (s *Story) take() {
	var said, criteria []Line
	mode, level := "", 9
	for _, l := range s.body {
		name := Unformatted(cmp.Or(l.Rest, l.Text))
		at := storyLevel(l, name)
		after, status := storyAfter.FindStringSubmatch(name), storyStatus.FindStringSubmatch(name)
		if at > 0 && at <= level {
			if mode, level = storyPart(name), at; mode == "record" {
				s.Records = append(s.Records, l)
			}
		}
		switch {
		case after != nil:
			if s.After == nil && Nothing.MatchString(after[1]) {
				s.After = []Reference{}
			}
			s.After = append(s.After, references(storyNumber, after[1], l.N)...)
			for _, whole := range storyEpic.FindAllStringSubmatch(after[1], -1) {
				s.After = append(s.After, Reference{"epic-" + whole[1], l.N})
			}
		case status != nil || mode == "state":
			s.State = cmp.Or(s.State, strings.Trim(append(status, name, name)[1], " .*_"))
		case mode == "criteria":
			criteria = append(criteria, l)
		case mode == "" || mode == "tasks" && !l.Done():
			said = append(said, l)
		}
	}
	s.Criteria, s.Text = Clauses(criteria), Join(said)
}

// storyLevel returns the level of a heading, or of a line that is as good as one; else 0.
func storyLevel(l Line, name string) int {
	if l.Level == 0 && (storyLabel.MatchString(l.Text) || storyCriteria.MatchString(name) || storyAfter.MatchString(name)) {
		return 7
	}
	return l.Level
}

// references returns what a text in a line names, in a form.
func references(form *pattern.Regexp, text string, line int) (list []Reference) {
	for _, on := range form.FindAllStringSubmatch(text, -1) {
		for _, id := range Range(on[1], on[len(on)-1]) {
			list = append(list, Reference{id, line})
		}
	}
	return list
}

// mostInRange bounds what a range of numbers stands for.
const mostInRange = 200

// Range returns the numbers from one to another, as 2.1, 2.2 and 2.3; the first alone where the other does not come behind it.
func Range(from, to string) []string {
	at := strings.LastIndexByte(from, '.') + 1
	first, _ := strconv.Atoi(from[at:])
	last, _ := strconv.Atoi(strings.TrimPrefix(to, from[:at]))
	list := []string{from}
	for k := first + 1; k <= last && last-first < mostInRange; k++ {
		list = append(list, from[:at]+strconv.Itoa(k))
	}
	return list
}

// storyPart returns what stands below a heading of a story.
func storyPart(name string) string {
	switch {
	case storyCriteria.MatchString(name):
		return "criteria"
	case storyRecord.MatchString(name):
		return "record"
	case storyStatus.MatchString(name):
		return "state"
	case storyTasks.MatchString(name):
		return "tasks"
	}
	return ""
}

// Clauses returns acceptance criteria: the points of a list, else paragraphs, with what begins with Given up to the next Given as one.
func Clauses(list []Line) (found []string) {
	var now []string
	flush := func() {
		if len(now) > 0 {
			found = append(found, strings.Join(now, " "))
		}
		now = nil
	}
	for _, l := range list {
		text := strings.TrimSpace(strings.NewReplacer("**", "", "__", "").Replace(cmp.Or(l.Rest, l.Text)))
		switch {
		case storyCriteria.MatchString(text):
			continue
		case l.Kind == Heading:
			flush()
		case l.Kind == Blank, l.Kind == Code, strings.Trim(text, "-*") == "":
			continue
		case l.Kind == Item && l.Indent < 2 && !clause.MatchString(text), strings.HasPrefix(strings.ToLower(text), "given"):
			flush()
		}
		now = append(now, text)
	}
	flush()
	return found
}
