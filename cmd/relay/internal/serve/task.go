package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/page"
)

// Bounds of a task's page.
const (
	mostTried = 5        // attempts whose parts are listed
	mostText  = 64 << 10 // bytes of a part on one page
)

// conversation is the part that is shown as relay logs shows it.
const conversation = "conversation"

// taskPage shows a task with its attempts. The browser loads diffs and the like when a person opens them.
func (s *site) taskPage(a *answer, r *http.Request) error {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	id := r.PathValue("id")
	row := s.live.night.Model.Row(id, s.o.App.Now())
	if row == nil {
		return errUnknown
	}
	record, parts := s.live.night.Model.Ledger().Record(id), []page.Link{}
	for _, at := range slices.Backward(record.Attempts[max(len(record.Attempts)-mostTried, 0):]) {
		for _, name := range partsOf(&at) {
			parts = append(parts, page.Link{
				Name: fmt.Sprintf("Attempt %d: %s", at.ID, name), To: fmt.Sprintf("%s/%s?attempt=%d", s.link(id), name, at.ID),
			})
		}
	}
	return page.Task(a, row, record, parts, s.options(s.live.shown.Load(), ""))
}

// partsOf names what an attempt has left behind.
func partsOf(a *attempts.Attempt) (names []string) {
	if a.Head != a.Base || a.Receipt.Salvage != "" {
		names = append(names, "diff")
	}
	if len(a.Receipt.Checks) > 0 {
		names = append(names, "checks")
	}
	if a.Receipt.Review != nil {
		names = append(names, "review")
	}
	return append(names, conversation, "brief")
}

// partPage shows a part of an attempt from an offset on.
func (s *site) partPage(a *answer, r *http.Request) error {
	id, name := r.PathValue("id"), r.PathValue("part")
	number, _ := strconv.Atoi(r.FormValue("attempt")) // 0: the last one
	offset, _ := strconv.ParseInt(r.FormValue("from"), 10, 64)
	at, err := s.attempt(id, number)
	if err != nil {
		return err
	}
	out := &agentlog.Window{From: max(offset, 0), Most: mostText}
	if err := s.writePart(r.Context(), out, at, name); err != nil && !out.Full() {
		return err
	}
	more := ""
	text, next := out.Text()
	if next > 0 {
		more = fmt.Sprintf("%s/%s?attempt=%d&from=%d", s.link(id), name, at.ID, next)
	}
	return s.frame(a, fmt.Sprintf("%s, attempt %d: %s", id, at.ID, name), "part", map[string]any{
		"Task": id, "To": s.link(id), "Attempt": at.ID, "Name": name, "From": out.From, "Text": plaintext.Escape(s.clean(text)), "More": more,
	})
}

// attempt returns a copy of an attempt of a task; 0: of its last one.
func (s *site) attempt(id string, number int) (agentlog.Attempt, error) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if _, ok := s.live.night.Plan.Epic.Task(id); !ok {
		return agentlog.Attempt{}, errUnknown
	}
	at, err := agentlog.PickAttempt(id, s.live.night.Model.Ledger().Record(id), number)
	if err == nil {
		picked := *at.Attempt
		at.Attempt = &picked
	}
	return at, err
}

// writePart writes a part of an attempt as relay show and relay logs print it.
func (s *site) writePart(ctx context.Context, out io.Writer, at agentlog.Attempt, name string) error {
	app := *s.o.App
	app.Out, app.Err = terminal.NewWriter(out), terminal.NewWriter(io.Discard)
	v := agentlog.NewViewer(&app, s.project, agentlog.Options{})
	switch part := agentlog.AttemptPart(name); part {
	case agentlog.PartDiff, agentlog.PartChecks, agentlog.PartReview, agentlog.PartBrief:
		return v.Write(ctx, at, part)
	case conversation:
		return v.Show([]agentlog.Attempt{at})
	default:
		return errUnknown
	}
}
