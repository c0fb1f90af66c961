package blueprint

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"relay/epic"
)

// fieldNames are the keys of a task's lines, as a hint shows them.
var fieldNames = []string{"Priority", "Points", "Files", "Depends on", "Checks", "Acceptance Criteria", "Description", "Kind",
	"Protected", "Runner", "Model", "Timeout", "Max attempts", "Budget", "Allow no change"}

// fields are the keys of a task's lines, with the other names people give them.
var fields = map[string]string{
	"priority": "priority", "points": "points", "story points": "points", "estimate": "points",
	"files": "files", "file": "files", "depends on": "depends on", "dependencies": "depends on", "depends": "depends on",
	"checks": "checks", "check": "checks", "acceptance criteria": "criteria", "acceptance criterion": "criteria", "acceptance": "criteria",
	"description": "description", "kind": "kind", "type": "kind", "protected": "protected", "runner": "runner", "model": "model",
	"timeout": "timeout", "timeout minutes": "timeout", "max attempts": "max attempts", "budget": "budget", "budget usd": "budget",
	"allow no change": "allow no change",
}

var (
	taskID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	amount = regexp.MustCompile(`(?i)^[~$]?\s*([0-9]*\.?[0-9]+)\s*(points?|pts?\.?|sp|minutes?|mins?|m|usd|\$|dollars?)?$`)
)

// fieldName returns the canonical name of a key.
func fieldName(key string) (string, bool) {
	name, found := fields[strings.ToLower(strings.Join(strings.FieldsFunc(key, func(r rune) bool { return r == ' ' || r == '_' || r == '-' }), " "))]
	return name, found
}

// pair is one key of a task's line with its value.
type pair struct {
	key   string
	known bool
	value line
	at    line // the key
	raw   string
}

// pairs reads **Priority:** p1 | **Points:** 2. It returns nothing when the line does not begin with a key.
func pairs(l line) []pair {
	var list []pair
	rest, offset := l.text, 0
	for {
		m := boldKey.FindStringSubmatch(rest)
		if m == nil {
			return list
		}
		_, known := fieldName(m[1])
		begin := len(m[0])
		end, next := nextKey(rest, begin)
		column := func(at int) int { return l.column + len([]rune(l.text[:offset+at])) }
		list = append(list, pair{
			key: m[1], known: known, raw: rest[:end],
			at:    line{m[0], l.line, column(0)},
			value: line{strings.TrimRight(rest[begin:end], " \t|·"), l.line, column(begin)},
		})
		rest, offset = rest[next:], offset+next
	}
}

// nextKey finds where the next key of a line begins: any after a |, a known one also without. It returns the end of the
// value before it, and the key.
func nextKey(s string, from int) (end, next int) {
	for _, part := range spans(s[from:]) {
		if part.code {
			continue
		}
		for i := strings.Index(part.text, "**"); i >= 0; {
			at := from + part.at + i
			if m := boldKey.FindStringSubmatch(s[at:]); m != nil {
				_, known := fieldName(m[1])
				before := strings.TrimRight(s[from:at], " \t")
				if known || strings.HasSuffix(before, "|") {
					return at, at
				}
			}
			step := strings.Index(part.text[i+2:], "**")
			if step < 0 {
				break
			}
			i += 2 + step
		}
	}
	return len(s), len(s)
}

// strict tells **Key:** from **Key**:, which is as likely to be an emphasis.
func (f pair) strict() bool { return strings.HasSuffix(strings.TrimSpace(f.at.text), ":**") }

// goesOn tells whether the next line belongs to the value.
func (f pair) goesOn() bool { return f.value.text == "" || strings.HasSuffix(f.value.text, ",") }

func (f *pair) extend(l line) {
	if f.value.text == "" {
		f.value = l
	} else {
		f.value.text += " " + l.text
	}
	f.raw += "\n" + l.text
}

// isList tells the fields that have several values.
func isList(name string) bool {
	switch name {
	case "files", "protected", "depends on", "checks", "criteria":
		return true
	}
	return false
}

// set stores one field of a task. What cannot be read is a problem; what is more than the value stays as description.
func (d *draft) set(p *parser, f pair) {
	name, _ := fieldName(f.key)
	d.open = ""
	switch {
	case isList(name):
		if f.value.text == "" {
			d.open = name // the values follow
		}
		d.value(p, name, f.value, f.raw)
		return
	case name == "description":
		d.describe(f.value.text)
		return
	}
	if d.given[name] {
		p.add(f.at.place(), "take one of the two out", "%s of task %s is given twice", f.key, d.task.ID)
		return
	}
	d.given[name] = true
	if !nothing(f.value.text) || name == "allow no change" {
		d.scalar(p, name, f)
	}
}

// scalar stores a field that has one value.
func (d *draft) scalar(p *parser, name string, f pair) {
	value := plain(f.value.text)
	fail := func(hint string) {
		p.add(f.value.place(), hint, "%s cannot be %s", strings.ToLower(f.key), short(value))
	}
	number := func(hint string) float64 {
		m := amount.FindStringSubmatch(value)
		if m == nil {
			fail(hint)
			return 0
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || n > 1_000_000 {
			fail(hint)
			return 0
		}
		return n
	}
	t := &d.task
	switch name {
	case "priority":
		if i := strings.Index("p0p1p2p3", strings.ToLower(value)); len(value) == 2 && i >= 0 && i%2 == 0 {
			t.Priority = i / 2
		} else {
			fail("use p0, p1, p2 or p3")
		}
	case "points":
		t.Points = number("use a number from 0 up, such as 2")
	case "timeout":
		t.Timeout = time.Duration(math.Round(number("write minutes, such as 30")*60_000)) * time.Millisecond
	case "budget":
		t.BudgetUSD = number("write dollars, such as 2.50")
	case "max attempts":
		if n := number("write a whole number, such as 3"); n == math.Trunc(n) && n <= 1000 {
			t.MaxAttempts = int(n)
		} else {
			fail("write a whole number, such as 3")
		}
	case "kind":
		t.Kind = epic.Kind(strings.ToLower(value))
		d.at[epic.FieldKind] = []epic.Place{f.value.place()}
	case "runner":
		t.Runner = value
	case "model":
		t.Model = value
	case "allow no change":
		t.AllowNoChange = strings.EqualFold(value, "yes") || strings.EqualFold(value, "true")
		if !t.AllowNoChange && !nothing(value) && !strings.EqualFold(value, "false") {
			fail("write yes or no")
		}
	}
}

// value adds to a field that is a list. raw is the whole of what was written, kept as description when the value is only
// a part of it.
func (d *draft) value(p *parser, name string, v line, raw string) {
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
				list = append(list, epic.CleanPath(s.text))
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
		for _, word := range strings.Split(strings.ReplaceAll(piece.text, " & ", " and "), " and ") {
			if id := leadingID(word); !nothing(id) {
				d.task.DependsOn = append(d.task.DependsOn, id)
				d.at[epic.FieldDependsOn] = append(d.at[epic.FieldDependsOn], piece.place())
			}
		}
	}
}

// leadingID is the id that a reference begins with: T1, T1: Title, T1 (Title), T1 — Title. Anything else is taken whole,
// for validation to say that there is no such task.
func leadingID(s string) string {
	s = plain(s)
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
