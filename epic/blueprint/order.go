package blueprint

import (
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/internal/inline"
	"relay/epic/blueprint/internal/names"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// phase is a part of a plan whose heading has a number, and which may say what its tasks wait for.
type phase struct {
	number, name string
	level        int
	at           epic.Place
	said         bool
	after        []line
}

var (
	phaseHead = pattern.New(`^\W*(?i:phase|milestone|stage|sprint|wave|part|fase|etapa|epic|week|iteration)[ \t]+#?([0-9]{1,3})\b`)
	phaseWord = pattern.New(`^(?i:and|to|through|e|y|phases?|milestones?|stages?|sprints?|waves?|parts?|fases?|etapas?|epics?|weeks?|iterations?)?$`)
	waiting   = pattern.New(`(?i)^(.*?)\b(?:depends? on|(?:starts? )?after|waits? for|requires|blocked by|needs)\b(.*)$`)
	arrow     = pattern.New(`[ \t]*(?:[-=]+\.*-*>|→|⇒|⟶)(?:\|[^|]*\|)?[ \t]*`)
	node      = pattern.New(`\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|（[^）]*）|["|;]`)
	allBefore = pattern.New(`(?i)\b(?:all|previous|preceding|prior|every)\b`)
)

var ourFields = []string{"checks", "points", "kind", "runner", "model", "timeout", "budget", "max attempts", "protected"}

// isGroup reports whether a heading is that of a phase, or has an id and no fields, with tasks below it.
func isGroup(p *parser, b *block, rest []block) bool {
	phased := phaseHead.MatchString(inline.Plain(b.text)) || urgent.MatchString(headText(b.text))
	for k := range rest {
		if rest[k].kind != heading {
			continue
		}
		if rest[k].level <= b.level {
			break
		}
		_, _, ok := head(rest[k].text, true)
		if _, _, kin := labelled(p, &rest[k]); phased && ok || kin && !hasFields(rest, "") {
			return true
		}
	}
	return false
}

// next returns the phase that a heading is in, which is none of a task.
func (ph *phase) next(p *parser, b *block) *phase {
	name := inline.Plain(b.text)
	if m := phaseHead.FindStringSubmatch(name); m != nil {
		p.phases = append(p.phases, &phase{number: m[1], name: plaintext.Head(name, 100), level: b.level, at: epic.Place{Line: b.line}})
		return p.phases[len(p.phases)-1]
	}
	if ph != nil && b.level <= ph.level {
		return nil
	}
	return ph
}

// read takes what a phase says that it waits for.
func (ph *phase) read(p *parser, b *block) {
	if ph == nil || p.cur != nil {
		return
	}
	for _, l := range b.first() {
		for _, f := range pairs(l) {
			if name, _ := fieldName(f.key); name == "depends on" {
				ph.said, ph.after = true, append(ph.after, pieces(f.value)...)
			}
		}
	}
}

// names returns the phases among those before it that a phase waits for.
func (ph *phase) names(before []*phase) (list []*phase) {
	known := names.Of(each.Of(before, func(b *phase) string { return b.number }), nil, phaseWord)
	for _, piece := range ph.after {
		found := known.Find(piece.text)
		for _, b := range before {
			if slices.Contains(found, b.number) || len(found) == 0 && allBefore.MatchString(piece.text) {
				list = append(list, b)
			}
		}
	}
	return list
}

var ourID = pattern.New("^T-?[0-9]+[a-z]?$")

// ours reports whether a task is written for relay: its id is T1, or it has fields that no other plan has. Such tasks have no order but the
// one that they name.
func ours(d *draft) bool {
	return d.named && ourID.MatchString(d.task.ID) || slices.ContainsFunc(ourFields, func(name string) bool { return d.given[name] })
}

// inOrder has tasks wait for the one before, as they stand, where none says what it waits for: in all of the plan, or in each
// phase where phases say what they wait for.
func inOrder(p *parser, asked bool) {
	said := slices.ContainsFunc(p.phases, func(ph *phase) bool { return ph.said })
	if asked || len(p.groups) > 0 {
		return
	}
	var last *draft
	for _, d := range p.drafts {
		if last != nil && d.level < listed && last.level < listed && (!said || d.phase == last.phase) {
			d.task.DependsOn, d.at[epic.FieldDependsOn] = []string{last.task.ID}, []epic.Place{d.whole}
		}
		last = d
	}
	if said {
		groupPhases(p)
	}
}

// drawn has tasks that do not say what they wait for wait for those before them that lines such as T1 -> T2 name. It reports whether there
// are any.
func drawn(p *parser, tasks map[string]*draft) (found bool) {
	for _, text := range p.lines {
		var before []string
		for part := range strings.SplitSeq(arrow.ReplaceAllString(waiting.ReplaceAllString(text, "$2→$1"), "→"), "→") {
			now := p.known.Find(strings.TrimSpace(node.ReplaceAllString(part, "")))
			for _, id := range now {
				for _, on := range before {
					d, b := tasks[id], tasks[on]
					if d != nil && b != nil && b.whole.Line < d.whole.Line && !d.given["depends on"] && !slices.Contains(d.task.DependsOn, on) {
						d.task.DependsOn = append(d.task.DependsOn, on)
						found = found || !p.gone[on] && !p.gone[id]
					}
				}
			}
			before = now
		}
	}
	return found
}

// groupPhases makes groups of phases that say what they wait for.
func groupPhases(p *parser) {
	tasks := map[*phase][]string{}
	for _, d := range p.drafts {
		tasks[d.phase] = append(tasks[d.phase], d.task.ID)
	}
	waits := map[*phase][]string{} // the groups that it waits for, or those of one without tasks
	for k, ph := range p.phases {
		for _, b := range ph.names(p.phases[:k]) {
			if len(tasks[b]) > 0 {
				waits[ph] = append(waits[ph], b.name)
			} else {
				waits[ph] = append(waits[ph], waits[b]...)
			}
		}
		if len(tasks[ph]) == 0 {
			continue
		}
		slices.Sort(waits[ph])
		g := groupAt{whole: ph.at, blockers: slices.Compact(waits[ph])}
		for _, id := range tasks[ph] {
			g.cells = append(g.cells, line{id, ph.at.Line, 1})
		}
		p.groups, p.epic.Groups = append(p.groups, g), append(p.epic.Groups, epic.Group{Name: ph.name})
	}
}
