package report

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
	"relay/orchestrator/view"
	"relay/review"
)

// document is the report for a person, and what a pull request says of a task. All text in it that is not relay's own passes through code,
// quoted, cell or name. It leaves out most of long lists: the JSON has all of them.
//
//go:embed markdown.txt
var document string

// Markdown writes the report for a person, with times as in zone. No text of an agent's can do more in it than be read.
func (r *Report) Markdown(w io.Writer, zone *time.Location) error {
	p := page{zone: zone, over: r.State != Running}
	if len(r.Runs) > 0 {
		p.from = r.Runs[0].StartedAt
	}
	t, err := p.parse()
	b := bufio.NewWriterSize(w, 64<<10)
	if err == nil {
		err = t.ExecuteTemplate(b, "report", r)
	}
	return errors.Join(err, b.Flush())
}

// page says how times and states are written.
type page struct {
	zone *time.Location
	from time.Time // the night's begin
	over bool      // no run is active
}

func (p *page) parse() (*template.Template, error) {
	return template.New("").Funcs(Functions()).Funcs(functions()).Funcs(template.FuncMap{
		"clock": p.clock, "day": p.day, "until": p.until, "length": p.length,
		"over":   func() bool { return p.over },
		"counts": func(c decide.Counts) string { return CountsText(c, p.over) },
	}).Parse(document)
}

// functions write the same for every night.
func functions() template.FuncMap {
	return template.FuncMap{
		"code": code, "cell": cell, "quoted": block, "name": func(text any) string { return code(text, 80) },
		"amount": plaintext.Amount, "join": strings.Join, "lasting": lasting, "commits": commits, "findings": findings,
		"proof": ProofText, "proofs": proofs, "judged": judged, "told": told, "deferred": deferred, "said": said, "commands": commands,
		"before": func(a attempts.Attribution) string { return AttributionWords[a] },
		"inc":    func(place int) int { return place + 1 },
		"gate": func(r attempts.Reason, detail string) string {
			return (&attempts.Gate{Reason: r, Detail: detail}).Text()
		},
	}
}

// Functions returns those that templates of texts share: words, and for long lists the first or last so many, and how many more there are.
func Functions() template.FuncMap {
	return template.FuncMap{
		"because": plaintext.Because, "count": plaintext.Count, "some": plaintext.Some, "word": plaintext.ShellWord, "fit": plaintext.Fit,
		"used": used, "usage": UsageText, "charged": ChargeText, "newest": newest, "headline": Headline, "exit": plaintext.ExitText,
		"refused": engine.RefusedWords, "unproved": verdict.Unproved,
		"spaced":  func(word any) string { return strings.ReplaceAll(fmt.Sprint(word), "_", " ") },
		"command": func(typed, what string) []view.Command { return []view.Command{{Type: typed, For: what}} },
		"first":   func(list any, most int) any { return cut(list, 0, most) },
		"last":    func(list any, most int) any { return cut(list, reflect.ValueOf(list).Len()-most, most) },
		"more":    func(list any, most int) int { return max(reflect.ValueOf(list).Len()-most, 0) },
	}
}

// cut returns the part of a slice from a place on, or from its beginning if that is negative.
func cut(list any, from, most int) any {
	v := reflect.ValueOf(list)
	from = max(from, 0)
	return v.Slice(from, min(from+most, v.Len())).Interface()
}

// newest returns discussions, the newest first.
func newest(list []discussion.Thread) []discussion.Thread {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// clock returns a time of the night by the clock alone, any other with its day.
func (p *page) clock(t time.Time) string {
	if since := t.Sub(p.from); since < 0 || since >= 24*time.Hour {
		return p.day(t)
	}
	return t.In(p.zone).Format("15:04")
}

// until returns the end of a wait: by the clock alone if that is on the same day as its beginning.
func (p *page) until(w *view.Wait) string {
	if w.Until.In(p.zone).YearDay() != w.At.In(p.zone).YearDay() {
		return p.day(w.Until)
	}
	return p.clock(w.Until)
}

func (p *page) day(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.In(p.zone).Format("2006-01-02 15:04 MST")
}

// length returns how long an attempt took, after a comma.
func (p *page) length(a *Attempt) string {
	switch {
	case a.Seconds == 0 && p.over: // its end is unknown
		return ""
	case a.EndedAt.Sub(a.StartedAt).Seconds() > a.Seconds+1e-3:
		return ", at least " + lasting(a.Seconds)
	}
	return ", " + lasting(a.Seconds)
}

func lasting(seconds float64) string {
	return plaintext.Span(time.Duration(seconds * float64(time.Second)))
}

// commits returns hashes of commits, shortened, as a range.
func commits(hashes ...string) string {
	short := each.Of(hashes, func(hash string) string { return plaintext.Head(hash, 12) })
	return code(strings.Join(short, ".."), 60)
}

// used returns what was used, in words; "": nothing.
func used(u attempts.Usage) string {
	if u == (attempts.Usage{}) {
		return ""
	}
	return UsageText(u)
}

// commands returns a block of commands to copy.
func commands(list []view.Command) string {
	widest := plaintext.WidestOf(list, func(c view.Command) string { return c.Type })
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%-*s   # %s\n", widest, c.Type, c.For)
	}
	return "\n```sh\n" + b.String() + "```\n"
}

// told returns the tasks with details: those that were touched or are gated.
func told(tasks []Task) (list []*Task) {
	for i := range tasks {
		if t := &tasks[i]; t.Touched || t.Gate != nil {
			list = append(list, t)
		}
	}
	return list
}

// proofs returns how each criterion of a task is proved.
func proofs(t *Task) []review.Proof {
	if last := judged(t); last != nil && len(last.Proofs) > 0 {
		return last.Proofs
	}
	return each.Of(t.Unproven, func(text string) review.Proof { return review.Proof{Criterion: text, By: review.Unproven} })
}

// findings counts them by severity.
func findings(by map[review.Severity]int) string {
	total, parts := 0, []string(nil)
	for _, s := range []review.Severity{review.Critical, review.High, review.Medium, review.Low, review.Info} {
		if by[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[s], s))
			total += by[s]
		}
	}
	if total == 0 {
		return "no findings"
	}
	return plaintext.Count(total, "finding") + plaintext.Because(strings.Join(parts, ", "))
}

// deferredOf is a finding that did not hold a change up, and the task of that change.
type deferredOf struct {
	Of string
	DeferredFinding
}

// deferred returns the findings that did not hold up changes of these runs.
func deferred(r *Report) (list []deferredOf) {
	add := func(of string, found []DeferredFinding) {
		for _, f := range found {
			list = append(list, deferredOf{of, f})
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if a := judged(t); t.Touched && a != nil && a.Review != nil {
			add(t.ID, a.Review.Deferred)
		}
	}
	if r.Judged != nil {
		add("the whole epic", r.Judged.Deferred)
	}
	return list
}
