package session

import (
	"fmt"
	"io"

	"relay/attempts"
	"relay/cmd/relay/internal/learn"
	"relay/cmd/relay/internal/proposal"
	"relay/orchestrator/ending"
	"relay/orchestrator/text"
)

// learn tells or applies what was learned when attempts have ended and the epic is complete, and tells of the work that agents found
// when nothing else is left of the run. view is nil when the ledger cannot be read. With JSON the answer is all that stands on stdout.
func (s *session) learn(sum *ending.Summary, view *attempts.View) {
	if sum.Ended == 0 || view == nil {
		return
	}
	w := io.Writer(s.o.App.Out)
	if s.o.JSON {
		w = s.o.App.Err
	}
	if found, _ := proposal.New(s.plan.Epic, view.Ledger, nil); sum.Left == 0 && len(found.Discovered) > 0 {
		fmt.Fprintf(w, "%s of work found and left: relay init --append%s\n", text.Count(len(found.Discovered), "piece"), s.project.EpicFlag())
	}
	learn.AtEnd(s.o.App, s.project, s.plan, learn.End{Ledger: view.Ledger, Out: w})
}
