package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

var (
	stepHeading = pattern.New(`^(?i:(?:step|phase|part)[ \t]+)?#?([0-9]{1,3})(?:[.):]|[ \t]+[–—-])[ \t]*(.+)$`)
	stepItem    = pattern.New(`^([ \t]*)([0-9]{1,3})[.)][ \t]+(.+)$`)
	stepSection = pattern.New(`(?i)\b(?:steps|plan|changes|implementation|approach|phases)\b`)
)

func claimsPlanmode(s source) bool {
	return s.unclaimed() && !slices.ContainsFunc(s.list, func(l markdown.Line) bool { return l.Box != 0 }) && len(steps(s.list)) > 1
}

// steps returns the lines at which the steps of a plan begin: the numbered headings of the level that has the most of them, else the
// numbered list at the margin of a section of steps.
func steps(list []markdown.Line) []int {
	var byLevel [7][]int
	for i, l := range list {
		if l.Kind == markdown.Heading && l.Level > 1 && stepHeading.MatchString(markdown.Unformatted(l.Rest)) {
			byLevel[l.Level] = append(byLevel[l.Level], i)
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
		case l.Kind == markdown.Heading:
			inside = len(items) == 0 && stepSection.MatchString(l.Rest)
		case inside && l.Kind == markdown.Item && l.Indent == 0 && stepItem.MatchString(l.Text):
			items = append(items, i)
		}
	}
	return items
}

// readPlanmode reads what Claude Code writes in its plan mode, and plans like it: steps that are numbered headings, or the numbered list of
// a section that is called a plan or steps. They are done in their order; everything else is the description of the epic.
func readPlanmode(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(strings.TrimPrefix(s.title, "Plan:")), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	starts := steps(s.body)
	if len(starts) == 0 {
		d.fail(1, "no step was found in it: numbered headings, or a numbered list below one such as Steps")
		return
	}
	stepsAt(d, s.body, starts)
	d.chain(d.items, false)
}

// stepsAt takes the steps that begin at some lines. Each ends where the next begins, or a heading that is not below it.
func stepsAt(d *draft, list []markdown.Line, starts []int) {
	rest := slices.Clone(list[:starts[0]])
	for k, at := range starts {
		end := len(list)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		own := at + 1
		for own < end && !(list[own].Kind == markdown.Heading && (list[at].Kind != markdown.Heading || list[own].Level <= list[at].Level)) {
			own++
		}
		takeStep(d, list[at], list[at+1:own])
		rest = append(rest, list[own:end]...)
	}
	for _, part := range markdown.Headed(rest) {
		d.prose(markdown.Unformatted(part.Heading.Rest), part.Body)
	}
}

func takeStep(d *draft, head markdown.Line, below []markdown.Line) {
	m := stepHeading.FindStringSubmatch(markdown.Unformatted(head.Rest))
	if head.Kind == markdown.Item {
		m = stepItem.FindStringSubmatch(head.Text)[1:]
	}
	title := strings.TrimSpace(m[2])
	it := &item{id: m[1], as: fmt.Sprintf("T%s", m[1]), line: head.N, priority: normal, title: markdown.Unformatted(title)}
	it.say(marked(title), markdown.Join(below))
	d.items = append(d.items, it)
}
