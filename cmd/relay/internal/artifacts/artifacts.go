// Package artifacts lists, shows, checks, makes and imports unified artifacts in a checkout.
package artifacts

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/internal/plaintext"
	"relay/orchestrator/text"
)

type listed struct {
	File     string             `json:"file"`
	Artifact *artifact.Artifact `json:"artifact"`
}

// List prints the artifacts of a checkout, the oldest first. Files that are none are told.
func List(a *cli.App, p *project.Project, asJSON bool) error {
	list, err := artifact.List(p.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return &exit.Hinted{Err: fmt.Errorf("there is no %s", artifact.Folder), Hint: "relay artifact new makes it"}
	}
	if err != nil {
		return err
	}
	answer := []listed{}
	for _, l := range list {
		if l.Err != nil {
			fmt.Fprintf(a.Err, "relay: warning: %s is no artifact: relay artifact validate says why\n", plaintext.Line(p.Rel(l.Path)))
			continue
		}
		answer = append(answer, listed{p.Rel(l.Path), l.Artifact})
		if !asJSON {
			f := l.Artifact
			fmt.Fprintf(a.Out, "%-20s  %-10s  %-13s  %s\n  %s\n", dateOf(f), orElse(string(f.Mode), "no mode"),
				orElse(string(f.Outcome), "no outcome"), plaintext.Line(f.Goal), plaintext.Line(p.Rel(l.Path)))
		}
	}
	if asJSON {
		return a.PrintJSON(answer)
	}
	if len(answer) == 0 {
		fmt.Fprintf(a.Err, "there is no artifact in %s\n", artifact.Folder)
	}
	return nil
}

// dateOf is the date of an artifact as relay prints times.
func dateOf(f *artifact.Artifact) string {
	if at, ok := f.At(); ok && strings.Contains(f.Date, ":") {
		return text.Stamp(at)
	}
	return orElse(f.Date, "no date")
}

func orElse(words, other string) string { return plaintext.Line(text.FirstOf(words, other)) }

// Show prints what one artifact says.
func Show(a *cli.App, file string, asJSON bool) error {
	f, problems, err := artifact.ReadFile(a.Path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return missing(file)
	}
	if err != nil {
		return &exit.Hinted{Err: err, Hint: "relay artifact validate says what is wrong with a file"}
	}
	if asJSON {
		return a.PrintJSON(f)
	}
	show(&printer{a}, f)
	if slices.ContainsFunc(problems, func(p artifact.Problem) bool { return !p.Warning }) {
		a.Warn("other programs may not read " + file + ": relay artifact validate says why")
	}
	return nil
}

func missing(file string) error {
	return &exit.Hinted{Err: fmt.Errorf("there is no %s", file), Hint: "relay artifact list names those that are there, and relay artifact new makes one"}
}

type printer struct{ app *cli.App }

func (p *printer) field(name, value string) {
	if value != "" {
		p.list(name, []string{value})
	}
}

// list prints several texts, the name before the first one.
func (p *printer) list(name string, values []string) {
	for _, value := range values {
		fmt.Fprintf(p.app.Out, "%-10s %s\n", name, plaintext.Line(value))
		name = ""
	}
}

func (p *printer) block(name, value string) {
	value = strings.Trim(plaintext.Clean(value), "\n")
	if value == "" {
		return
	}
	for line := range strings.SplitSeq(value, "\n") {
		fmt.Fprintln(p.app.Out, strings.TrimRight(fmt.Sprintf("%-10s %s", name, line), " "))
		name = ""
	}
}

func show(p *printer, f *artifact.Artifact) {
	p.field("mode", string(f.Mode))
	p.field("date", dateOf(f))
	p.field("session", f.Session)
	p.field("outcome", string(f.Outcome))
	p.field("bead", f.PrimaryBead)
	p.field("agent", f.AgentID)
	p.field("goal", f.Goal)
	p.field("now", f.Now)
	p.list("done", texts(f.Done, func(t artifact.Task) string { return with(t.Task, " (", strings.Join(t.Files, ", "), ")") }))
	p.list("next", f.Next)
	p.list("blockers", f.Blockers)
	p.list("questions", f.Questions)
	p.list("decisions", texts(f.Decisions, decision))
	p.list("findings", texts(f.Findings, func(n artifact.Note) string { return n.Key + ": " + n.Text }))
	p.list("worked", f.Worked)
	p.list("failed", f.Failed)
	if g := f.Git; g != nil {
		p.field("git", with(g.Branch+" "+g.Commit, ", ", g.PRReady, ""))
	}
	if c := f.Files; c != nil {
		p.list("created", c.Created)
		p.list("modified", c.Modified)
		p.list("deleted", c.Deleted)
	}
	p.block("test", f.Test)
	p.list("beads", f.RelatedBeads)
	p.list("review", texts(f.FilesToReview, fileRef))
	p.list("solutions", texts(f.FinalSolutions, solution))
	p.list("decided", texts(f.FinalDecisions, decision))
	p.list("produced", texts(f.ArtifactsProduced, fileRef))
	p.block("prompt", f.ContinuationPrompt)
	p.list("other", slices.Sorted(maps.Keys(f.Extra)))
}

func texts[T any](items []T, text func(T) string) []string {
	list := make([]string, 0, len(items))
	for _, item := range items {
		list = append(list, text(item))
	}
	return list
}

// with adds more to a text, between two others, unless it is empty.
func with(text, before, more, after string) string {
	if more == "" {
		return text
	}
	return text + before + more + after
}

func decision(d artifact.Decision) string {
	return with(with(d.Decision, ": ", d.Rationale, ""), " (", d.WhyThis, ")")
}

func solution(s artifact.Solution) string {
	if s.Problem == "" {
		return with(s.Solution, " (", s.Rationale, ")")
	}
	return with(with(s.Problem, ": ", s.Solution, ""), " (", s.Rationale, ")")
}

func fileRef(f artifact.FileRef) string { return with(f.Path, ": ", f.Note, "") }
