package session

import (
	"fmt"
	"io"

	"relay/cmd/relay/internal/runview"
	"relay/epic/plaintext"
)

// learn tells how much was learned when attempts have ended and the epic is complete, and tells of the work that agents found
// when nothing else is left of the run.
func (s *session) learn(w io.Writer, e *end) {
	if e.sum.Ended == 0 || e.view == nil {
		return
	}
	if found, _ := runview.NewProposal(s.plan.Epic, e.view.Ledger, nil); e.sum.Left == 0 && len(found.Discovered) > 0 {
		fmt.Fprintf(w, "%s of work found and left: relay init --append%s\n", plaintext.Count(len(found.Discovered), "piece"), s.project.EpicFlag())
	}
	runview.LearnAtEnd(s.project, s.plan, e.view.Ledger, w)
}
