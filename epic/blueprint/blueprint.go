// Package blueprint makes an epic from a plan written in markdown.
//
// Parse recognises a title (# …) and the text before the first section, which becomes the epic's description; tasks as
// headings of any level (##### T1: Title) with lines such as - **Priority:** p1 | **Points:** 2 below them; a table with
// the columns Group, Tasks and Blocked By; and plain checklists (- [ ] title) under ## Tasks. Lines such as - **Checks:**
// `make test` before the first task are the epic's own. Text in a task that is none of its fields is its description. Sections beside the
// tasks are part of the epic's description, those first that agents can least do without.
package blueprint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"relay/epic"
)

// MaxSize is the size, in bytes, of the largest blueprint that is read.
const MaxSize = 10 << 20

// Form is an example of what Parse understands.
const Form = `## Implementation Tasks

##### T1: Title of the task
- **Priority:** p1 | **Points:** 2
- **Files:** src/a.go, src/b.go
- **Depends on:** —
- **Checks:** ` + "`go test ./...`" + `

What is to be done.

**Acceptance Criteria:**
- [ ] something that can be checked`

// Plan is what has been made of a plan.
type Plan struct {
	Epic   *epic.Epic
	Format string // that of another tool, as openspec
	Done   int    // tasks that are left out because they are done

	Headings, Boxes int    // that its file has
	Told            []Told // lines that mean something to their author, and of which nothing has been made, by place
	// Offered are commands that the plan names beside its tasks, and that may be meant as checks of the epic.
	Offered Offers
}

// Offered is a command that only a person can say of whether it is a check of the epic.
type Offered struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Run  string `json:"run"`
}

// Told names a line of a plan of which nothing has been made, or less than it may mean, and why.
type Told struct {
	File string `json:"file"`
	Line int    `json:"line"` // 0: the file has no lines
	Why  string `json:"why"`

	Beside bool `json:"-"` // the line is in a section beside the work
}

func (t Told) String() string {
	if t.Line == 0 {
		return t.File + ": " + t.Why
	}
	return fmt.Sprintf("%s:%d: %s", t.File, t.Line, t.Why)
}

// Parse reads a blueprint. The epic's id is made from the day of now and the title, and it has passed the validation of
// any epic. The error is epic.Problems, with the lines of the blueprint.
func Parse(name string, src []byte, now time.Time) (*Plan, error) {
	p := newParser(name, &epic.Epic{Version: 2, Source: name, CreatedAt: now.UTC().Format(time.RFC3339)})
	src, ok := p.prepare(src)
	if !ok {
		return nil, p.problems
	}
	p.document(blocks(src))
	if p.epic.Title = strings.TrimSpace(p.epic.Title); p.epic.Title == "" {
		p.add(epic.Place{Line: 1, Column: 1}, "begin with # and a few words", "the blueprint has no title")
		p.epic.Title = unreadable
	}
	p.epic.ID = ID(p.epic.Title, now)
	resolveLinks(p)
	noteUnread(p, src)
	var found epic.Problems
	if err := epic.Validate(name, p.epic, p.place); err != nil && !errors.As(err, &found) {
		return nil, err
	}
	p.problems = append(p.problems, found...)
	if len(p.problems) == 0 {
		plan := &Plan{Epic: p.epic, Told: p.unused, Offered: p.offered, Done: len(p.done)}
		plan.Count(name, src)
		slices.SortStableFunc(plan.Told, func(a, b Told) int { return cmp.Compare(a.Line, b.Line) })
		for i := range p.epic.Tasks {
			for _, c := range p.epic.Tasks[i].Criteria {
				plan.Offered.AddFrom(name, p.epic.Tasks[i].Line, c.Text)
			}
		}
		return plan, nil
	}
	return nil, p.problems.Sorted()
}

// Skimmed is what a text that need not be a blueprint has of one, whatever else is wrong with it.
type Skimmed struct {
	Tasks    bool   // open ones
	Done     int    // tasks
	Commands Offers // under headings such as Verification or Checks
}

// Skim reads a text that need not be a blueprint.
func Skim(name string, src []byte) Skimmed {
	p := newParser(name, &epic.Epic{})
	src, ok := p.prepare(src)
	if ok {
		p.document(blocks(src))
	}
	return Skimmed{ok && !p.taskless, len(p.done), p.offered}
}

// prepare refuses what is not text, and takes out what markdown has no word for: carriage returns and front matter, whose
// lines become empty so that the numbers of the others stay.
func (p *parser) prepare(src []byte) ([]byte, bool) {
	at := func(i int) epic.Place {
		begin := bytes.LastIndexByte(src[:i], '\n') + 1
		return epic.Place{Line: bytes.Count(src[:i], []byte("\n")) + 1, Column: utf8.RuneCount(src[begin:i]) + 1}
	}
	if len(src) > MaxSize {
		p.add(epic.Place{Line: 1, Column: 1}, "split it into several blueprints", "the blueprint is larger than %d MiB", MaxSize>>20)
		return nil, false
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		p.add(at(i), "save it as UTF-8 text", "the blueprint contains a NUL byte")
		return nil, false
	}
	if i := invalid(src); i >= 0 {
		p.add(at(i), "save it as UTF-8", "the blueprint is not valid UTF-8")
		return nil, false
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	return frontMatter(p, src), true
}

// invalid returns the offset of the first byte that is not UTF-8, or -1.
func invalid(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// frontMatter blanks the lines between --- and --- at the top, after looking for a title there.
func frontMatter(p *parser, src []byte) []byte {
	rest, found := bytes.CutPrefix(src, []byte("---\n"))
	if !found {
		return src
	}
	matter, _, found := bytes.Cut(rest, []byte("\n---\n"))
	if !found || bytes.HasPrefix(matter, []byte("\n")) {
		return src
	}
	at := 1
	for line := range bytes.Lines(matter) {
		at++
		switch key, value, found := strings.Cut(string(line), ":"); {
		case key == "title" && found:
			p.epic.Title = strings.Trim(strings.TrimSpace(value), `"'`)
		case found && frontKey.MatchString(key):
			p.skip(at, "%s of the front matter is not read", epic.Quoted(key))
		}
	}
	end := len("---\n") + len(matter) + len("\n---\n")
	return append(bytes.Repeat([]byte("\n"), bytes.Count(src[:end], []byte("\n"))), src[end:]...)
}

// ID makes the id of an epic: the day in UTC, and as much of the title as fits. A title with letters of another script than the Latin one
// adds a digest of it, as these letters are left out.
func ID(title string, now time.Time) string {
	most, digest := 64, ""
	if strings.ContainsFunc(title, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }) {
		digest = fmt.Sprintf("-%x", sha256.Sum256([]byte(title)))[:9]
		most -= len(digest)
	}
	var b strings.Builder
	b.WriteString(now.UTC().Format("20060102"))
	for word := range strings.FieldsFuncSeq(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		if b.Len()+1+len(word) > most {
			break
		}
		b.WriteString("-" + word)
	}
	if b.Len() == len("20060102") {
		b.WriteString("-epic")
	}
	return b.String() + digest
}
