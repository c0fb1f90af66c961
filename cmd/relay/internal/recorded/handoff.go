package recorded

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor"
	"relay/reanchor/git"
)

// HandoffOptions are the flags of relay handoff.
type HandoffOptions struct {
	To   string // who goes on
	JSON string // file with a statement, - for stdin; "": a person is asked
}

// Handoff records where a session has stopped: an entry in the ledger of LedgerSync, and an artifact.
func Handoff(ctx context.Context, a *cli.App, p *project.Project, o HandoffOptions) error {
	var s HandoffStatement
	if o.JSON != "" {
		if err := cli.ReadObject(a, o.JSON, &s, "a handoff", "relay handoff --help shows what it looks like"); err != nil {
			return err
		}
	}
	switch {
	case o.JSON != "-" && a.CanAsk():
		s.ask(a)
	case o.JSON == "":
		return &terminal.UsageError{
			Message: "stdin is not a terminal: relay cannot ask",
			Hint:    "relay handoff --json - reads from stdin what there is to say; relay handoff --help shows its shape",
		}
	}
	if err := s.check(); err != nil {
		return err
	}
	facts, err := p.Git.Facts(ctx, reanchor.RecentCommits)
	if err != nil {
		return err
	}
	facts.Changes = worktree.WithoutRecords(ctx, p.Git, facts.Changes)
	h := handoff{HandoffStatement: s, to: o.To, facts: facts, folder: filepath.Base(p.Root)}
	if plan, err := p.Plan(); err == nil {
		h.epic = *plan.Epic
	}
	entry := h.entry()
	if err := RecordEntry(a, p, entry); err != nil {
		return err
	}
	f := h.artifact(ctx, a, p, entry)
	if err := WriteArtifact(a, p, f, f.Session); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Out, "the next session reads it with relay resume")
	return err
}

// handoff is a statement with what relay knows itself.
type handoff struct {
	HandoffStatement

	to     string
	facts  git.Facts
	epic   epic.Epic // its zero value: there is none
	folder string    // name of the checkout
}

func (h *handoff) entry() *ledgersync.Entry {
	e := &ledgersync.Entry{
		Agent: ledgersync.Agent{Name: h.Agent, Model: h.Model}, Session: ledgersync.Session{ID: h.Session}, Type: ledgersync.Handoff,
		Tags: []string{"handoff"},
	}
	e.SetSummary(h.Summary)
	e.Reasoning.Intent = "the session ends, and another one goes on"
	if h.to != "" {
		e.Reasoning.Intent = "the session ends, and " + h.to + " goes on"
		e.Tags = append(e.Tags, "to:"+h.to)
	}
	if h.epic.ID != "" {
		e.Tags = append(e.Tags, h.epic.ID)
	}
	e.Reasoning.Uncertainties = h.Questions
	known := map[string]string{}
	maps.Copy(known, h.Context)
	for _, what := range slices.Sorted(maps.Keys(h.Decisions)) {
		e.Reasoning.Considerations = append(e.Reasoning.Considerations, what+": "+h.Decisions[what])
		known["decided, "+what] = h.Decisions[what]
	}
	e.SessionSummary = &ledgersync.SessionSummary{
		Completed: h.Done, CurrentState: h.state(), Deferred: h.Next, Blockers: h.Blockers, ImportantContext: known, HandoffNotes: h.Notes,
	}
	const mostFiles = 200
	e.Artifacts = each.Of(h.facts.Changes[:min(len(h.facts.Changes), mostFiles)], func(c git.Change) ledgersync.Artifact {
		return ledgersync.Artifact{Path: c.Path, Action: actionOf(c)}
	})
	return e
}

// state returns where the checkout stands, with what the session says of it.
func (h *handoff) state() map[string]string {
	state := map[string]string{}
	if branch := h.facts.Branch; branch != "" {
		state["branch"] = strings.TrimSuffix(branch+" at "+h.facts.Head[:min(len(h.facts.Head), 12)], " at ")
	}
	if n := len(h.facts.Changes) + h.facts.More; n > 0 {
		state["changes"] = plaintext.Count(n, "file") + " not committed"
	}
	maps.Copy(state, h.State)
	return state
}

// actionOf returns what happened to a file that is not committed.
func actionOf(c git.Change) string {
	switch {
	case strings.Contains(c.Code, "D"):
		return ledgersync.Deleted
	case strings.ContainsAny(c.Code, "?AR"):
		return ledgersync.Created
	}
	return ledgersync.Modified
}

// artifact returns the same as an artifact.
func (h *handoff) artifact(ctx context.Context, a *cli.App, p *project.Project, e *ledgersync.Entry) *artifact.Artifact {
	outcome, stated := artifact.ParseOutcome(h.Outcome)
	switch {
	case stated:
	case len(h.Blockers) > 0:
		outcome = artifact.PartialMinus
	default:
		outcome = artifact.PartialPlus
	}
	session := plaintext.FirstOf(h.epic.ID, h.folder)
	f := artifact.New(artifact.Handoff, plaintext.FirstOf(h.Goal, h.epic.Title, h.Summary), h.Next[0], outcome, artifact.Origin{
		Date: a.Now(), Session: session, PrimaryBead: plaintext.FirstOf(h.epic.Bead, session), SessionID: e.Session.ID, AgentID: e.Agent.Name,
	})
	f.Done = each.Of(h.Done, func(what string) artifact.Task { return artifact.Task{Task: what} })
	f.Next, f.Blockers, f.Questions, f.Worked, f.Failed = h.Next, h.Blockers, h.Questions, h.Worked, h.Failed
	f.Decisions = each.Of(slices.Sorted(maps.Keys(h.Decisions)), func(what string) artifact.Decision {
		return artifact.Decision{Decision: what, Rationale: h.Decisions[what]}
	})
	f.Findings = each.Of(slices.Sorted(maps.Keys(h.Context)), func(what string) artifact.Note {
		return artifact.Note{Key: what, Text: h.Context[what]}
	})
	f.Git, f.RelatedBeads = GitOf(ctx, p), h.epic.Related
	f.Test, f.ContinuationPrompt = h.State["tests"], h.Notes
	files := artifact.Files{}
	for _, c := range e.Artifacts {
		switch c.Action {
		case ledgersync.Created:
			files.Created = append(files.Created, c.Path)
		case ledgersync.Deleted:
			files.Deleted = append(files.Deleted, c.Path)
		default:
			files.Modified = append(files.Modified, c.Path)
		}
	}
	if len(e.Artifacts) > 0 {
		f.Files = &files
	}
	f.Metadata = map[string]any{"ledgersync_entry": e.ID}
	return f
}
