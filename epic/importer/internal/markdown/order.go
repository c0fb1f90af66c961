package markdown

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic/blueprint"
	"relay/epic/pattern"
)

var (
	orderWaits = pattern.New(`(?i)^([^.]*?)\b(?:depends? on|(?:starts? )?after|waits? for|requires?|builds? on)\s+(.*)$`)
	orderEnd   = pattern.New(`(?i)(?:\s[-–—]\s|;|[.。](?:\s|$)|,?\s(?:but|can|may|while|in parallel)\b).*$`)
	orderOr    = pattern.New(`(?i)\b(?:or|parallel)\b`)
	orderOther = pattern.New(`(?i)^[-*\s\d.]*(?:phase|user story|us)\s*\d`)                                // what a line in another language begins with
	orderNo    = pattern.New(`(?i)→|->|\b(?:and|can|may|is|no|the|with|starts?|independent|completed?)\b`) // and has none of
	orderAll   = pattern.New(`(?i)\ball\b.*\b(?:stories|phases)\b`)
	orderCell  = pattern.New(`(?i)^[^\pL\d]*(?:(?:can )?starts? after|after|depends on|dependenc(?:y|ies)|blocked by|waits for)[^\pL\d]*$`)
	orderAside = pattern.New(`\([^)]*\)`)
	orderNames = pattern.New(`(?i)\b(phases?|user stor(?:y|ies)|us)\s*((?:\d+(?:\.\d+)?(?:\s*(?:,|and|&|/|[-–—])\s*(?:phase\s*|user story\s*|us\s*)?)?)+)`)
	orderRange = pattern.New(`(\d+(?:\.\d+)?)(?:\s*[-–—]\s*(?:(?i:phase|user story|us)\s*)?(\d+))?`)

	phaseHead  = pattern.New(`^(?i:phase|milestone|stage|sprint)\s+\d|^[PM]\d+\b`)
	phaseAbove = pattern.New(`(?i)^[^\pL\d]*(?:(?:phase|milestone|stage|sprint|week|day|step|part|iteration)\s+(?:\d+|[a-z]\b)|m\d+\b|v\d+\.\d|\d{1,2}\.\d{1,2}[.:]?\s|(?:near|short|mid|medium|long)(?:er)?[ -]term\b)`)
	stageHead  = pattern.New(`(?i)^[^\pL\d]*(?:\d+[.)]\s*)?(?:((?:pre[ -]?|before (?:the |you )?)(?:release|launch|deploy\w*|upgrade|migrat\w+|install\w*|merge|publish\w*|cut-?over|go-live|submission|flight|start|begin)|prerequisites?|preparations?|vorbereitung(?:en)?|préparation|preparación|准备(?:工作)?)|(?:post[ -]?|after (?:the )?)(?:release|launch|deploy\w*|upgrade|migrat\w+|install\w*|merge|publish\w*|cut-?over|go-live|submission)|nachbereitung)(?: (?:phase|check(?:s|lists?)?|steps?|tasks?|work|actions?|verification|monitoring))?[^\pL\d]*(?:\([^()]*\))?[^\pL\d]*$`)

	scenarioStory = pattern.New(`(?i)^user story\s+(\d+)`)
	scenarioForm  = pattern.New(`(?i)\bgiven\b.*\bthen\b`)
)

// Wait is what a line says of phases and stories: those that it names wait for others, or for all before them.
type Wait struct {
	Of, On []Named
	All    bool
	Line   int
}

// Named is a phase or story that a text names.
type Named struct {
	Phase  bool
	Number string
}

// Waits returns what lines such as US3: Depends on US1, and Phase 2: Depends on Phase 1, say.
func Waits(list []Line) (waits []Wait) {
	for _, l := range list {
		text := Unformatted(cmp.Or(l.Rest, l.Text))
		m := waitsIn(text)
		if m == nil && orderOther.MatchString(text) && !orderNo.MatchString(text) {
			of := Names(text)
			waits = append(waits, Wait{of[:1], Names(orderEnd.ReplaceAllString(text, ""))[1:], false, l.N})
		}
		if m == nil {
			continue
		}
		clause := orderAside.ReplaceAllString(orderEnd.ReplaceAllString(m[2], ""), "")
		if of := Names(m[1]); len(of) > 0 && !orderOr.MatchString(m[1]+clause) { // or beside it
			waits = append(waits, Wait{of, Names(clause), orderAll.MatchString(clause), l.N})
		}
	}
	return waits
}

// waitsIn returns the parts of a line that says what something waits for, of its next clause if the first names nothing: after the setup;
// requires US1.
func waitsIn(text string) []string {
	m := orderWaits.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	if first, more, ok := strings.Cut(m[2], "; "); ok && len(Names(first)) == 0 && !NamesAll(first) {
		return orderWaits.FindStringSubmatch(m[1] + more)
	}
	return m
}

// NamesAll reports whether a text names all phases or stories.
func NamesAll(text string) bool { return orderAll.MatchString(text) }

// Names returns the phases and stories that a text names: 1, 2 and 3 of Phases 1-3.
func Names(text string) (found []Named) {
	for _, m := range orderNames.FindAllStringSubmatch(text, -1) {
		for _, span := range orderRange.FindAllStringSubmatch(m[2], -1) {
			for _, number := range Range(span[1], span[2]) {
				found = append(found, Named{strings.EqualFold(m[1][:1], "p"), number})
			}
		}
	}
	return found
}

// BoxedPhases returns how many phases have boxes, also below a heading such as Tasks: no blueprint has such.
func BoxedPhases(list []Line) (phases int) {
	level, last := 0, ""
	for _, l := range list {
		if l.Box != 0 && (level > 0 || blueprint.IsSection(last)) {
			phases, level = phases+1, 0
		}
		last = cmp.Or(l.Rest, last)
		switch {
		case l.Kind != Heading:
		case phaseHead.MatchString(Unformatted(l.Rest)):
			level = l.Level
		case l.Level <= level:
			level = 0
		}
	}
	return phases
}

// PhaseIn returns the last of some headings that names a phase; "": none does.
func PhaseIn(above []string) (phase string) {
	for _, heading := range above {
		l, _ := labelOf(heading)
		word := lastWord(l.Word)
		numbered := len([]rune(l.Word)) > 2 && l.Number != "" && words[word] >= 0 && !slices.Contains(containers, word)
		if numbered || phaseAbove.MatchString(heading) {
			phase = heading
		}
	}
	return phase
}

// PhaseOf returns the nearest heading above a section that is a phase, and the group of the section: each phase may have one called Tasks.
func PhaseOf(above []string, name string) (phase, label string) {
	phase, label = PhaseIn(above), GroupName(name)
	if phase != "" && phase != name {
		label = GroupName(phase + ": " + name)
	}
	return phase, label
}

// Stages tells which sections of a checklist wait for which. Those of a phase wait for those of the phase before. Outside of phases, all
// wait for what is to be done before a release or the like, and what is to be done after one waits for all before it.
type Stages struct {
	phase         string   // the heading of the phase that sections are in
	inside, ahead []string // sections of the phase, and of the one before
	first, all    []string // sections that come before others, and all so far
}

// Next returns what the next section waits for, which may be in a phase.
func (s *Stages) Next(name, phase string) (after []string) {
	if phase != s.phase && len(s.inside) > 0 {
		s.ahead, s.inside = s.inside, nil
	}
	s.phase = phase
	stage := stageHead.FindStringSubmatch(name)
	switch {
	case phase != "":
		after, s.inside = s.ahead, append(s.inside, name)
	case stage != nil && stage[1] == "":
		after = slices.Clone(s.all)
	default:
		after = s.first
	}
	if name != "" {
		s.all = append(s.all, name)
	}
	if phase == "" && stage != nil && stage[1] != "" {
		s.first = append(slices.Clone(s.first), name)
	}
	return after
}

// GroupName makes a name of a phase, short enough for a group.
func GroupName(name string) string { return Clip(name, 100) }

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
