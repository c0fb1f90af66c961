package reanchor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"relay/attempts/discussion"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

const (
	mostDiscussions = 200 // entries looked at, the newest by their names
	mostThreads     = 8   // of them told
)

// discussed returns the open discussions that name a file of a task, or that relay has opened about it since the user last answered it,
// and what agents of other tasks, whose work landed, wrote on discussions that name its files, the newest first.
func discussed(top string, in *Input, origin string, now time.Time) (threads []Thread, landed []Entry) {
	l, err := discussion.Open(top, discussion.Options{})
	if err != nil {
		return nil, nil
	}
	defer l.Close()
	var answered time.Time
	if n := len(in.Record.Answers); n > 0 {
		answered = in.Record.Answers[n-1].At
	}
	list, _ := l.Newest(mostDiscussions)
	file := naming(in.Task.Files)
	for _, there := range slices.Backward(list) {
		e := there.Entry
		if e == nil || gateOf(e) {
			continue
		}
		created, _ := e.CreatedAt()
		tells := file != nil && file.MatchString(textOf(e))
		if tells {
			landed = append(landed, notesOf(in.Landed, there, now)...)
		}
		if origin != "" && strings.HasPrefix(e.Origin, origin) {
			tells = created.After(answered)
		}
		if tells && e.Open() && len(threads) < mostThreads {
			threads = append(threads, threadOf(e, now))
		}
	}
	return threads, landed[:min(len(landed), mostThreads)]
}

// gateOf reports whether relay has opened a discussion about a gate, on which nothing else has been written: the brief says elsewhere
// whether the task is still gated, and why it was.
func gateOf(e *discussion.Entry) bool {
	return strings.HasSuffix(e.Origin, "/"+discussion.OfGate) &&
		!slices.ContainsFunc(e.History, func(c discussion.Change) bool { return c.By != "relay" && c.Note != "" })
}

// notesOf returns what attempts that landed wrote on a discussion, the newest first.
func notesOf(attempts []string, there discussion.Listed, now time.Time) (notes []Entry) {
	e := there.Entry
	for _, c := range slices.Backward(e.History) {
		if by := c.By[strings.LastIndexByte(c.By, ' ')+1:]; c.Note != "" && slices.Contains(attempts, by) {
			said := bounded(e.Name() + ", " + string(c.Status) + ": " + c.Note)
			notes = append(notes, Entry{By: c.By, Age: age(now, stamp(c.At)), Files: []string{there.Path}, Text: said})
		}
	}
	return notes
}

// stamp is a time as discussions have it.
type stamp string

// At reads the time. ok is false when it is none.
func (s stamp) At() (at time.Time, ok bool) { return discussion.ParseTime(string(s)) }

// naming matches a text that has the path of one of some files, or the beginning that the paths have for which a pattern stands; nil: none.
func naming(files []string) *regexp.Regexp {
	var paths []string
	for _, f := range files[:min(len(files), mostFiles)] {
		fixed, pattern := fixedPart(pattern.CleanPath(strings.ToValidUTF8(f, "")))
		if path := regexp.QuoteMeta(fixed); pattern && path != "" {
			paths = append(paths, path)
		} else if path != "" {
			paths = append(paths, path+`(?:[^\w-]|$)`)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return regexp.MustCompile(`(?:^|[^\w.-])(?:` + strings.Join(paths, "|") + ")")
}

// textOf returns all that was written in a discussion.
func textOf(e *discussion.Entry) string {
	texts := []string{e.Topic, e.Summary}
	for _, p := range e.Positions {
		texts = append(texts, p.Stance, p.Rationale)
	}
	return strings.Join(append(texts, each.Of(e.History, func(c discussion.Change) string { return c.Note })...), "\n")
}

// threadOf returns what a brief quotes of an open discussion: how it stands, what it is about, and who holds what.
func threadOf(e *discussion.Entry, now time.Time) Thread {
	by := ""
	if len(e.History) > 0 {
		by = e.History[0].By
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (discussion %s, %s)", plaintext.ShortLine(e.Name(), 150), e.ID, e.Status)
	for _, p := range e.Positions[:min(len(e.Positions), mostItems)] {
		fmt.Fprintf(&b, "; %s: %s", p.By, plaintext.ShortLine(p.Stance, 150))
	}
	if n := len(e.History); n > 1 && e.History[n-1].Note != "" {
		fmt.Fprintf(&b, "; last: %s", plaintext.ShortLine(e.History[n-1].Note, 300))
	}
	if e.Summary != "" {
		fmt.Fprintf(&b, "; %s", plaintext.ShortLine(e.Summary, 300))
	}
	return Thread{By: by, Age: age(now, e), Question: b.String()}
}
