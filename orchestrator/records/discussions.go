package records

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/epic/plaintext"
)

// Discussion is something for the ledger of discussions: a new entry, or a note for some that are there.
type Discussion struct {
	At time.Time

	Opening *discussion.Opening // nil: it is a note
	Notes   []string            // origins of the entries that get the note
	Note    string
}

// mostThreads is how many earlier discussions of a task a new one is linked to, the last.
const mostThreads = 5

// threads are the discussions that relay has opened about a task.
type threads struct {
	origins []string // the last of all
	waiting []string // those whose task was not completed since
}

// talk holds the discussions of an epic.
type talk struct {
	now   *standing
	about map[string]*threads // by task; "": the whole epic
}

func (t *talk) threadsOf(task string) *threads {
	if t.about[task] == nil {
		t.about[task] = &threads{}
	}
	return t.about[task]
}

// open begins a discussion about a task; of the whole epic, when the event is about no task.
func (t *talk) open(e *attempts.Event, what string, o discussion.Opening) Discussion {
	earlier := t.threadsOf(e.Task)
	o.Origin, o.Status, o.Follows = t.now.o.origin(e, what), discussion.Unresolved, slices.Clone(earlier.origins)
	earlier.origins = last(append(earlier.origins, o.Origin), mostThreads)
	earlier.waiting = last(append(earlier.waiting, o.Origin), mostThreads)
	return Discussion{At: e.At, Opening: &o}
}

// gateOpened returns the discussion about a task that was gated and needs a person. A person who gates a task has decided it.
func (t *talk) gateOpened(e *attempts.Event, gate *attempts.Gate, positions []discussion.Position) Discussion {
	planned := t.now.planned(e.Task)
	var b strings.Builder
	fmt.Fprintf(&b, "relay has gated %s (%s)%s\n", e.Task, gate.Reason, plaintext.Because(gate.Detail))
	if len(planned.Files) > 0 {
		fmt.Fprintf(&b, "Its files: %s\n", plaintext.Some(planned.Files, 20))
	}
	if e.Ended != nil && e.Ended.Receipt.Salvage != "" {
		fmt.Fprintf(&b, "The work of attempt %d is kept as %s\n", e.Attempt, e.Ended.Receipt.Salvage)
	}
	return t.open(e, discussion.OfGate, discussion.Opening{
		Topic: line(e.Task + " needs a person: " + planned.Title), Summary: clip(strings.TrimSpace(b.String()), longText), Positions: positions,
	})
}

// disagreement returns the discussion about work that some reviewers approve and others do not.
func (t *talk) disagreement(e *attempts.Event, reviewed *attempts.Reviewed) []Discussion {
	if reviewed == nil || !reviewed.Split {
		return nil
	}
	var summary string
	subject := e.Task
	if e.EpicReviewed != nil {
		subject, summary = t.now.title(), fmt.Sprintf("Reviewers have judged all that has landed, up to %s", short(e.EpicReviewed.Head))
	} else {
		planned := t.now.planned(e.Task)
		summary = fmt.Sprintf("Reviewers have judged attempt %d of %s: %s", e.Attempt, e.Task, planned.Title)
		if len(planned.Files) > 0 {
			summary += "\nIts files: " + plaintext.Some(planned.Files, 20)
		}
	}
	o := discussion.Opening{Topic: line("Reviewers disagree about " + subject), Summary: clip(summary, longText)}
	for i := range reviewed.Opinions {
		said := &reviewed.Opinions[i]
		why := list{}
		why.add("%s", said.Verdict.Summary)
		for _, f := range said.Verdict.Findings[:min(len(said.Verdict.Findings), mostItems)] {
			why.add("%s: %s", f.Severity, f.InShort())
		}
		o.Positions = append(o.Positions, discussion.Position{
			By: said.Reviewer, Stance: string(said.Decision), Rationale: clip(strings.Join(why.all(), "\n"), longText),
		})
	}
	return []Discussion{t.open(e, "review", o)}
}

func attempted(e *attempts.Event, started *attempts.Started) []discussion.Position {
	receipt := &e.Ended.Receipt
	stance := cmp.Or(receipt.Summary, receipt.ErrorSummary)
	if stance == "" {
		return nil
	}
	by := fmt.Sprintf("%s, attempt %d", agentOf(started, e.Ended.Model).Name, e.Attempt)
	return []discussion.Position{{By: by, Stance: line(stance), Rationale: clip(cmp.Or(receipt.Suggestion, receipt.ErrorSummary), longText)}}
}

// noted returns a note for the discussions of a task that wait for its completion; none, when there are none.
func (t *talk) noted(e *attempts.Event, note string) []Discussion {
	waiting := t.threadsOf(e.Task).waiting
	if len(waiting) == 0 {
		return nil
	}
	return []Discussion{{At: e.At, Notes: slices.Clone(waiting), Note: line(note)}}
}

// landedNote is the note of a task that was completed; its discussions get no further ones until a new one is opened.
func (t *talk) landedNote(e *attempts.Event) []Discussion {
	note := fmt.Sprintf("%s was completed by attempt %d", e.Task, e.Attempt)
	if e.Ended.Landed != "" {
		note += ", as commit " + short(e.Ended.Landed)
	}
	found := t.noted(e, note+plaintext.Because(e.Ended.Receipt.Summary))
	t.threadsOf(e.Task).waiting = nil
	return found
}
