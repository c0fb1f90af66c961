package blueprint

import (
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/pattern"
)

// fieldNames are the keys of a task's lines, as a hint shows them.
var fieldNames = []string{
	"Priority", "Points", "Files", "Depends on", "Checks", "Acceptance Criteria", "Description", "Kind",
	"Protected", "Runner", "Model", "Timeout", "Max attempts", "Budget", "Allow no change",
}

// fields are the keys of a task's lines, with the other names people give them.
var fields = map[string]string{
	"priority": "priority", "points": "points", "story points": "points", "estimate": "points",
	"files": "files", "file": "files",
	"depends on": "depends on", "dependencies": "depends on", "depends": "depends on", "deps": "depends on", "blocked by": "depends on",
	"checks": "checks", "check": "checks", "acceptance criteria": "criteria", "acceptance criterion": "criteria", "acceptance": "criteria",
	"description": "description", "kind": "kind", "type": "kind", "protected": "protected", "runner": "runner", "model": "model",
	"timeout": "timeout", "timeout minutes": "timeout", "max attempts": "max attempts", "budget": "budget", "budget usd": "budget",
	"allow no change": "allow no change", "plan lines": "source",

	"依赖": "depends on", "依存": "depends on", "依存関係": "depends on", "abhängigkeiten": "depends on", "abhängig von": "depends on",
	"depende de": "depends on", "dependencias": "depends on", //nolint:misspell // Spanish
	"dependências": "depends on", "dépend de": "depends on", "dépendances": "depends on",
	"prerequisites": "depends on", "prerequisite": "depends on", "requires": "depends on", "after": "depends on", "needs": "depends on",
	"文件": "files", "ファイル": "files", "dateien": "files", "datei": "files", "archivos": "files", "archivo": "files", "fichiers": "files",
	"验收标准": "criteria", "受け入れ基準": "criteria", "akzeptanzkriterien": "criteria", "criterios de aceptación": "criteria", "done when": "criteria",
}

var (
	priorityWord = pattern.New(`(?i)\b(p[0-4]|critical|urgent|highest|blocker|high|must|medium|normal|should|low|lowest|could)\b`)
	// Priorities are the words for priorities, of 0 to 3.
	Priorities = map[string]int{
		"p0": 0, "critical": 0, "urgent": 0, "highest": 0, "blocker": 0, "p1": 1, "high": 1, "must": 1, "p2": 2, "medium": 2, "normal": 2,
		"should": 2, "p3": 3, "p4": 3, "low": 3, "lowest": 3, "could": 3,
	}

	amount = pattern.New(`(?i)^[~$]?\s*([0-9]*\.?[0-9]+)\s*(points?|pts?\.?|sp|minutes?|mins?|m|usd|\$|dollars?)?$`)
)

// fieldName returns the canonical name of a key.
func fieldName(key string) (string, bool) {
	words := strings.FieldsFunc(key, func(r rune) bool { return r == ' ' || r == '_' || r == '-' })
	name, found := fields[strings.ToLower(strings.Join(words, " "))]
	return name, found
}

// pair is one key of a task's line with its value.
type pair struct {
	key    string
	known  bool
	strict bool // **Key:** and not **Key**:, which is as likely to be an emphasis
	at     epic.Place
	value  line
	raw    string
	more   []string // lines that go on with the value
}

// pairs reads **Priority:** p1 | **Points:** 2. It returns nothing when the line does not begin with a key.
func pairs(l line) []pair {
	if !boldKey.MatchString(l.text) {
		return plainPairs(l)
	}
	var list []pair
	r := ruler{line: l}
	starts := keyStarts(l.text)
	for k, start := range starts {
		end := len(l.text)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		m := boldKey.FindStringSubmatch(l.text[start:end])
		_, known := fieldName(m[1])
		f := pair{key: m[1], known: known, strict: strings.HasSuffix(strings.TrimSpace(m[0]), ":**"), raw: l.text[start:end], at: r.at(start)}
		f.value = r.part(start+len(m[0]), end)
		f.value.text = strings.TrimRight(f.value.text, " \t|·")
		list = append(list, f)
	}
	return list
}

// keyStarts finds where the keys of a line begin: at its beginning, any after a bar, and those that are known.
func keyStarts(s string) []int {
	starts := []int{0}
	value := len(boldKey.FindString(s)) // where the value of the last key begins
	for _, part := range inline.Spans(s) {
		for i := 0; !part.Code; {
			next := strings.Index(part.Text[i:], "**")
			if next < 0 {
				break
			}
			at := part.At + i + next
			i += next + 2
			m := boldKey.FindStringSubmatch(s[at:])
			if at < value || m == nil {
				continue
			}
			_, known := fieldName(m[1])
			if known || strings.HasSuffix(strings.TrimRight(s[value:at], " \t"), "|") {
				starts = append(starts, at)
				value = at + len(m[0])
			}
		}
	}
	return starts
}

// goesOn tells whether the next line belongs to the value.
func (f *pair) goesOn() bool {
	last := f.value.text
	if len(f.more) > 0 {
		last = f.more[len(f.more)-1]
	}
	return last == "" || strings.HasSuffix(last, ",")
}

func (f *pair) extend(l line) {
	if f.value.text == "" {
		f.value.line, f.value.column = l.line, l.column
	}
	f.more = append(f.more, l.text)
}

// isList tells the fields that have several values.
func isList(name string) bool {
	return slices.Contains([]string{"files", "protected", "depends on", "checks", "criteria"}, name)
}
