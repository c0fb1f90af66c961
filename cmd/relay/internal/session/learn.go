package session

import (
	"io"

	"relay/attempts"
	"relay/cmd/relay/internal/learn"
)

// learn tells or applies what was learned when attempts have ended and the epic is complete. view is nil when the ledger cannot be
// read. With JSON the answer is all that stands on stdout.
func (s *session) learn(ended int, view *attempts.View) {
	if ended == 0 || view == nil {
		return
	}
	w := io.Writer(s.o.App.Out)
	if s.o.JSON {
		w = s.o.App.Err
	}
	learn.AtEnd(s.o.App, s.project, s.plan, learn.End{Ledger: view.Ledger, Out: w})
}
