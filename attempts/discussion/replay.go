package discussion

import (
	"cmp"
	"fmt"
	"strings"
)

// narrate tells an entry. names are the topics of others, by their ids.
func narrate(e *Entry, names map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, now %s\n", e.Name(), e.ID, e.Status)
	if e.Created != "" {
		fmt.Fprintf(&b, "opened %s\n", e.Created)
	}
	section(&b, "Summary", paragraph("  ", e.Summary))
	var positions, related, history, links strings.Builder
	for _, p := range e.Positions {
		fmt.Fprintf(&positions, "- %s: %s", cmp.Or(p.By, "somebody"), hanging(p.Stance))
		if p.Rationale != "" {
			fmt.Fprintf(&positions, "  because: %s", hanging(p.Rationale))
		}
	}
	for _, id := range e.Related {
		fmt.Fprintf(&related, "- %s\n", named(id, names))
	}
	for _, c := range e.History {
		fmt.Fprintf(&history, "- %s%s: %s\n%s", prefix(c.At), cmp.Or(c.By, "somebody"), c.Status, paragraph("  ", c.Note))
	}
	for _, k := range e.Links {
		fmt.Fprintf(&links, "- %s%s linked it to %s\n%s", prefix(k.At), cmp.Or(k.By, "somebody"), named(k.To, names), paragraph("  ", k.Relation))
	}
	section(&b, "Positions", positions.String())
	section(&b, "Related entries", related.String())
	section(&b, "History", history.String())
	section(&b, "Links", links.String())
	return b.String()
}

func section(b *strings.Builder, title, text string) {
	if text != "" {
		fmt.Fprintf(b, "\n%s\n%s", title, text)
	}
}

// paragraph puts something before each line of a text; of no text there is none.
func paragraph(before, text string) string {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight(before+line, " ") + "\n")
	}
	return b.String()
}

// hanging puts the lines of a text after the first under it, and ends the last.
func hanging(text string) string {
	if text = paragraph("    ", text); text == "" {
		return "\n"
	}
	return strings.TrimPrefix(text, "    ")
}

func prefix(at string) string {
	if at == "" {
		return ""
	}
	return at + " "
}

func named(id string, names map[string]string) string {
	if topic := names[id]; topic != "" {
		return id + " (" + topic + ")"
	}
	return id
}
