package session

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/epic/playlist"
	"relay/orchestrator/engine"
	"relay/reanchor"
)

// mark writes into the playlist how far it is, for those who read the file: the ledgers decide. When that cannot be done a warning says
// so, once.
func (l *listRun) mark(change func(now *playlist.List)) {
	if l.unmarked {
		return
	}
	err := l.list.Update(replaceList, change)
	if err != nil {
		l.unmarked = true
		l.say("warning: the playlist does not say how far it is: " + exit.Message(err))
	}
}

// replaceList writes a playlist, with the permissions it has.
func replaceList(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return project.ReplaceWith(path, info.Mode().Perm(), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// tracked reports whether git tracks the playlist and the epics run in the checkout: its states would be uncommitted changes, with which
// no run in the checkout begins.
func (l *listRun) tracked(ctx context.Context) bool {
	if engine.Isolation(l.project.Config.Relay.Isolation) != engine.IsolationNone {
		return false
	}
	out, err := l.project.Git.Run(ctx, reanchor.Call{Args: []string{"ls-files", "--", ":(literal)" + l.project.Rel(l.list.Path)}})
	return err == nil && len(out) > 0
}

// markBegun writes that the list has begun.
func (l *listRun) markBegun(ctx context.Context) {
	if l.unmarked = l.tracked(ctx); l.unmarked {
		l.say(fmt.Sprintf("%s is tracked by git and the epics run in this checkout: how far it is is not written into it", l.project.Rel(l.list.Path)))
	}
	at := l.instant()
	l.mark(func(now *playlist.List) {
		now.Status, now.EndedAt, now.DurationMinutes = playlist.InProgress, time.Time{}, 0
		if now.StartedAt.IsZero() {
			now.StartedAt = at
		}
	})
}

// markEpic writes the state of the i-th epic.
func (l *listRun) markEpic(i int, state playlist.Status) {
	file, at := l.list.Epics[i].File, l.instant()
	l.mark(func(now *playlist.List) {
		k := slices.IndexFunc(now.Epics, func(e playlist.Entry) bool { return e.File == file })
		if k < 0 {
			return // somebody has taken it out
		}
		e := &now.Epics[k]
		now.Current, e.Status = k, state
		switch state {
		case playlist.InProgress:
			e.CompletedAt, e.FailedAt = time.Time{}, time.Time{}
			if e.StartedAt.IsZero() {
				e.StartedAt = at
			}
		case playlist.Completed:
			e.CompletedAt, e.FailedAt = at, time.Time{}
		case playlist.Failed:
			e.FailedAt = at
		case playlist.Pending:
		}
	})
}

// markEnded writes how the list has ended. One that was stopped goes on.
func (l *listRun) markEnded() {
	state := playlist.Completed
	for i := range l.epics {
		switch l.epics[i].State {
		case epicStopped:
			return
		case epicFailed, epicPending:
			state = playlist.Failed
		}
	}
	at := l.instant()
	l.mark(func(now *playlist.List) {
		now.Status, now.EndedAt = state, at
		if !now.StartedAt.IsZero() {
			now.DurationMinutes = math.Round(at.Sub(now.StartedAt).Minutes()*100) / 100
		}
	})
}

func (l *listRun) instant() time.Time { return l.app.Now().UTC().Truncate(time.Second) }
