// Package page writes a night as HTML: the one page of relay report --format html and of relay serve. It begins with the tasks that need a
// person, with why and the command to type; pictures explain them, and the tasks that are done are folded.
//
// The package is pure: the model in, bytes out. It loads nothing, and it escapes every text. Its caller takes out secrets before.
package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"time"

	"relay/attempts"
	"relay/orchestrator/picture"
	"relay/orchestrator/view"
)

// Options say where a page is shown. The zero Options make a file that needs no other one.
type Options struct {
	Zone *time.Location // of times; nil: UTC
	// Files is the folder of style.css and script.js, as a browser asks for it, with a slash at its end; "": the page has both in it, and a
	// policy that lets a browser load nothing.
	Files    string
	Since    string                                 // names the state that is shown, for a script that follows it; "": it does not change
	Nav      []Link                                 // other pages
	Link     func(task string) string               // address of a task's own page; nil: there are none
	Record   func(task string) *attempts.TaskRecord // what was tried of a task; nil: rows do not open
	Extra    func(row *view.Row) template.HTML      // is added to what needs a person, such as buttons; nil: nothing
	Lazy     bool                                   // rows of large folds are left out; the browser asks for them, see Rows
	Expected *Expected                              // of the night, early in it; nil: unknown
	Lists    []List
	Warnings []string // about the records
}

// List is what else a person may want to do or know, below what needs a person.
type List struct {
	Name  string
	Items []Item
}

// Item is an entry of a list. Each field may be empty.
type Item struct {
	Task, Text, Type string // Type is a command
}

// Expected is a forecast that was made early in the night.
type Expected struct {
	view.Forecast
	At   time.Time
	Done int // tasks that were done then
}

// All is how many tasks were expected to be done at the end.
func (e *Expected) All() int { return e.Done + e.Tasks }

// Link is a page, by its name and address.
type Link struct {
	Name, To string
	Here     bool // it is the one that is shown
}

// To returns the address of a task: of its page, or of its row.
func (o *Options) To(task string) string {
	if o.Link == nil {
		return "#" + task
	}
	return o.Link(task)
}

// Common has the templates that say in words what a page and a report on a terminal show.
//
//go:embed words.html
var Common string

//go:embed *.html style.css script.js
var files embed.FS

var templates = template.Must(template.New("").Funcs(Functions()).ParseFS(files, "*.html"))

// Style returns the one stylesheet.
func Style() string { return read("style.css") + picture.Style }

// Script returns the one script: copies commands, and opens the fold of a task that is linked to.
func Script() string { return read("script.js") }

func read(name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is in the program
	}
	return string(data)
}

// Policy returns the policy that a page with style and script in it has: nothing else runs, and nothing is loaded.
func Policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(Style()) + "; script-src " + hash(Script()) + "; base-uri 'none'; form-action 'none'"
}

// Night writes the page of a night.
func Night(w io.Writer, n *view.Night, o Options) error { return Whole(w, n, Parts(n, o), o) }

// partNames are the names of the parts of a night's page, in their order. Each is an element with the id part-NAME.
var partNames = []string{"head", "needs", "working", "waiting", "pictures", "done", "sums", "notes"}

// Parts writes the parts of a night's page, by their names.
func Parts(n *view.Night, o Options) map[string][]byte {
	of, parts := newNight(n, &o), map[string][]byte{}
	for _, name := range partNames {
		parts[name] = filled(name, of)
	}
	return parts
}

// Whole writes the page of a night from its parts.
func Whole(w io.Writer, n *view.Night, parts map[string][]byte, o Options) error {
	var main bytes.Buffer
	for _, name := range partNames[1:] {
		main.Write(parts[name])
	}
	f := frame{Title: titleOf(n), Head: template.HTML(parts[partNames[0]]), Main: template.HTML(main.String())}
	if o.Files == "" {
		f.Foot = template.HTML(filled("foot", Said(n, o)))
	}
	return o.write(w, f)
}

// Rows writes the rows of a fold that a lazy page has left out, by the address that the fold names: a group, and a section from 0.
func Rows(w io.Writer, n *view.Night, group view.Group, section int, o Options) error {
	of := newNight(n, &o)
	if group == view.NeedsYou {
		return templates.ExecuteTemplate(w, "ask", of.Rest)
	}
	for _, g := range of.groups {
		if g.Group == group && section >= 0 && section < len(g.Sections) {
			return templates.ExecuteTemplate(w, "rows", g.Sections[section])
		}
	}
	return nil
}

// Pictures writes a page with the pictures of a night alone.
func Pictures(w io.Writer, title string, n *view.Night, o Options) error {
	return Frame(w, title, template.HTML(filled("pictures", &night{Words: Said(n, o), Alone: true})), o)
}

// Task writes the page of a task, with what was tried. The browser loads the parts, such as diffs, when their folds open.
func Task(w io.Writer, r *view.Row, record *attempts.TaskRecord, parts []Link, o Options) error {
	of := &row{r, times{o.Zone}, &o, cmp.Or(record, &attempts.TaskRecord{}), parts}
	return o.write(w, frame{Title: r.ID + " " + r.Title, Head: template.HTML(filled("title", of)), Main: template.HTML(filled("task", of))})
}

// Frame writes a page around markup that its caller has made.
func Frame(w io.Writer, title string, body template.HTML, o Options) error {
	return o.write(w, frame{Title: title, Main: body})
}

// frame is what the frame of a page shows.
type frame struct {
	*Options
	Title                 string
	Head, Main, Foot      template.HTML
	Style, Policy, Script template.HTML
}

func (o *Options) write(w io.Writer, f frame) error {
	if f.Options = o; o.Files == "" {
		f.Style, f.Script = template.HTML("<style>"+Style()+"</style>"), template.HTML("<script>"+Script()+"</script>")
		f.Policy = template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + Policy() + `">`)
	}
	return templates.ExecuteTemplate(w, "frame", f)
}

// filled returns what a template makes of something.
func filled(name string, of any) []byte {
	var text bytes.Buffer
	if err := templates.ExecuteTemplate(&text, name, of); err != nil {
		panic(err) // the templates are in the program
	}
	return text.Bytes()
}
