package reanchor

import (
	"fmt"

	"relay/epic/plaintext"
)

// Rework tells the agent of an attempt what its reviewers want changed: in the session that did the work, or, when
// there is none to go on with, behind a brief of its own.
type Rework struct {
	Findings  string // markdown, as in a receipt
	Round, Of int    // rounds of this attempt
	Resumed   bool   // the agent remembers its brief
}

// Brief writes the brief of the next turn. in is the attempt's own.
func (r Rework) Brief(in Input) []byte {
	var s sheet
	s.add(opening(in, r.Resumed))
	s.section(fmt.Sprintf("Review of your work, round %d of %d", r.Round, r.Of), "")
	s.say("relay's checks pass, and the reviewers want changes before the work can land. Text between fences is quoted.")
	s.quote(cutReport, "Their findings:", r.Findings, taskBytes)
	s.say("- Look at each finding, mend what is right about it, and run the commands of the task again.\n" +
		"- Where a finding is wrong, leave the code as it is and say in your summary why: the reviewers read it.\n" +
		"- Change nothing else. Commit as before, further commits on top.\n" +
		"- When you are done, report your result again, in the same way as before.")
	s.fit(max(in.MaxBytes, defaultBrief) + smallBrief)
	return s.bytes()
}

// opening begins a further turn with the task's title, or for an agent that does not know its brief with that.
func opening(in Input, resumed bool) block {
	if resumed {
		return block{head: "# " + plaintext.ShortLine(in.Task.ID, 64) + ": " + plaintext.ShortLine(in.Task.Title, titleBytes) + "\n"}
	}
	already := "This task has been worked on already, and what was done is in this checkout: go on from there."
	return block{head: string(Brief(in)) + "\n## The work so far\n\n" + already + "\n"}
}
