package serve

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/page"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

//go:embed serve.html
var html string

//go:embed serve.js
var script string

//go:embed serve.css
var style string

var templates = template.Must(template.New("").Funcs(report.Functions()).Funcs(template.FuncMap{
	"date":  func(t time.Time) string { return t.Local().Format("2 Jan 15:04") },
	"clock": func(t time.Time) string { return t.Local().Format("15:04") }, "span": plaintext.Span,
}).Parse(html))

// site writes the pages.
type site struct {
	o    *Options
	live *live

	project *project.Project
	base    string // path of all pages, with a slash at its end
	desk    *desk
	clean   func(string) string // takes out what looks like a secret
}

var errUnknown = errors.New("there is no such page")

// routes says what answers which address. Nothing of the disk is served by its name.
func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(w *answer, r *http.Request) error{
		"GET /{$}":              s.nightPage,
		"GET /graph":            s.picture("Graph", func(of *view.Builder, n *view.Night) { n.Graph = of.Graph(s.live.now()) }),
		"GET /timeline":         s.picture("Timeline", func(of *view.Builder, n *view.Night) { n.Timeline = of.Timeline(s.live.now()) }),
		"GET /money":            s.moneyPage,
		"GET /runs":             s.runsPage,
		"GET /run/{id}":         s.runPage,
		"GET /task/{id}":        s.taskPage,
		"GET /task/{id}/{part}": s.partPage,
		"GET /part/{name}": func(w *answer, r *http.Request) error {
			_, err := w.Write(s.live.shown.Load().parts[r.PathValue("name")].html)
			return err
		},
		"GET /rows/{group}/{section}": s.rowsPage,
		"GET /control":                s.desk.page,
		"POST /do":                    s.desk.do,
		"GET /":                       func(*answer, *http.Request) error { return errUnknown },
	} {
		if s.o.Control || pattern != "GET /control" && pattern != "POST /do" {
			mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.write(w, r, answer) })
		}
	}
	mux.HandleFunc("GET /events", s.live.events)
	mux.HandleFunc("GET /files/style.css", text("text/css", page.Style()+style))
	mux.HandleFunc("GET /files/script.js", text("text/javascript", page.Script()+script))
	all := http.NewServeMux()
	all.Handle(s.base, http.StripPrefix(strings.TrimSuffix(s.base, "/"), mux))
	return all
}

func text(kind, content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = w.Write([]byte(content)) // a browser that is gone does not matter
	}
}

// answer is a page while it is written.
type answer struct{ bytes.Buffer }

// write sends a page, without secrets, or what is wrong.
func (s *site) write(w http.ResponseWriter, r *http.Request, write func(*answer, *http.Request) error) {
	var a answer
	code := http.StatusOK
	if err := write(&a, r); err != nil {
		if code = http.StatusConflict; errors.Is(err, errUnknown) {
			code = http.StatusNotFound
		}
		a.Reset()
		_ = s.message(&a, terminal.Message(err)) // its template is in the program
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWait)) // connections have deadlines
	w.WriteHeader(code)
	_, _ = io.WriteString(w, s.live.values(a.String())) // a browser that is gone does not matter
}

// message writes a page that says something.
func (s *site) message(a *answer, text string) error {
	return s.frame(a, "relay", "message", map[string]string{"Text": plaintext.Escape(text), "Base": s.base})
}

// frame writes a page around a template of this package.
func (s *site) frame(a *answer, title, name string, of any) error {
	var body bytes.Buffer
	if err := templates.ExecuteTemplate(&body, name, of); err != nil {
		return err
	}
	return page.Frame(a, title, template.HTML(body.String()), s.options(s.live.shown.Load(), title))
}

// options are those of a page that shows a state of the night.
func (s *site) options(now *shown, here string) page.Options {
	o := page.Options{
		Zone: time.Local, Files: s.base + "files/", Link: s.link, Lazy: true, Warnings: now.notes, Since: fmt.Sprint(now.at),
	}
	if next := now.night.Changed.Next; len(next) > 1 { // landing comes before undoing, when no run is on
		o.Lists = []page.List{{Name: "Then", Items: []page.Item{{Type: next[0].Type, Text: next[0].For}}}}
	}
	pages := []string{"Night", "Graph", "Timeline", "Money", "Runs"}
	if s.o.Control {
		o.Extra = s.desk.buttons
		pages = append(pages, "Control")
	}
	for i, name := range pages {
		to := s.base + strings.ToLower(name)
		if i == 0 {
			to = s.base
		}
		o.Nav = append(o.Nav, page.Link{Name: name, To: to, Here: name == here})
	}
	return o
}

func (s *site) link(task string) string { return s.base + "task/" + url.PathEscape(task) }

func (s *site) nightPage(a *answer, _ *http.Request) error {
	now := s.live.shown.Load()
	parts := map[string][]byte{}
	for name, p := range now.parts {
		parts[name] = p.html
	}
	return page.Whole(a, now.night, parts, s.options(now, "Night"))
}

// picture returns what shows one of the pictures.
func (s *site) picture(title string, draw func(of *view.Builder, n *view.Night)) func(*answer, *http.Request) error {
	return func(a *answer, _ *http.Request) error {
		now := s.live.shown.Load()
		n := *now.night
		s.live.mu.Lock()
		draw(s.live.night.Model, &n)
		s.live.mu.Unlock()
		return page.Pictures(a, title, &n, s.options(now, title))
	}
}

func (s *site) moneyPage(a *answer, _ *http.Request) error {
	now := s.live.shown.Load()
	return page.Frame(a, "Money", template.HTML(now.parts["sums"].html), s.options(now, "Money"))
}

func (s *site) runsPage(a *answer, _ *http.Request) error {
	runs := slices.Clone(s.live.shown.Load().runs)
	slices.Reverse(runs)
	return s.frame(a, "Runs", "runs", map[string]any{"Base": s.base, "Runs": runs})
}

// runPage shows the night that ended with a run, and the tasks as they are now.
func (s *site) runPage(a *answer, r *http.Request) error {
	id, now := r.PathValue("id"), s.live.shown.Load()
	at := slices.IndexFunc(now.runs, func(run view.OneRun) bool { return run.ID == id })
	switch {
	case at < 0:
		return errUnknown
	case at == len(now.runs)-1:
		return s.nightPage(a, r)
	}
	pl, v, _, err := s.project.Read(r.Context())
	if err != nil {
		return err
	}
	b, err := status.Builder(s.project, project.RunPlan(s.project, id, pl), v, id)
	if err != nil {
		return err
	}
	n, o := b.Night(s.o.App.Now()), s.options(now, "")
	if n.Counts.Total() <= mostPicked {
		n.Graph, n.Timeline = b.Graph(n.At), b.Timeline(n.At)
	}
	o.Lazy, o.Since = false, ""
	return page.Night(a, n, o)
}

// rowsPage shows the rows of a fold that the page of the night has left out.
func (s *site) rowsPage(a *answer, r *http.Request) error {
	section, err := strconv.Atoi(r.PathValue("section"))
	if err != nil {
		return errUnknown
	}
	now, group := s.live.shown.Load(), view.Group(strings.ReplaceAll(r.PathValue("group"), "-", " "))
	return page.Rows(a, now.night, group, section, s.options(now, ""))
}
