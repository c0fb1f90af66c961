// Package planning reads plans of every form, shows, writes, updates and archives them, and makes that of the demo.
//
// planning.go has an agent make a plan for a person: it reads what is wanted, shows what came of it, and writes the epic once the person
// says yes.
//
// archive.go puts an old epic away to make room for a new one.
//
// review.go has an agent read the epic against its plan.
//
// demo.go makes the scratch repository of relay demo, and knows what its scripted run must come to.
//
// planfile.go reads the plan that a person names: a blueprint, or a plan in the form of another tool.
//
// replan.go reads the plan of an epic again, after it was edited, and says what that changes in epic.yml.
package planning

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/planner"
	"relay/orchestrator/report"
	"relay/orchestrator/sessionkeeper"
)

// MaxText bounds what is wanted, in bytes.
const MaxText = 1 << 20

// DefaultRounds is how often an agent answers at most, unless a person says otherwise.
const DefaultRounds = 3

// Options are what a person wants of a plan.
type Options struct {
	App    *cli.App
	Runner string // "" : the first configured one that serves
	Model  string
	Rounds int
	USD    float64 // that it may cost; 0: as an attempt
	Force  bool    // an epic in progress is put away
	Yes    bool
	JSON   bool

	Checks  []string // that become checks of the epic
	Command string   // that takes the flags which hints name, and a space; "": the one that was given
}

// Wanted is what a plan is to be made of.
type Wanted struct {
	Text, From string
	Lines      bool       // Text is a document, whose lines may name tasks
	Fill       *epic.Epic // only what this plan lacks is wanted, and Text is it; nil: a plan is
	Review     *epic.Epic // only what was misread when it was made of Text is wanted
}

// Read reads what a person names: a file, a folder or issues in which relay init finds a plan, - for stdin, or an idea in words.
func Read(ctx context.Context, a *cli.App, p *project.Project, named string, github *GitHub) (w Wanted, err error) {
	path := a.Path(named)
	info, missing := os.Stat(path)
	switch {
	case github != nil:
		w.From = "issues on GitHub"
		w.Text, err = asYAML(ctx, p, PlanRequest{GitHub: github, Now: a.Now()})
	case named == "-":
		w.From, w.Lines = "stdin", true
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(a.In, MaxText+1)); err == nil && len(data) > MaxText {
			err = fmt.Errorf("more than %d KiB came on stdin", MaxText>>10)
		}
		w.Text = string(data)
	case missing == nil && info.IsDir():
		w.From = p.Rel(path)
		w.Text, err = asYAML(ctx, p, PlanRequest{Written: named, Path: path, Now: a.Now()})
	case missing == nil:
		w.From, w.Lines = p.Rel(path), true
		var data []byte
		data, err = project.ReadFile(path, MaxText)
		w.Text = string(data)
	case !strings.ContainsAny(named, " \t\n") && (strings.ContainsAny(named, `/\`) || filepath.Ext(named) != ""): // meant as a path
		return w, &terminal.Hinted{Err: fmt.Errorf("there is no %s", plaintext.Fit(named, 200)), Hint: "describe an idea in words: relay plan 'Users can sign up by mail'"}
	default:
		w.From, w.Text = "the command line", named
	}
	if err != nil {
		return w, fmt.Errorf("read what is wanted: %w", err)
	}
	if strings.Contains(w.Text, "\x00") || !utf8.ValidString(w.Text) {
		return w, &terminal.Hinted{Err: fmt.Errorf("%s is not UTF-8 text", w.From), Code: terminal.Invalid, Hint: "save it as UTF-8"}
	}
	if strings.TrimSpace(w.Text) == "" {
		return w, &terminal.Hinted{Err: errors.New("what is wanted is empty"), Code: terminal.Invalid, Hint: "tell it in words: relay plan 'Users can sign up by mail'"}
	}
	return w, nil
}

func asYAML(ctx context.Context, p *project.Project, r PlanRequest) (string, error) {
	plan, err := ReadPlan(ctx, p, r)
	if err != nil {
		return "", err
	}
	encoded, err := plan.Epic.Encode()
	if len(encoded) > MaxText {
		err = fmt.Errorf("the plan has %d KiB, and may have %d", len(encoded)>>10, MaxText>>10)
	}
	return string(encoded), err
}

// Made is a plan that an agent has made, or the reason why there is none.
type Made struct {
	planner.Result

	Base string // commit
}

// Make has an agent make it. An epic that may not be replaced is an error before anybody is asked; again is the command that replaces it.
func Make(ctx context.Context, o Options, p *project.Project, w Wanted, again string) (Made, error) {
	var m Made
	if o.Rounds < 1 {
		return m, &terminal.UsageError{Message: "--rounds needs a number from 1", Hint: "leave it out for " + fmt.Sprint(DefaultRounds)}
	}
	if o.USD < 0 {
		return m, &terminal.UsageError{Message: "--budget needs an amount above 0", Hint: "leave it out for what an attempt may cost"}
	}
	if err := ArchiveRefusal(p, ArchiveOptions{Again: again, Force: o.Force}); err != nil && w.Review == nil {
		return m, err
	}
	names, err := agents(p, o.Runner)
	if err != nil {
		return m, err
	}
	if m.Base, err = p.Git.Head(ctx); err != nil {
		return m, err
	}
	session.CatchPipe()
	g, err := cli.StartGuardian(o.App, func() error { return errors.Join(os.MkdirAll(p.Dir, 0o755), p.EnsureIgnored()) })
	if err != nil {
		return m, err
	}
	stub := &project.Plan{Epic: &epic.Epic{ID: "planning", Title: "A plan"}}
	request := planner.Request{
		Run: planner.NewRun(o.App.Now()), From: w.From, Text: w.Text, Fill: w.Fill, Review: w.Review, Runners: names, Model: o.Model,
		Lines: w.Lines && strings.Contains(strings.TrimSpace(w.Text), "\n"), Base: m.Base, Rounds: o.Rounds, Now: o.App.Now,
	}
	what := "for a plan"
	if w.Review != nil {
		what = "what of " + w.From + " was misread"
	}
	fmt.Fprintf(o.App.Err, "relay: %s is asked %s, in a checkout of its own; your files stay as they are\n", plaintext.Fit(names[0], 40), what)
	m.Result, err = session.RunPlanner(ctx, o.App, session.Target{Guardian: g, Project: p, Plan: stub}, request, o.USD)
	for _, note := range m.Notes {
		o.App.Warn(plaintext.Fit(note.Text, 300))
	}
	o.App.Warn(m.Stay...)
	if err == nil && p.Config.Relay.Records.Sessions {
		if _, err := sessionkeeper.Import(ctx, project.SessionOptions(p, stub), m.Folder); err != nil {
			fmt.Fprintf(o.App.Err, "relay: warning: the agents ledger does not have the session: %v\n", err)
		}
	}
	if err != nil {
		return m, err
	}
	return m, m.failure(p, o, w)
}

// agents returns who is asked: the named one, else the configured ones whose programs are there, in their order.
func agents(p *project.Project, named string) (names []string, err error) {
	if named != "" {
		_, err := p.Agents.Program(named)
		if err != nil {
			err = project.NoRunner("", err)
		}
		return []string{named}, err
	}
	names, _, err = p.Agents.Usable("--runner claude")
	return names, err
}

// failure returns the error of a plan that cannot be used; nil when it can.
func (m *Made) failure(p *project.Project, o Options, w Wanted) error {
	if m.Epic != nil {
		return nil
	}
	if m.Finished {
		return &terminal.Hinted{
			Err: fmt.Errorf("nothing is left to do in %s", w.From), Code: terminal.Invalid,
			Hint: "by the answer of " + m.Runner + ", all its tasks are done: " + p.Rel(m.Kept),
		}
	}
	noun := "plan"
	if w.Review != nil {
		noun = "review"
	}
	var hint []string
	if m.Kept != "" {
		hint = append(hint, "its last answer is "+p.Rel(m.Kept)+": mend it, then relay init "+plaintext.ShellWord(p.Rel(m.Kept)))
	}
	if m.Over != nil {
		hint = append(hint, "allow it more: "+o.Command+"--budget N")
		return &terminal.Hinted{Err: fmt.Errorf("there is no %s: %w", noun, m.Over), Code: terminal.Stopped, Hint: strings.Join(hint, "\n")}
	}
	for _, wrong := range m.Wrong[:min(len(m.Wrong), 10)] {
		fmt.Fprintf(o.App.Err, "relay: %s\n", plaintext.Fit(wrong, 300))
	}
	if n := len(m.Wrong) - 10; n > 0 {
		fmt.Fprintf(o.App.Err, "relay: and %d more\n", n)
	}
	return &terminal.Hinted{
		Err:  fmt.Errorf("%s has made no %s that can be used, in %s", m.Runner, noun, plaintext.Count(m.Asked, "answer")),
		Code: terminal.Invalid, Hint: strings.Join(append(hint, "have it try more often: "+o.Command+"--rounds "+fmt.Sprint(2*o.Rounds)), "\n"),
	}
}

// Answer is what relay plan --json prints.
type Answer struct {
	Version   int                   `json:"version"`
	ID        string                `json:"id"`
	Title     string                `json:"title"`
	Tasks     int                   `json:"tasks"`
	Written   string                `json:"written,omitempty"` // epic.yml, when it was written
	Archived  string                `json:"archived,omitempty"`
	Blueprint string                `json:"blueprint"`
	Folder    string                `json:"folder"` // of briefs and transcripts
	Runner    string                `json:"runner"`
	Answers   int                   `json:"answers"`
	Base      string                `json:"base"`
	CostUSD   float64               `json:"cost_usd,omitempty"`
	Input     int64                 `json:"input_tokens,omitempty"`
	Output    int64                 `json:"output_tokens,omitempty"`
	Checks    []Tried               `json:"checks"`
	Warnings  []project.TaskWarning `json:"warnings"`
	Told      []blueprint.Told      `json:"told,omitempty"`
}

// Tried is what a check came to on the commit.
type Tried struct {
	Tasks  []string `json:"tasks,omitempty"` // none: it is the epic's
	Run    string   `json:"run"`
	Passed bool     `json:"passed"`
}

// Answer returns the plan as relay plan --json prints it.
func (m *Made) Answer(p *project.Project) Answer {
	return Answer{
		Version: 1, ID: m.Epic.ID, Title: m.Epic.Title, Tasks: len(m.Epic.Tasks), Blueprint: p.Rel(m.Kept), Folder: p.Rel(m.Folder),
		Runner: m.Runner, Answers: m.Asked, Base: m.Base, CostUSD: m.Usage.CostUSD, Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens,
		Checks:   append([]Tried{}, each.Of(m.Tried, func(t bench.TriedCheck) Tried { return Tried{t.Tasks, t.Check.Run, t.Passed} })...),
		Warnings: project.Unproved(m.Epic), Told: each.Of(m.Told, func(t blueprint.Told) blueprint.Told { t.File = p.Rel(t.File); return t }),
	}
}

// Show shows what the plan means: its order, how its checks did, and what nothing would prove.
func (m *Made) Show(w io.Writer, p *project.Project) error {
	m.head(w)
	var drawn bytes.Buffer
	if err := m.Graph.Write(&drawn, m.Epic, "text", nil); err != nil {
		return fmt.Errorf("draw the graph: %w", err)
	}
	fmt.Fprintf(w, "\n%s\n", drawn.String())
	m.showChecks(w)
	for _, t := range m.Told {
		fmt.Fprintf(w, "%s:%d: %s\n", p.Rel(t.File), t.Line, plaintext.Fit(t.Why, 300))
	}
	project.WriteWarnings(w, project.Unproved(m.Epic))
	fmt.Fprintf(w, "the plan in full: %s\n", p.Rel(m.Kept))
	return nil
}

func (m *Made) head(w io.Writer) {
	fmt.Fprintf(w, "%s has made this in %s", plaintext.Fit(m.Runner, 40), plaintext.Count(m.Asked, "answer"))
	if used := report.UsageText(m.Usage); used != "" {
		fmt.Fprintf(w, ", %s", used)
	}
	fmt.Fprintln(w)
}

// mostShown is how many checks are shown.
const mostShown = 40

func (m *Made) showChecks(w io.Writer) {
	if len(m.Tried) == 0 {
		return
	}
	fmt.Fprintf(w, "checks, on commit %s as it is:\n", plaintext.Head(m.Base, 12))
	for i, t := range m.Tried {
		if i == mostShown {
			fmt.Fprintf(w, "  and %d more\n", len(m.Tried)-i)
			break
		}
		how, whose := "fails before any work, and proves nothing until it passes", "all tasks"
		if len(t.Tasks) > 0 {
			how, whose = "fails, as it may before the work", plaintext.Some(t.Tasks, 3)
		}
		if t.Passed {
			how = "passes already"
		}
		fmt.Fprintf(w, "  %s: %s: %s\n", whose, plaintext.Fit(t.Check.Run, 120), how)
	}
}

// ShowFilled shows what a plan has been given, and how the new checks did.
func (m *Made) ShowFilled(w io.Writer) {
	m.head(w)
	for _, a := range m.Added {
		fmt.Fprintln(w, a.Task)
		for _, c := range a.Criteria {
			fmt.Fprintf(w, "  + criterion: %s\n", plaintext.Fit(c.Text, 200))
		}
		for _, c := range a.Checks {
			fmt.Fprintf(w, "  + check: %s\n", plaintext.Fit(c.Run, 200))
		}
	}
	m.showChecks(w)
}

// Write makes the plan the epic, in the place of one that may be replaced.
func (m *Made) Write(ctx context.Context, o Options, p *project.Project, again string) (archived, branch string, err error) {
	m.Epic.Source = cmp.Or(agentsDocument(m.Epic), p.Rel(m.Kept))
	encoded, err := m.Epic.Encode()
	if err != nil {
		return "", "", err
	}
	if archived, branch, err = ArchiveOld(ctx, p, ArchiveOptions{Again: again, Force: o.Force}, o.App.Now()); err != nil {
		return "", "", err
	}
	return archived, branch, project.CreateEpic(p, m.Epic, encoded)
}

// Type returns the command that makes the plan the epic, for who has not said yes.
func (m *Made) Type(o Options, p *project.Project) string {
	words := []string{"relay init"}
	if o.Force {
		words = append(words, "--force")
	}
	words = append(words, plaintext.ShellWord(p.Rel(m.Kept)))
	for _, run := range o.Checks {
		words = append(words, "--checks", plaintext.ShellWord(run))
	}
	return strings.Join(words, " ")
}
