package markdown

import (
	"cmp"
	"strings"

	"relay/epic/pattern"
)

var (
	orderStory   = pattern.New(`(?i)^[-*\s]*(?:phase \d+:\s*|[^:(]*\()?(?:user story|us)\s*(\d+)(?:\s*[-–]\s*us(\d+))?\b(.*)$`)
	orderWaits   = pattern.New(`(?i)\b(?:depends? on|starts? after|waits? for|requires?|builds? on)\s+(.*)$`)
	orderForeign = pattern.New(`(?i)→|->|\b(?:and|can|may|is|no|the|with|starts?|independent|completed?)\b`) // what a clause in another language has not
	orderStories = pattern.New(`(?i)\b(?:user stor(?:y|ies)|us)\s*((?:\d+(?:\s*(?:,|and|&|/)\s*(?:user story\s*|us\s*)?)?)+)`)
	orderPhase   = pattern.New(`(?i)\bphase\s+(\d+)`)
	orderDigits  = pattern.New(`\d+(?:\.\d+)?`)
	orderEither  = pattern.New(`(?i)\bor\b`)
	orderAside   = pattern.New(`\([^)]*\)|（[^）]*）`)

	phaseNumbers = pattern.New(`(?i)\bphases?\s+((?:\d+(?:\.\d+)?(?:\s*(?:,|and|&|[-–—])\s*(?:phase\s+)?)?)+)`)
	phaseRange   = pattern.New(`(\d+(?:\.\d+)?)(?:\s*[-–—]\s*(?:(?i:phase)\s+)?(\d+))?`)

	scenarioStory = pattern.New(`(?i)^user story\s+(\d+)`)
	scenarioForm  = pattern.New(`(?i)\bgiven\b.*\bthen\b`)
)

// StoryWait is what a line says of the story with a number.
type StoryWait struct {
	Number  string
	On      []string // numbers of stories
	Line    int
	English bool
}

// StoryOrder returns what lines such as US3: Depends on US1 say, given the stories of phases by their numbers. In another language a line
// need only name stories.
func StoryOrder(list []Line, phases map[string]string) (waits []StoryWait) {
	for _, l := range list {
		m := orderStory.FindStringSubmatch(Unformatted(cmp.Or(l.Rest, l.Text)))
		if m == nil {
			continue
		}
		clause, english := m[3], orderWaits.FindStringSubmatch(m[3])
		if english != nil {
			clause = english[1]
		}
		on := storiesIn(firstClause(clause), phases)
		plain := firstClause(orderAside.ReplaceAllString(clause, ""))
		if first := storiesIn(plain, phases); len(first) > 0 || orderForeign.MatchString(clause) {
			on = first
		}
		if orderEither.MatchString(plain) || english == nil && orderForeign.MatchString(plain) {
			continue // after that one or beside it
		}
		for _, number := range Range(m[1], m[2]) {
			waits = append(waits, StoryWait{number, on, l.N, english != nil})
		}
	}
	return waits
}

func firstClause(text string) string {
	for _, end := range []string{" - ", " – ", " — ", ";", ". ", "。"} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}

// storiesIn returns the numbers of the stories that a text names, also by their phases.
func storiesIn(text string, phases map[string]string) (numbers []string) {
	numbers = Parts(orderStories, orderDigits, text)
	for _, phase := range Parts(orderPhase, orderDigits, text) {
		if number := phases[phase]; number != "" {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// Parts returns what matches in the first groups of the matches of a form: the numbers in Phases 1, 2 and 3.
func Parts(form, part *pattern.Regexp, text string) (list []string) {
	for _, m := range form.FindAllStringSubmatch(text, -1) {
		list = append(list, part.FindAllString(m[1], -1)...)
	}
	return list
}

// Phases returns the numbers of the phases that a text names: 1, 2 and 3 of Phases 1-3.
func Phases(text string) (numbers []string) {
	for _, m := range phaseNumbers.FindAllStringSubmatch(text, -1) {
		for _, span := range phaseRange.FindAllStringSubmatch(m[1], -1) {
			numbers = append(numbers, Range(span[1], span[2])...)
		}
	}
	return numbers
}

// Scenarios returns what spec.md of spec-kit wants of each story, by its number.
func Scenarios(spec []Line) map[string][]string {
	found := map[string][]string{}
	for _, s := range Cut(spec, 3) {
		m := scenarioStory.FindStringSubmatch(Unformatted(s.Heading.Rest))
		for _, l := range s.Body {
			if text := Unformatted(l.Rest); m != nil && l.Kind == Item && scenarioForm.MatchString(text) {
				found[m[1]] = append(found[m[1]], text)
			}
		}
	}
	return found
}
