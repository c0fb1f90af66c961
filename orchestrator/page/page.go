// Package page writes a night as HTML: the one page of relay report --format html and of relay serve. It begins with the tasks that need a
// person, with why and the command to type; pictures explain them, and the tasks that are done are folded.
//
// The package is pure: the model in, bytes out. It loads nothing, and it escapes every text. Its caller takes out secrets before.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
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
	Warnings []string                               // about the records
}

// Expected is a forecast that was made early in the night.
type Expected struct {
	view.Forecast
	At   time.Time
	Done int // tasks that were done then
}

// Link is a page, by its name and address.
type Link struct {
	Name, To string
	Here     bool // it is the one that is shown
}

// Detail is a task with all that its own page shows.
type Detail struct {
	Row    *view.Row
	Record *attempts.TaskRecord // nil: nothing was tried
	Parts  []Text
}

// Text is a text of several lines that a page shows folded, as a diff or a conversation.
type Text struct {
	Name string
	Text string
	Open bool
	More string // address of what follows; "": this is all
}

//go:embed *.html style.css script.js
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap(functions())).ParseFS(files, "*.html"))

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
func Night(w io.Writer, n *view.Night, o Options) error {
	return o.write(w, titleOf(n), "night", newNight(n, &o))
}

// Parts are the names of the parts of a night's page, in their order. Each is an element with the id part-NAME.
func Parts() []string {
	return []string{"head", "needs", "working", "waiting", "pictures", "done", "sums", "notes"}
}

// Part writes one part of a night's page, as it is in the page; nothing for an unknown one.
func Part(w io.Writer, n *view.Night, name string, o Options) error {
	if !slices.Contains(Parts(), name) {
		return nil
	}
	return templates.ExecuteTemplate(w, name, newNight(n, &o))
}

// Rows writes the rows of a fold that a lazy page has left out, by the address that the fold names: a group, and a section from 0.
func Rows(w io.Writer, n *view.Night, group view.Group, section int, o Options) error {
	o.Lazy = false
	for _, g := range newNight(n, &o).groups {
		if g.Group == group && section >= 0 && section < len(g.Sections) {
			return templates.ExecuteTemplate(w, "rows", g.Sections[section])
		}
	}
	return nil
}

// Task writes the page of a task.
func Task(w io.Writer, d *Detail, o Options) error {
	return o.write(w, d.Row.ID+" "+d.Row.Title, "task", newDetail(d, &o))
}

// Frame writes a page around markup that its caller has made.
func Frame(w io.Writer, title string, body template.HTML, o Options) error {
	return o.write(w, title, "plain", body)
}

// frame is what the frame of a page shows.
type frame struct {
	*Options
	Title         string
	Body          template.HTML
	Style, Policy template.HTML
	Script        template.HTML
}

func (o *Options) write(w io.Writer, title, name string, of any) error {
	var body bytes.Buffer
	if err := templates.ExecuteTemplate(&body, name, of); err != nil {
		return err
	}
	f := frame{Options: o, Title: title, Body: template.HTML(body.String())}
	if o.Files == "" {
		f.Style, f.Script = template.HTML("<style>"+Style()+"</style>"), template.HTML("<script>"+Script()+"</script>")
		f.Policy = template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + Policy() + `">`)
	}
	return templates.ExecuteTemplate(w, "frame", f)
}
