package blueprint

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/blueprint/names"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// draft is a task as far as it has been read, with the place of all that it names.
type draft struct {
	task  epic.Task
	whole epic.Place
	end   int // the last line of its own text
	at    map[epic.Field][]epic.Place
	given map[string]bool // fields with one value
	desc  []string

	ended         bool // the plan says that it is done
	boxes, ticked int
}

func newDraft(id, title string, at epic.Place) *draft {
	title, ended := Ended(title)
	return &draft{
		task:  epic.Task{ID: id, Title: title, Kind: KindOf(title), Priority: 2, Line: at.Line},
		whole: at, at: map[epic.Field][]epic.Place{}, given: map[string]bool{}, ended: ended,
	}
}

// done reports whether the plan says that a task is done: by a word, or by all of its boxes.
func (d *draft) done() bool { return d.ended || d.boxes > 0 && d.ticked == d.boxes }

func (d *draft) describe(text string) {
	for _, m := range saidDepends.FindAllStringSubmatch(text, -1) {
		if on := clause.ReplaceAllString(m[1], ""); names.Only(on) && text[0] != '`' && text[0] != '~' {
			d.dependsOn(line{on, d.whole.Line, d.whole.Column})
			d.given["depends on"] = true
		}
	}
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) != "" {
		d.desc = append(d.desc, text)
	}
}

// place returns where an entry of a field stands, or the task.
func (d *draft) place(ref epic.Ref) epic.Place {
	if places := d.at[ref.Field]; ref.Item < len(places) {
		return places[ref.Item]
	}
	return d.whole
}

// scalar stores a field that has one value. It reports false, with a hint, for a value that the field cannot have.
func (d *draft) scalar(name string, value line) (hint string, ok bool) {
	text := inline.Plain(value.text)
	switch t := &d.task; name {
	case "priority":
		hint = "use p0, p1, p2 or p3"
		if m := priorityWord.FindStringSubmatch(text); m != nil {
			t.Priority, ok = Priorities[strings.ToLower(m[1])], true
		}
	case "points":
		hint = "use a number from 0 up, such as 2"
		t.Points, ok = number(text)
	case "timeout":
		hint = "write minutes, such as 30"
		var minutes float64
		minutes, ok = number(text)
		t.Timeout = time.Duration(math.Round(minutes*60_000)) * time.Millisecond
		ok = ok && t.Timeout > 0
	case "budget":
		hint = "write dollars, such as 2.50"
		t.BudgetUSD, ok = number(text)
		ok = ok && t.BudgetUSD > 0
	case "max attempts":
		hint = "write a whole number, such as 3"
		n, err := strconv.Atoi(text)
		t.MaxAttempts, ok = n, err == nil && n > 0 && n <= 1000
	case "allow no change":
		hint = "write yes or no"
		t.AllowNoChange, ok = yes(text)
	case "kind": // validation knows which there are
		t.Kind, ok = epic.Kind(strings.ToLower(text)), true
		d.at[epic.FieldKind] = []epic.Place{value.place()}
	default:
		*map[string]*string{"runner": &t.Runner, "model": &t.Model, "source": &t.Source}[name], ok = text, true
	}
	return hint, ok
}

func yes(value string) (claim, ok bool) {
	claim = strings.EqualFold(value, "yes") || strings.EqualFold(value, "true")
	return claim, claim || plaintext.Nothing(value) || strings.EqualFold(value, "false")
}

// maxAmount is more than any number of points, minutes of a year or dollars that makes sense.
const maxAmount = 500_000

// number reads an amount with or without its unit.
func number(s string) (float64, bool) {
	m := amount.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n, err == nil && n <= maxAmount
}

// value adds to a field that is a list. raw is the whole of what was written, kept as description when the value is only
// a part of it.
func (d *draft) value(name string, v line, raw string) {
	if plaintext.Nothing(v.text) {
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
		d.task.Criteria = append(d.task.Criteria, epic.Criterion{Text: v.text})
		d.at[epic.FieldCriteria] = append(d.at[epic.FieldCriteria], v.place())
	}
	if more {
		d.describe(raw)
	}
}

// paths reads comma-separated paths, or those in code when there are any. It reports whether there was more than paths.
func (d *draft) paths(f epic.Field, list []string, v line) (paths []string, more bool) {
	for _, piece := range pieces(v) {
		if plaintext.Nothing(piece.text) {
			continue
		}
		parts := inline.Spans(piece.text)
		code := slices.ContainsFunc(parts, func(s inline.Span) bool { return s.Code })
		if !code {
			path := note.ReplaceAllString(piece.text, "")
			more = more || path != piece.text
			parts = []inline.Span{{Text: inline.Plain(path), Code: true}}
		}
		for _, s := range parts {
			if s.Code {
				list = append(list, inline.LineRange.ReplaceAllString(pattern.CleanPath(s.Text), ""))
				d.at[f] = append(d.at[f], piece.place())
			}
			more = more || !s.Code && strings.ContainsFunc(s.Text, isWord)
		}
	}
	return list, more
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// dependsOn takes what names tasks, one by one.
func (d *draft) dependsOn(v line) {
	for _, piece := range pieces(v) {
		for text := range strings.SplitSeq(strings.ReplaceAll(piece.text, " & ", " and "), " and ") {
			if text = inline.Plain(strings.TrimRight(text, ". ")); !plaintext.Nothing(names.Bracket.ReplaceAllString(text, "")) {
				d.task.DependsOn = append(d.task.DependsOn, text)
				d.at[epic.FieldDependsOn] = append(d.at[epic.FieldDependsOn], piece.place())
			}
		}
	}
}

// checks reads the commands in code, or takes the whole value for one. It reports whether there was text beside the code.
func (d *draft) checks(v line) (more bool) {
	found := false
	for _, s := range inline.Spans(v.text) {
		if s.Code && s.Text != "" {
			found = true
			d.check(s.Text, v.place())
		} else if strings.ContainsFunc(strings.ReplaceAll(s.Text, " and ", ""), isWord) {
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

// cutDepends takes "(depends on T1)" off the end of a title, and stores what it says.
func (d *draft) cutDepends() {
	m := titleDepends.FindStringSubmatch(d.task.Title)
	if m == nil || !names.Only(m[1]) {
		return
	}
	d.task.Title = strings.TrimSpace(strings.TrimSuffix(d.task.Title, m[0]))
	d.given["depends on"] = true
	d.dependsOn(line{strings.TrimSpace(m[1]), d.whole.Line, d.whole.Column})
}
