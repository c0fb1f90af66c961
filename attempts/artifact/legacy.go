package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// notStated is what a text says that artifacts need and an older file lacks.
const notStated = "not stated"

// ErrNoOutcome means that an older file does not say how far its session came.
var ErrNoOutcome = errors.New("it does not say how the session came out")

// Legacy is an older file: markdown below .handoff or .checkpoint.
type Legacy struct {
	Path     string // of the file; its folder says the mode
	Text     []byte
	Modified time.Time // of the file: the date of one that names none
	Outcome  Outcome   // goes before what the file says; may be empty
	Session  string    // "": as in the file, else after its bead, else after its name
	Bead     string    // goes before what the file says; may be empty
}

// Import makes an artifact of an older file. It keeps sections without a field in the metadata. It fails with ErrNoOutcome if the
// outcome is unknown, and writes nothing.
func (l Legacy) Import() (*Artifact, error) {
	if len(l.Text) > MaxSize {
		return nil, fmt.Errorf("it has more than %d bytes", MaxSize)
	}
	i := importer{words: make(map[string]string)}
	i.read(strings.Split(plaintext.Clean(string(l.Text)), "\n"))
	goal, now := oneLine(strings.Join(i.goal, " ")), oneLine(strings.Join(i.now, " "))
	if goal == "" && now == "" {
		return nil, errors.New(`it is not a handoff or checkpoint: it has neither "## Goal" nor "## Current State"`)
	}
	mode, err := l.mode(&i)
	if err != nil {
		return nil, err
	}
	outcome := l.Outcome
	if outcome == "" {
		said, ok := ParseOutcome(i.words["outcome"])
		if !ok {
			return nil, ErrNoOutcome
		}
		outcome = said
	}
	bead := cmp.Or(l.Bead, cmp.Or(i.words["primary_bead"], i.words["bead"]))
	if bead == "" && RequiresBead(mode) {
		bead = notStated
	}
	a := &i.artifact
	a.Version, a.Mode, a.Outcome, a.Date = SchemaVersion, mode, outcome, l.date(&i)
	a.Goal, a.Now = cmp.Or(goal, notStated), cmp.Or(now, notStated)
	a.PrimaryBead, a.SessionID, a.AgentID = bead, i.words["session_id"], i.words["agent_id"]
	session := cmp.Or(l.Session, i.words["session"])
	if session == "" && bead != notStated {
		session = bead
	}
	a.Session = Slug(cmp.Or(session, Title(l.Path)))
	a.Metadata = map[string]any{"migrated_from": path.Base(filepath.ToSlash(l.Path)), "original_format": string(mode)}
	if len(i.other) > 0 {
		a.Metadata["legacy"] = i.other
	}
	return a, nil
}

// Title is the title of the artifact that is made of an older file: its name without what says its type.
func Title(legacy string) string {
	base := path.Base(filepath.ToSlash(legacy))
	return Slug(strings.TrimSuffix(base, path.Ext(base)))
}

// mode returns the mode that the folder of a file implies, or else its heading.
func (l Legacy) mode(i *importer) (Mode, error) {
	for _, name := range []string{path.Base(path.Dir(filepath.ToSlash(l.Path))), "." + strings.ToLower(i.kind)} {
		if m := Mode(strings.TrimPrefix(name, ".")); name != string(m) && (m == Handoff || m == Checkpoint) {
			return m, nil
		}
	}
	return "", errors.New(`it is neither in .handoff nor in .checkpoint, and has no heading "# Handoff: DATE"`)
}

// dateIn finds a date, perhaps with a time, in a heading or in the name of a file.
var dateIn = pattern.New(`[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt _-]+[0-9]{2}[:-]?[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?`)

// date is the date in the heading, else that in the name of the file, else the time of the file.
func (l Legacy) date(i *importer) string {
	for _, text := range []string{i.date, i.words["date"], path.Base(filepath.ToSlash(l.Path))} {
		for _, found := range []string{dateIn.FindString(text), dayIn.FindString(text)} {
			if date, ok := normalDate(found); ok {
				return date
			}
		}
	}
	return Stamp(l.Modified)
}

var dayIn = pattern.New(`[0-9]{4}-[0-9]{2}-[0-9]{2}`)

// normalDate returns a date in the way of artifacts. A time without a zone is taken for UTC.
func normalDate(text string) (date string, ok bool) {
	if at, err := parseDate(text); err == nil {
		if len(text) == len(time.DateOnly) {
			return text, true
		}
		return Stamp(at), true
	}
	if len(text) < len(time.DateOnly) {
		return "", false
	}
	day, rest := text[:len(time.DateOnly)], strings.TrimLeft(text[len(time.DateOnly):], "Tt _-")
	for _, layout := range []string{"15:04", "15:04:05", "1504", "15-04"} {
		if at, err := time.Parse(time.DateOnly+" "+layout, day+" "+rest); err == nil {
			return Stamp(at), true
		}
	}
	return "", false
}

type importer struct {
	artifact   Artifact
	goal, now  []string
	kind, date string            // of the heading
	words      map[string]string // what short lines before the first section say, as in "Outcome: SUCCESS"
	other      Notes             // sections without a field
}

var heading = pattern.New(`^(#{1,6})[ \t]+(.*?)[ \t#]*$`)

// read takes the lines apart: each section is one of a level-two heading, or of a level-one heading after the first.
func (i *importer) read(lines []string) {
	name, begin, fence, first := "", 0, "", true
	for at, line := range lines {
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fence = trimmed[:3]
			continue
		}
		found := heading.FindStringSubmatch(line)
		if found == nil || len(found[1]) > 2 {
			continue
		}
		i.section(name, lines[begin:at])
		name, begin = oneLine(found[2]), at+1
		if len(found[1]) == 1 && first {
			i.title(name)
			name, first = "", false
		}
	}
	i.section(name, lines[begin:])
}

// title reads "Handoff: 2026-01-13".
func (i *importer) title(text string) {
	kind, date, _ := strings.Cut(text, ":")
	i.kind, i.date = strings.TrimSpace(kind), date
	if date == "" {
		kind, i.date, _ = strings.Cut(text, " ")
		i.kind = kind
	}
	if dateIn.FindString(text) != oneLine(i.date) {
		i.keep("title", text)
	}
}

func (i *importer) keep(name, text string) { i.other = append(i.other, Note{name, text}) }

func (i *importer) section(name string, lines []string) {
	text := strings.Trim(strings.Join(lines, "\n"), "\n \t")
	if text == "" {
		return
	}
	a := &i.artifact
	key := strings.ToLower(strings.Trim(name, ": *"))
	if list, ok := map[string]*[]string{
		"next": &a.Next, "next steps": &a.Next, "blockers": &a.Blockers,
		"questions": &a.Questions, "what worked": &a.Worked, "what failed": &a.Failed,
	}[key]; ok {
		*list = append(*list, items(lines)...)
		return
	}
	switch key {
	case "":
		i.preamble(lines)
	case "goal":
		i.goal = append(i.goal, text)
	case "current state", "now":
		i.now = append(i.now, text)
	case "done", "completed":
		a.Done = append(a.Done, each.Of(items(lines), func(task string) Task { return Task{Task: task} })...)
	case "decisions":
		for _, text := range items(lines) {
			what, why, _ := strings.Cut(text, ": ")
			a.Decisions = append(a.Decisions, Decision{Decision: strings.Trim(what, "*"), Rationale: strings.TrimLeft(why, "* ")})
		}
	case "outcome":
		i.words["outcome"] = strings.Trim(oneLine(text), "*` .")
	case "bead", "primary bead":
		i.words["bead"] = oneLine(text)
	default:
		i.keep(name, text)
	}
}

// word is a line like "**Outcome:** SUCCESS" or "outcome: SUCCESS".
var word = pattern.New(`(?i)^[-*]?[ \t]*\**(outcome|bead|primary[ _]bead|session|session[ _]id|agent[ _]id|date) *\**:\**[ \t]*(.+)$`)

func (i *importer) preamble(lines []string) {
	var rest []string
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if found := word.FindStringSubmatch(trimmed); found != nil {
			i.words[strings.ReplaceAll(strings.ToLower(found[1]), " ", "_")] = strings.Trim(oneLine(found[2]), "*`\"' ")
		} else if trimmed != "---" {
			rest = append(rest, line)
		}
	}
	if text := strings.Trim(strings.Join(rest, "\n"), "\n \t"); text != "" {
		i.keep("preamble", text)
	}
}

var bullet = pattern.New(`^[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$`)

// items are the items of a list, with the lines that go on with them, and paragraphs, one line each.
func items(lines []string) (list []string) {
	var item []string
	end := func() {
		if len(item) > 0 {
			list = append(list, strings.Join(item, " "))
		}
		item = nil
	}
	for _, line := range lines {
		text := oneLine(line)
		found := bullet.FindStringSubmatch(line)
		if found != nil {
			text = oneLine(found[1])
		}
		if text == "" || found != nil {
			end()
		}
		if text != "" {
			item = append(item, text)
		}
	}
	end()
	return list
}
