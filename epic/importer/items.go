package importer

import (
	"strings"

	"relay/epic/each"
	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

// Bounds of what a plan may grow to when it is read: text that belongs to several tasks, in bytes, and what tasks wait for.
const (
	maxShared = 1 << 18
	maxEdges  = 1_000_000
)

// waits makes an item wait for more.
func (d *draft) waits(it *item, more []reference) {
	before := d.edges
	if d.edges += len(more); d.edges <= maxEdges {
		it.after = append(it.after, more...)
	} else if before <= maxEdges {
		d.fail(it.line, "its tasks wait for more than %d others", maxEdges)
	}
}

// waitsFor has an item wait for what its plan names, which may be nothing; nil: it does not say.
func waitsFor(it *item, list []markdown.Reference) {
	it.ordered = it.ordered || list != nil
	for _, on := range list {
		if on.ID != it.id {
			it.after = append(it.after, reference{id: on.ID, line: on.Line})
		}
	}
}

// group adds what a group waits for.
func (d *draft) group(name string, g group) {
	_, g.twice = d.groups[name]
	d.groups[name] = g
}

// share tells items what is said of all of them: each in its own description, or once in that of the epic where that is too much.
func (d *draft) share(items []*item, heading, text string) {
	switch {
	case text == "":
	case len(text)*len(items) > maxShared:
		d.description = append(d.description, markdown.Titled(heading, text))
	default:
		for _, it := range items {
			it.shared = append(it.shared, markdown.Titled(heading, text))
		}
	}
}

// stateWord is what a state says without a note behind it.
var stateWord = pattern.New(`^[^(✅✓✔☑#]*`)

// state takes the word with which a plan says how far an item is. It reports a word that is in none of these lists, and takes it for
// pending.
func (d *draft) state(it *item, word string) {
	word = strings.ToLower(strings.TrimSpace(stateWord.FindString(word)))
	switch strings.ReplaceAll(word, "_", "-") {
	case "done", "completed", "complete", "closed", "tombstone":
		it.done = true
	case "cancelled", "canceled", "deferred", "superseded", "obsolete", "removed", "skipped", "rejected", "pinned",
		"invalid", "duplicate", "wontfix":
		it.left = true
		d.tell(it.line, markdown.Clip(it.id, 60)+" is "+word+", and left out")
	case "", "open", "todo", "pending", "backlog", "drafted", "ready", "ready-for-dev", "in-progress", "review", "blocked", "hooked",
		"approved", "draft", "inprogress", "in progress", "ready for development", "ready for dev", "ready for review",
		"not started", "planned", "contexted":
	default:
		d.tell(it.line, markdown.Clip(it.id, 60)+" has the status "+markdown.Clip(word, 40)+", which is taken for pending")
	}
}

// say adds paragraphs to the description, but for empty ones.
func (it *item) say(texts ...string) {
	it.description = append(it.description, each.Where(texts, func(text string) (string, bool) { return text, text != "" })...)
}

// marked returns a title as it is written, where its plain text is less.
func marked(title string) string {
	if markdown.Unformatted(title) == title {
		return ""
	}
	return title
}
