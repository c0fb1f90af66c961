package blueprint

import (
	"slices"
	"strings"
	"unicode"

	"relay/epic"
	"relay/epic/pattern"
)

// value adds to a field that is a list. raw is the whole of what was written, kept as description when the value is only
// a part of it.
func (d *draft) value(name string, v line, raw string) {
	if nothing(v.text) {
		return
	}
	var more bool
	switch name {
	case "files":
		d.task.Files, more = d.paths(epic.FieldFiles, d.task.Files, v)
	case "protected":
		d.task.Protected, more = d.paths(epic.FieldProtected, d.task.Protected, v)
	case "depends on":
		d.dependsOn(v)
	case "checks":
		more = d.checks(v)
	case "criteria":
		d.criterion(v)
	}
	if more {
		d.describe(raw)
	}
}

// paths reads comma-separated paths, or those in code when there are any. It reports whether there was more than paths.
func (d *draft) paths(f epic.Field, list []string, v line) (paths []string, more bool) {
	for _, piece := range pieces(v) {
		if nothing(piece.text) {
			continue
		}
		parts := spans(piece.text)
		code := slices.ContainsFunc(parts, func(s span) bool { return s.code })
		if !code {
			path := note.ReplaceAllString(piece.text, "")
			more = more || path != piece.text
			parts = []span{{text: plain(path), code: true}}
		}
		for _, s := range parts {
			if s.code {
				list = append(list, lineRange.ReplaceAllString(pattern.CleanPath(s.text), ""))
				d.at[f] = append(d.at[f], piece.place())
			}
			more = more || !s.code && strings.ContainsFunc(s.text, isWord)
		}
	}
	return list, more
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// dependsOn reads ids, each of which may be followed by its task's title.
func (d *draft) dependsOn(v line) {
	for _, piece := range pieces(v) {
		for word := range strings.SplitSeq(strings.ReplaceAll(piece.text, " & ", " and "), " and ") {
			if id := leadingID(word); !nothing(id) {
				d.task.DependsOn = append(d.task.DependsOn, id)
				d.at[epic.FieldDependsOn] = append(d.at[epic.FieldDependsOn], piece.place())
			}
		}
	}
}

// bareNumber is a reference to a task whose heading is Task 1 or 1. Title: ids begin with a letter.
var bareNumber = pattern.New(`^(?i:task[ \t]+)?#?([0-9]{1,6})$`)

// leadingID is the id that a reference begins with: T1, T1: Title, T1 (Title), T1 — Title, Task 1. Anything else is taken whole,
// so that validation reports an unknown task.
func leadingID(s string) string {
	s = plain(s)
	if m := bareNumber.FindStringSubmatch(s); m != nil {
		return "T" + m[1]
	}
	for _, sep := range []string{":", " (", " — ", " – ", " - "} {
		if id, _, found := strings.Cut(s, sep); found && taskID.MatchString(plain(id)) {
			return plain(id)
		}
	}
	return s
}

// checks reads the commands in code, or takes the whole value for one. It reports whether there was text beside the code.
func (d *draft) checks(v line) (more bool) {
	found := false
	for _, s := range spans(v.text) {
		if s.code && s.text != "" {
			found = true
			d.check(s.text, v.place())
		} else if strings.ContainsFunc(strings.ReplaceAll(s.text, " and ", ""), isWord) {
			more = true
		}
	}
	if !found {
		d.check(v.text, v.place())
		return false
	}
	return more
}

func (d *draft) check(run string, at epic.Place) {
	d.task.Checks = append(d.task.Checks, epic.Check{Name: run, Run: run, Expect: epic.ExpectPass})
	d.at[epic.FieldChecks] = append(d.at[epic.FieldChecks], at)
}

func (d *draft) criterion(v line) {
	d.task.Criteria = append(d.task.Criteria, epic.Criterion{Text: v.text})
	d.at[epic.FieldCriteria] = append(d.at[epic.FieldCriteria], v.place())
}
