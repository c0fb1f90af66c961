package serve

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"relay/orchestrator/view"
)

// decisions are the commands that a browser may have relay run, by what a button says. TASK stands for the task, TEXT for what a person has
// written, and so does the end of a flag; a flag without a text is left out.
var decisions = map[string][]string{
	"gate": {"gate", "--reason=", "--", "TASK"}, "ungate": {"ungate", "--note=", "--", "TASK"}, "retry": {"retry", "--note=", "--", "TASK"},
	"approve": {"approve", "--note=", "--", "TASK"}, "answer": {"answer", "--", "TASK", "TEXT"}, "stop": {"stop", "--", "TASK"},
	"pause": {"pause"}, "go on": {"pause", "--off"}, "stop the run": {"stop"},
}

// ofRow ends what a button says that decides on all tasks of a row.
const ofRow = " --same"

// desk is where a person decides.
type desk struct {
	site *site
	form string // secret of forms
}

// button is a decision that a page offers.
type button struct {
	What, Task, Text, For string
	Ask                   bool // for a text
}

// buttons offers the commands that the model names for a task.
func (d *desk) buttons(row *view.Row) template.HTML {
	var list []button
	for _, c := range row.Commands() {
		typed, known := strings.CutPrefix(strings.TrimSuffix(c.Type, d.site.project.EpicFlag()), "relay ")
		what, text, found := strings.Cut(typed+" ", " "+row.ID+" ")
		if !known || !found || decisions[strings.TrimSuffix(what, ofRow)] == nil {
			continue
		}
		b := button{What: what, Task: row.ID, For: c.For}
		if strings.HasPrefix(what, "answer") {
			b.Text = strings.TrimSpace(text)
			b.Ask = strings.HasPrefix(b.Text, `"`)
		}
		list = append(list, b)
	}
	var text bytes.Buffer
	of := map[string]any{"Do": d.site.base + "do", "Form": d.form, "Buttons": list}
	if err := templates.ExecuteTemplate(&text, "buttons", of); err != nil {
		panic(err) // the templates are in the program
	}
	return template.HTML(text.String())
}

// page offers what can be asked of a run, and decisions about any task.
func (d *desk) page(a *answer, _ *http.Request) error {
	run := d.site.live.shown.Load().night.Run
	return d.site.frame(a, "Control", "control", map[string]any{"Do": d.site.base + "do", "Form": d.form, "Run": run})
}

// do runs the command of a decision, as a person would at a shell.
func (d *desk) do(a *answer, r *http.Request) error {
	r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return err
	}
	task, said, args := r.PostForm.Get("task"), strings.TrimSpace(r.PostForm.Get("text")), []string{}
	what, all := strings.CutSuffix(r.PostForm.Get("what"), ofRow)
	command := decisions[what]
	switch {
	case !same(r.PostForm.Get("form"), d.form):
		return errors.New("the form is of an earlier relay serve: load the page again")
	case command == nil || slices.Contains(command, "TASK") && task == "":
		return errors.New("no task is named, or it is not a decision that relay knows")
	}
	for _, word := range command {
		switch {
		case word == "TASK":
			word = task
		case word == "TEXT":
			word = said
		case strings.HasSuffix(word, "=") && said == "":
			continue
		case strings.HasSuffix(word, "="):
			word += said
		}
		args = append(args, word)
	}
	if all {
		args = slices.Insert(args, 1, strings.TrimSpace(ofRow))
	}
	done, err := d.site.o.Run(r.Context(), args...)
	if err != nil {
		return err
	}
	d.site.live.refresh(r.Context())
	return d.site.message(a, done)
}
