// Package importer makes epics of plans that people have in the form of other tools.
//
// Each form has a file of its own. A reader takes tasks, what they wait for and what is said of them; it never makes a check of prose,
// leaves out what is done, and says of every line that is a task to its author, or nearly one, and none to it, where it stands.
package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/epic/blueprint"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

// MaxSize is the size, in bytes, of the largest file that is read.
const MaxSize = blueprint.MaxSize

// Plan is what has been made of a plan.
type Plan = blueprint.Plan

// Told names a line of which nothing has been made.
type Told = blueprint.Told

// Offered is a command that may be meant as a check.
type Offered = blueprint.Offered

// Format is one form of plans.
type Format struct {
	Name string
	Tool string // that writes it, for people; "": any
	// Files are what such a plan is found by: paths below a folder, in which * stands for any name.
	Files []string

	in     int                 // one of the languages
	claims func(s source) bool // whether a file is of this form; it may read those beside it
	read   func(s source, d *draft)
}

// The languages that plans are written in.
const (
	inMarkdown = iota
	inJSON
	inOther // of which the form makes what it needs
)

// Formats are all there are, in the order in which they are tried.
func Formats() []Format {
	words := strings.Fields
	bmad := words("_bmad-output/implementation-artifacts/sprint-status.yaml implementation-artifacts/sprint-status.yaml docs/sprint-status.yaml " +
		"sprint-status.yaml docs/epics.md epics.md docs/stories/*.md *.md")
	return []Format{
		{"speckit", "spec-kit", words("specs/*/tasks.md */tasks.md tasks.md"), inMarkdown, claimsSpeckit, readSpeckit},
		{"openspec", "OpenSpec", words("openspec/changes/*/tasks.md changes/*/tasks.md tasks.md"), inMarkdown, claimsOpenspec, readOpenspec},
		{"kiro", "Kiro", words(".kiro/specs/*/tasks.md specs/*/tasks.md tasks.md"), inMarkdown, claimsKiro, readKiro},
		{"taskmaster", "Task Master", words(".taskmaster/tasks/tasks.json tasks/tasks.json tasks.json"), inJSON, claimsTaskmaster, readRecords},
		{"ralph", "ralph", words("scripts/ralph/prd.json ralph/prd.json prd.json"), inJSON, claimsRecords, readRecords},
		{"beads", "beads", words(".beads/issues.jsonl issues.jsonl"), inOther, claimsBeads, readBeads},
		{"bmad", "BMAD", bmad, inMarkdown, claimsBmad, readBmad},
		{"gsd", "GSD", words(".planning/ROADMAP.md ROADMAP.md *-PLAN.md"), inMarkdown, claimsGsd, readGsd},
		{"planmode", "Claude Code's plan mode", words(".claude/plans/*.md .cursor/plans/*.md plans/*.md"), inMarkdown, claimsPlanmode, readPlanmode},
		{"checklist", "", nil, inMarkdown, claimsBoxes, readBoxes},
	}
}

// source is a file of a plan, with the files beside it.
type source struct {
	files fs.FS
	name  string // slash-separated, below files
	data  []byte
	alone bool // it was named itself, not its folder

	list  []markdown.Line // of a text
	title string          // its first heading of level 1
	body  []markdown.Line // all but that
	root  *placed.Node
	skim  func() blueprint.Skimmed
}

// open reads a file as the form has it.
func (f Format) open(files fs.FS, name string) (s source, err error) {
	s = source{files: files, name: name}
	s.skim = sync.OnceValue(func() blueprint.Skimmed { return blueprint.Skim(name, s.data) })
	if s.data, err = s.text(name); err != nil {
		return s, err
	}
	switch f.in {
	case inMarkdown:
		if slices.Contains(s.data, 0) {
			return s, fmt.Errorf("%s is not text", name)
		}
		s.list = markdown.Lines(s.data)
		s.title, s.body = markdown.FirstHeading(s.list)
	case inJSON:
		s.root, err = placed.Parse(s.data, 1)
	}
	return s, err
}

// of reads a plan that was opened, perhaps with an error.
func (f Format) of(s source, err error, shown string) (*draft, error) {
	d := &draft{made: Plan{Format: f.Name}, file: s.name, shown: shown, groups: map[string]group{}}
	if wrong, ok := errors.AsType[*placed.Error](err); ok {
		d.fail(wrong.Line, "%v", wrong.Err)
		return nil, d.problems
	}
	if err == nil {
		if path.Ext(s.name) == ".md" { // commands under headings such as Verification
			d.made.Offered = s.skim().Commands
			for i := range d.made.Offered {
				d.made.Offered[i].File = d.at(s.name)
			}
			d.made.Count(d.at(s.name), s.data)
		}
		f.read(s, d)
	}
	return d, err
}

// Found is a plan of a form.
type Found struct {
	Format Format
	File   string // below files

	opened source
}

// Read makes an epic of a plan that was found, as the function Read does.
func (f Found) Read(shown string, now time.Time) (*Plan, error) {
	return f.Format.plan(f.opened, nil, shown, now)
}

// Find returns the plans that a name means: the file itself, or all that are in the folder. There are none where the file is of no
// form, as a blueprint.
func Find(files fs.FS, name string) (list []Found) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil
	}
	type reading struct {
		file string
		in   int
	}
	known := map[reading]source{} // files that were read
	for _, f := range Formats() {
		names := []string{name}
		if info.IsDir() {
			names = f.below(files, name)
		}
		for _, file := range names {
			if slices.ContainsFunc(list, func(other Found) bool { return other.File == file }) {
				continue
			}
			s, read := known[reading{file, f.in}]
			if !read {
				if s, err = f.open(files, file); err != nil {
					s = source{files: files}
				}
				s.alone = !info.IsDir()
				known[reading{file, f.in}] = s
			}
			if s.name != "" && f.claims(s) {
				list = append(list, Found{f, file, s})
				if f.Name == "bmad" {
					break // the others say less of the same stories
				}
			}
		}
	}
	return list
}

// below returns the files in a folder that have a name of the form's.
func (f Format) below(files fs.FS, folder string) (names []string) {
	for _, form := range f.Files {
		names = append(names, pattern.Glob(files, folder, form)...)
	}
	if f.Name != "bmad" { // whose first one counts
		slices.Sort(names)
	}
	return slices.Compact(names)
}

// Named returns a form by its name.
func Named(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Read makes an epic of a plan of a form, which has passed the validation of any epic. The plan is a file below files; shown is what
// problems call the folder. The error is epic.Problems, with the lines of the plan, where the plan is at fault.
func Read(f Format, files fs.FS, file, shown string, now time.Time) (*Plan, error) {
	s, err := f.open(files, file)
	return f.plan(s, err, shown, now)
}

func (f Format) plan(s source, err error, shown string, now time.Time) (*Plan, error) {
	d, err := f.of(s, err, shown)
	if err != nil {
		return nil, err
	}
	return d.plan(now)
}

// text reads a file of the plan.
func (s source) text(name string) ([]byte, error) {
	info, err := fs.Stat(s.files, name) // before it is opened, which waits for a writer where it is a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	if info.Size() > MaxSize {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, MaxSize>>20)
	}
	return fs.ReadFile(s.files, name)
}

// beside returns the path of a file in the folder of the plan.
func (s source) beside(name string) string { return path.Join(path.Dir(s.name), name) }

// has reports whether a file is in the folder of the plan.
func (s source) has(name string) bool { return len(pattern.Glob(s.files, path.Dir(s.name), name)) > 0 }

// read returns the lines of a file. It reports one that it cannot read.
func (d *draft) read(s source, file string) []markdown.Line {
	data, err := s.text(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.tellOf(file, 0, "it cannot be read: "+err.Error())
	}
	return markdown.Lines(data)
}

// companions lists the documents beside the plan that briefs leave out or shorten, and names them in the description.
func companions(d *draft, s source, partly, part string, wholly ...string) {
	var unread, there []string
	for _, name := range pattern.Glob(s.files, path.Dir(s.name), "*.md") {
		base := path.Base(name)
		switch {
		case base == partly:
			d.tellOf(name, 0, "briefs include only "+part)
		case name == s.name || slices.Contains(wholly, base) || strings.EqualFold(base, "readme.md"):
			continue
		default:
			unread = append(unread, base)
		}
		there = append(there, base)
	}
	if len(pattern.Glob(s.files, path.Dir(s.name), "contracts/*")) > 0 {
		unread, there = append(unread, "contracts"), append(there, "contracts")
	}
	if folder := d.at(path.Dir(s.name)); len(there) > 0 {
		d.description = append(d.description, "Further documents in "+markdown.Clip(folder, 200)+", as far as your checkout has them: "+markdown.Clip(strings.Join(there, ", "), 500))
		if len(unread) > 0 {
			d.made.Told = append(d.made.Told, Told{File: folder, Why: "briefs name these, and do not include them: " + markdown.Clip(strings.Join(unread, ", "), 500)})
		}
	}
}
