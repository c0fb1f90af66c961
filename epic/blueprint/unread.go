package blueprint

import (
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/blueprint/names"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

var (
	// plainKey is a line such as Checks: `make test`, without the bold marks that make a field of it.
	plainKey = pattern.New(`^[ \t]*(?:[-*+][ \t]+)?(([A-Za-z][A-Za-z _-]{2,24}):[ \t]+\S.*)$`)
	// dependence is where a text says what it depends on.
	dependence = pattern.New("\\b(?i:depends?[ \\t]+on|dependent[ \\t]+on|depending[ \\t]+on|blocked[ \\t]+by)[ \\t]*:?[ \\t]+[*`]*(?i:task[ \\t]+)?#?([A-Za-z]{0,8}-?[0-9]{1,6})\\b")
	// plainDepends is a line that is nothing but what a task depends on.
	plainDepends = pattern.New(`^(?i:depends[ \t]+on|dependencies|depends|blocked[ \t]+by|requires|needs|prerequisites?|after|depende[ \t]+de|abhängig[ \t]+von|依赖|依存)[ \t]*([:：]?)[ \t]*(\S.*)$`)
	clause       = pattern.New(`(?:[ \t]+(?:only\b|first\b|[(–—-])|[（；。]|[;.](?:[ \t]|$)).*$`)
	saidDepends  = pattern.New(`(?mi)(?:^[-*\s]*|[.;:,(–—-][ \t]+)(?:depends[ \t]+on|blocked[ \t]+by|needs|requires|after):?[ \t]+([^\s.;)][^.;)\n]*)`)
	titleDepends = pattern.New(`[ \t]*[(\[](?i:depends[ \t]+on|blocked[ \t]+by|after)[ \t]*:?[ \t]*([^()\[\]]+)[)\]]$`)
)

// Waits returns what a line says that its task waits for; ok is false if it says nothing of it.
func Waits(text string) (on string, ok bool) {
	key, value, found := strings.Cut(strings.Replace(text, "：", ":", 1), ":")
	if name, _ := fieldName(strings.Trim(key, "-*+_ \t")); found && name == "depends on" {
		return strings.Trim(value, "*_ \t"), true
	}
	if f := plainPairs(line{text: text}); f != nil {
		return f[0].value.text, true
	}
	for _, form := range []*pattern.Regexp{titleDepends, saidDepends} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			if on := clause.ReplaceAllString(m[1], ""); names.Only(on) {
				return on, true
			}
		}
	}
	return "", false
}

// plainPairs reads a line without bold marks that can only mean what the task depends on: Depends on: T1, T2.
func plainPairs(l line) []pair {
	m := plainDepends.FindStringSubmatch(l.text)
	if m == nil || !names.Only(clause.ReplaceAllString(m[2], "")) && (m[1] == "" || !plaintext.Nothing(m[2])) {
		return nil
	}
	r := ruler{line: l}
	value := r.part(len(l.text)-len(m[2]), len(l.text))
	value.text = clause.ReplaceAllString(value.text, "")
	return []pair{{key: "Depends on", known: true, strict: true, at: l.place(), raw: l.text, value: value}}
}

// noteUnread takes note of lines of tasks that look like fields, or say what the task depends on, and are description.
func noteUnread(p *parser, src []byte) {
	at, fence, next := 0, "", 0 // of the drafts
	for text := range strings.Lines(string(src)) {
		at++
		for next < len(p.drafts) && p.drafts[next].whole.Line <= at {
			next++
		}
		text = strings.TrimRight(text, "\r\n")
		if fence = inline.FenceAfter(fence, text); next > 0 && fence == "" && at <= p.drafts[next-1].end {
			unreadLine(p, p.drafts[next-1], at, text)
		}
	}
}

// unreadLine looks at one line of a task.
func unreadLine(p *parser, d *draft, at int, text string) {
	if m := plainKey.FindStringSubmatch(text); m != nil {
		name, known := fieldName(m[2])
		if known && name != "description" && (name != "depends on" || len(plainPairs(line{text: strings.TrimSpace(m[1])})) == 0) {
			p.skip(at, "%s is part of the description of %s; with **%s:** it is a field", epic.Quoted(m[2]+":"), d.task.ID, m[2])
			return
		}
	}
	m := dependence.FindStringSubmatch(text)
	if m == nil {
		return
	}
	for _, id := range p.known.Find(m[1]) {
		if id != d.task.ID && !p.gone[id] && !slices.Contains(d.task.DependsOn, id) {
			p.skip(at, "that %s depends on %s is said in a text, and not read; write **Depends on:** %s", d.task.ID, id, id)
		}
	}
}
