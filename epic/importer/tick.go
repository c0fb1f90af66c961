package importer

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"

	"relay/epic"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

// Ticked is a plan in which tasks are done.
type Ticked struct {
	Data []byte
	Done []string // ids that are done in it, and were not before
	Told []Told   // ids of which nothing could be made
}

// openBox is a line with a box that is empty, or whose work has begun.
var openBox = pattern.New(`^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[[ ~/-]?\]\*?[ \t]`)

// Place is where a task stood in its plan when that was read.
type Place struct {
	ID    string // in the plan
	Title string // in the plan as relay read it; "": any task with the id
	Line  int    // tells tasks of one id apart
}

// Tick returns the text of a plan in which some of its tasks are done: an empty box gets its x, a state its word.
// All else stays as it is, byte for byte.
func Tick(f Format, files fs.FS, file, shown string, tasks []Place) (Ticked, error) {
	s, err := f.open(files, file)
	d, err := f.of(s, err, shown)
	if err != nil {
		return Ticked{}, err
	}
	data, out := s.data, Ticked{}
	var edits []placed.Edit
	starts := placed.LineStarts(data)
	for _, task := range tasks {
		id := task.ID
		if parts := slices.DeleteFunc(slices.Clone(d.items), func(it *item) bool { return it.group != id }); len(parts) > 0 { // see ByHeading
			for _, it := range parts {
				edits = append(edits, it.ticks(data, starts)...)
			}
			out.Done = append(out.Done, id)
			continue
		}
		it, why := standing(d, task)
		if it == nil {
			out.Told = append(out.Told, Told{File: d.at(file), Line: 1, Why: why})
			continue
		}
		e := it.ticks(data, starts)
		switch {
		case it.done:
		case len(e) == 0:
			out.Told = append(out.Told, Told{File: d.at(file), Line: it.line, Why: fmt.Sprintf("%s has nothing that could say that it is done", id)})
		default:
			edits, out.Done = append(edits, e...), append(out.Done, id)
		}
	}
	out.Data = placed.Apply(data, edits)
	return out, nil
}

// standing returns the item that a task is by now: the one with its id and title, else the only one with its title, where the plan has
// other numbers now; nil, and why, if there is none.
func standing(d *draft, task Place) (it *item, why string) {
	named := slices.DeleteFunc(slices.Clone(d.items), func(it *item) bool { return it.id != task.ID })
	same, at := named, func(it *item) bool { return it.line == task.Line }
	if task.Title != "" {
		title := func(it *item) string { return markdown.Clip(it.title, maxTitle) }
		other := func(it *item) bool { return title(it) != task.Title && !epic.Relabelled(title(it), task.Title) }
		same = slices.DeleteFunc(slices.Clone(named), other)
		if len(same) == 0 {
			same = slices.DeleteFunc(slices.Clone(d.items), other)
		}
		if len(same) > 1 && same[0].id != task.ID && !slices.ContainsFunc(same, at) {
			same = nil // ambiguous
		}
	}
	switch {
	case len(same) > 0:
		return same[max(0, slices.IndexFunc(same, at))], ""
	case len(named) > 0:
		return nil, fmt.Sprintf("%s is another task by now: %s", task.ID, markdown.Clip(named[0].title, 60))
	default:
		return nil, "relay finds no " + task.ID + " in it"
	}
}

// ticks returns what makes an item done: its state, or its box and those of its criteria.
func (it *item) ticks(data []byte, starts []int) (edits []placed.Edit) {
	if it.state.To > 0 {
		return []placed.Edit{it.state}
	}
	for _, line := range append([]int{cmp.Or(it.box, it.line)}, it.boxes...) {
		if line < 1 || line > len(starts) {
			continue
		}
		from := starts[line-1]
		text, _, _ := bytes.Cut(data[from:], []byte("\n"))
		if openBox.MatchString(string(text)) {
			open, end := bytes.IndexByte(text, '[')+1, bytes.IndexByte(text, ']')
			edits = append(edits, placed.Edit{From: from + open, To: from + end, Text: "x"})
		}
	}
	return edits
}
