package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"relay/epic/pattern"
)

var (
	stepHeading = pattern.New(`^(?i:(?:step|phase|part)[ \t]+)?#?([0-9]{1,3})(?:[.):]|[ \t]+[–—-])[ \t]*(.+)$`)
	stepItem    = pattern.New(`^([ \t]*)([0-9]{1,3})[.)][ \t]+(.+)$`)
	stepSection = pattern.New(`(?i)\b(?:steps|plan|changes|implementation|approach|phases)\b`)
)

func claimsPlanmode(s source) bool {
	return s.unclaimed() && !slices.ContainsFunc(s.list, func(l line) bool { return l.box != 0 }) && len(steps(s.list)) > 1
}

// steps returns the lines at which the steps of a plan begin: the numbered headings of the level that has the most of them, else the
// numbered list at the margin of a section of steps.
func steps(list []line) []int {
	var byLevel [7][]int
	for i, l := range list {
		if l.kind == headingLine && l.level > 1 && stepHeading.MatchString(unformatted(l.rest)) {
			byLevel[l.level] = append(byLevel[l.level], i)
		}
	}
	var most []int
	for _, found := range byLevel {
		if len(found) > len(most) {
			most = found
		}
	}
	if len(most) > 1 {
		return most
	}
	inside := false
	var items []int
	for i, l := range list {
		switch {
		case l.kind == headingLine:
			inside = len(items) == 0 && stepSection.MatchString(l.rest)
		case inside && l.kind == itemLine && l.indent == 0 && stepItem.MatchString(l.text):
			items = append(items, i)
		}
	}
	return items
}

// readPlanmode reads what Claude Code writes in its plan mode, and plans like it: steps that are numbered headings, or the numbered list of
// a section that is called a plan or steps. They are done in their order; everything else is the description of the epic.
func readPlanmode(s source, d *draft) {
	d.title = cmp.Or(unformatted(strings.TrimPrefix(s.title, "Plan:")), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	starts := steps(s.body)
	if len(starts) == 0 {
		d.fail(1, "no step was found in it: numbered headings, or a numbered list below one such as Steps")
		return
	}
	stepsAt(d, s.body, starts)
	d.chain(d.items, false)
}

// stepsAt takes the steps that begin at some lines. Each ends where the next begins, or a heading that is not below it.
func stepsAt(d *draft, list []line, starts []int) {
	rest := slices.Clone(list[:starts[0]])
	for k, at := range starts {
		end := len(list)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		own := at + 1
		for own < end && !(list[own].kind == headingLine && (list[at].kind != headingLine || list[own].level <= list[at].level)) {
			own++
		}
		takeStep(d, list[at], list[at+1:own])
		rest = append(rest, list[own:end]...)
	}
	for _, part := range headed(rest) {
		d.prose(unformatted(part.heading.rest), part.body)
	}
}

func takeStep(d *draft, head line, below []line) {
	m := stepHeading.FindStringSubmatch(unformatted(head.rest))
	if head.kind == itemLine {
		m = stepItem.FindStringSubmatch(head.text)[1:]
	}
	title := strings.TrimSpace(m[2])
	it := &item{id: m[1], as: fmt.Sprintf("T%s", m[1]), line: head.n, priority: normal, title: unformatted(title)}
	it.say(marked(title), join(below))
	d.items = append(d.items, it)
}
