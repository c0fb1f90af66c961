package blueprint

import (
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/internal/inline"
	"relay/epic/pattern"
)

var (
	phaseHead = pattern.New(`^\W*(?i:phase|milestone|stage|sprint|wave|part|fase|etapa|epic|week|iteration)[ \t]+#?([0-9]{1,3})\b`)
	waiting   = pattern.New(`(?i)^(.*?)\b(?:depends? on|(?:starts? )?after|waits? for|requires|blocked by|needs)\b(.*)$`)
	arrow     = pattern.New(`[ \t]*(?:[-=]+\.*-*>|→|⇒|⟶)(?:\|[^|]*\|)?[ \t]*`)
	node      = pattern.New(`\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|（[^）]*）|["|;]`)
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

var ourID = pattern.New("^T-?[0-9]+[a-z]?$")

// ours reports whether a task is written for relay: its id is T1, or it has fields that no other plan has. Such tasks have no order but the
// one that they name.
func ours(d *draft) bool {
	return d.named && ourID.MatchString(d.task.ID) || slices.ContainsFunc(ourFields, func(name string) bool { return d.given[name] })
}

// inOrder has tasks wait for the one before, as they stand, where none says what it waits for.
func inOrder(p *parser, asked bool) {
	if asked || len(p.groups) > 0 {
		return
	}
	var last *draft
	for _, d := range p.drafts {
		if last != nil && d.level < listed && last.level < listed {
			d.task.DependsOn, d.at[epic.FieldDependsOn] = []string{last.task.ID}, []epic.Place{d.whole}
		}
		last = d
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
