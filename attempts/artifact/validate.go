package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts/internal/schema"
)

// Problem is what is wrong with one line of a file.
type Problem = schema.Fault

const schemaHint = "relay artifact validate --schema prints what an artifact needs"

// Validate returns the problems of the text of a file, in the order of lines and messages.
func (v *Validator) Validate(text []byte) []Problem {
	d, err := parse(text)
	if err != nil {
		line := 1
		if wrong, ok := errors.AsType[*SyntaxError](err); ok {
			line, err = wrong.Line, errors.New("it is not YAML as artifacts have it: "+wrong.Message)
		}
		return []Problem{{Line: line, Message: err.Error(), Hint: "texts with a colon or a # belong in quotes"}}
	}
	problems := d.problems
	value, _ := valueOf(d.root) // it has been read
	for _, f := range v.check(value) {
		path, hint := f.Path, hintOf(f)
		if get(d.root, "mode") == nil && strings.HasSuffix(f.Text, "'primary_bead'") { // for want of a mode it is taken for every mode
			continue
		}
		if get(d.root, "event_type") != nil && strings.Contains(f.Text, "'mode'") {
			path, hint = []string{"event_type"}, "the file has the older layout: write mode in place of event_type"
		}
		problems = append(problems, Problem{Line: d.lineOf(path), Message: f.String(), Hint: hint})
	}
	problems = append(problems, d.warnings(text)...)
	slices.SortStableFunc(problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), strings.Compare(x.Message, y.Message))
	})
	return problems
}

// lineOf is the line of a value, or of the nearest one around it.
func (d *document) lineOf(path []string) int {
	for n := len(path); n > 0; n-- {
		if line, ok := d.lines["/"+strings.Join(path[:n], "/")]; ok {
			return line
		}
	}
	return 1
}

func hintOf(f schema.Problem) string {
	switch {
	case strings.HasPrefix(f.Text, "got number") || strings.HasPrefix(f.Text, "got boolean"):
		return "put it in quotes"
	case strings.Contains(f.Text, "'primary_bead'"):
		return "handoff and finalize name what the work is about"
	}
	if len(f.Path) == 0 || !strings.Contains(f.Text, "want object") && !strings.HasPrefix(f.Text, "missing propert") {
		return schemaHint
	}
	return cmp.Or(map[string]string{
		"done_this_session":  "an item has task and files: {task: TEXT, files: []}",
		"final_solutions":    "an item has problem, solution and rationale",
		"decisions":          "an item has decision, and perhaps rationale",
		"final_decisions":    "an item has decision, and perhaps rationale",
		"files_to_review":    "an item has path, and perhaps note",
		"artifacts_produced": "an item has path, and perhaps note",
		"files":              "it has created, modified and deleted, each a list",
		"git":                "it has branch and commit",
	}[f.Path[0]], schemaHint)
}

// warnings tells what is valid, and is read wrongly all the same.
func (d *document) warnings(text []byte) (list []Problem) {
	warn := func(line int, message, hint string) {
		list = append(list, Problem{Line: line, Message: message, Hint: hint, Warning: true})
	}
	lines := strings.Split(string(text), "\n")
	for _, key := range []string{"goal", "now"} {
		line, ok := d.lines["/"+key]
		if !ok {
			continue
		}
		said := ""
		if line <= len(lines) {
			_, said, _ = strings.Cut(lines[line-1], ":")
			said = strings.TrimSpace(said)
		}
		v := get(d.root, key)
		if v.Tag == "!!str" && (strings.Contains(v.Value, "\n") || said == "" || said[0] == '|' || said[0] == '>') {
			warn(line, key+" is not on the line of its key", "readers that go by lines see only that line: write it there, in quotes")
		}
	}
	if s := textOf(get(d.root, "session")); s != "" && s != Slug(s) {
		warn(d.lineOf([]string{"session"}), fmt.Sprintf("session %q is no good name for a folder", s), "readers look for a folder of that name: "+Slug(s)+" would do")
	}
	return list
}
