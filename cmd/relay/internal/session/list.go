package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/epic/playlist"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
)

// ListTarget is the playlist that a relay work carries through.
type ListTarget struct {
	Target // its project is that of relay's own folder, and there is no plan
	List   *project.List
}

// listRun is one relay work on a playlist.
type listRun struct {
	command *command
	o       *Options
	project *project.Project
	list    *project.List
	began   time.Time
	spent   attempts.Usage
	epics   []ListedSummary // as the list
	code    int             // exit code of what ended the list, or of the first epic that did not complete
	failure error           // that main tells, of the epic that ended the list
	said    bytes.Buffer    // the summaries of the epics: no epic waits for a terminal
	marked  error           // why nothing is written into the playlist any more
}

// RunList runs the epics of a playlist one after the other, and prints the summary. Each begins from where the one before ended. One
// that is completed is passed over. Its error has the exit code: of the epic that ended the list, else of the first that did not complete.
func RunList(ctx context.Context, o *Options, t ListTarget) error {
	held, err := holdList(t.Project, t.List, o.App.Now())
	if err != nil {
		return errors.Join(err, t.Guardian.Close())
	}
	defer func() { _ = held.Release() }() // the end of this process does it too
	for _, e := range t.List.Listed {
		if err := e.Copy(); err != nil {
			return errors.Join(err, t.Guardian.Close())
		}
	}
	ctx, c, err := begin(ctx, o.App, t.Target, t.List.Name)
	if err != nil {
		return err
	}
	defer c.release()
	l := &listRun{command: c, o: o, project: t.Project, list: t.List, began: time.Now(), epics: make([]ListedSummary, len(t.List.Listed))}
	l.work(ctx)
	c.end()
	l.print(context.WithoutCancel(ctx))
	return cmp.Or(l.failure, terminal.Exit(l.code))
}

// work carries the epics through.
func (l *listRun) work(ctx context.Context) {
	for i, e := range l.list.Listed {
		l.epics[i] = ListedSummary{ID: e.Plan.Epic.ID, Title: e.Plan.Epic.Title, File: e.Project.Rel(e.Source), State: epicPending}
	}
	over := false
	l.markBegun(ctx)
	for i, e := range l.list.Listed {
		done, looks, err := e.Completed()
		switch {
		case over:
			continue
		case err == nil && done:
			l.command.say(l.title(i) + ": completed before")
			l.epics[i].State = epicCompletedBefore
			l.mark(playlist.InProgress, i, playlist.Completed)
			if looks {
				l.needsLook(i)
			}
			continue
		case ctx.Err() != nil: // between two epics
			l.code, over, l.epics[i].State = terminal.CodeOfSignal(l.command.stop.signal()), true, epicStopped
			continue
		}
		l.command.say(l.title(i))
		l.mark(playlist.InProgress, i, playlist.InProgress)
		if err == nil {
			err = l.epic(ctx, i)
		}
		over = l.ended(ctx, i, err)
		switch l.epics[i].State {
		case epicCompleted:
			l.mark(playlist.InProgress, i, playlist.Completed)
		case epicFailed:
			l.mark(playlist.InProgress, i, playlist.Failed)
		}
	}
	l.markEnded()
}

// markBegun writes into the playlist that it has begun. A playlist that git tracks is left unchanged where the epics run in this checkout:
// no run begins there with uncommitted changes.
func (l *listRun) markBegun(ctx context.Context) {
	if engine.Isolation(l.project.Config.Relay.Isolation) == engine.IsolationNone {
		out, err := l.project.Git.Run(ctx, git.Call{Args: []string{"ls-files", "--", ":(literal)" + l.project.Rel(l.list.Path)}})
		if err == nil && len(out) > 0 {
			l.marked = errors.New("git tracks it, and the epics run in this checkout")
			l.command.say(fmt.Sprintf("the states of the epics are not written into %s: %s", l.project.Rel(l.list.Path), l.marked))
			return
		}
	}
	l.mark(playlist.InProgress, 0, "")
}

// mark writes into the playlist how far it is, for those who read the file: the ledgers decide. If it cannot, it warns once.
func (l *listRun) mark(list playlist.Status, i int, state playlist.Status) {
	if l.marked != nil {
		return
	}
	path, err := filepath.EvalSymlinks(l.list.Path) // a link stays one
	info, statErr := os.Stat(l.list.Path)
	if err = errors.Join(err, statErr); err == nil {
		var text []byte
		if text, err = playlist.Mark(path, list, map[string]playlist.Status{l.list.Epics[i].File: state}, l.command.app.Now()); err == nil {
			err = project.Replace(path, info.Mode().Perm(), text)
		}
	}
	if l.marked = err; err != nil {
		l.command.say("warning: the playlist does not say how far it is: " + terminal.Message(err))
	}
}

// markEnded writes how the list has ended. A list that was stopped goes on.
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
	l.mark(state, 0, "")
}

// title names an epic by its place in the list.
func (l *listRun) title(i int) string {
	return fmt.Sprintf("epic %d of %d: %s", i+1, len(l.epics), l.epics[i].Title)
}

// epic runs one epic. Its error is that of the session.
func (l *listRun) epic(ctx context.Context, i int) error {
	e := l.list.Listed[i]
	begin, remarks, err := l.list.Base(ctx, i)
	if err != nil {
		return err
	}
	o := *l.o
	o.Begin, o.panel, o.Followed = begin, nil, l.list.ContinueOnFailure && i+1 < len(l.list.Listed)
	if _, err := o.examineAgents(e.Project, e.Plan); err != nil {
		return err
	}
	remarks = append(l.command.remarks(), remarks...)
	s := &session{command: l.command, o: &o, project: e.Project, plan: e.Plan, before: l.spent, remarks: remarks}
	sum, err := s.work(ctx)
	l.command.unwatch()
	defer l.command.watch()
	end := s.ended(sum, err)
	l.spent.Add(sum.Usage)
	if end.began() {
		summary := end.summary()
		l.epics[i].Run = &summary
		if !l.o.JSON {
			fmt.Fprintf(&l.said, "\n%s\n", plaintext.Fit(l.title(i), 200))
			end.printText(&l.said)
		}
		end.learn(&l.said)
	}
	if err == nil && sum.Reason == decide.EpicLooks { // what follows begins all the same
		l.needsLook(i)
		return nil
	}
	if err := end.failure(); err != nil {
		return err
	}
	if sum.Reason != decide.EpicComplete {
		return terminal.ExitCode(terminal.Gated)
	}
	return nil
}

// needsLook notes that a person has to look at a completed epic.
func (l *listRun) needsLook(i int) {
	l.epics[i].ExitCode = terminal.Gated
	l.code = cmp.Or(l.code, terminal.Gated)
}

// ended notes how an epic ended, and reports whether the list ends with it.
func (l *listRun) ended(ctx context.Context, i int, err error) (over bool) {
	if err == nil {
		l.epics[i].State = epicCompleted
		return false
	}
	code := terminal.Diagnose(err).Code
	if exit, ok := errors.AsType[terminal.ExitCode](err); ok {
		code = int(exit)
	}
	l.epics[i].State, l.epics[i].ExitCode = epicFailed, code
	switch code {
	case terminal.Stopped, terminal.Interrupted, terminal.Terminated:
		l.epics[i].State, over = epicStopped, true
	case terminal.NoRunner: // the next epic may name other agents, and asks its own once
		l.epics[i].State = epicStopped
	}
	over = over || ctx.Err() != nil || !l.list.ContinueOnFailure
	if l.code = cmp.Or(l.code, code); over {
		l.code = code
	}
	if errors.As(err, new(terminal.ExitCode)) { // the user has seen everything
		return over
	}
	d := terminal.Diagnose(err)
	if l.epics[i].Error = d.Messages[0]; over {
		l.failure = err
		return over
	}
	for _, m := range d.Messages {
		l.command.say("error: " + m)
	}
	for line := range strings.Lines(d.Hint) {
		l.command.say("hint: " + strings.TrimSuffix(line, "\n"))
	}
	return over
}

// listLock is in the git folder that all worktrees of a repository share.
const listLock = "relay-playlist.lock"

// holdList takes the lock of playlists of the repository. It fails when another relay works on one.
func holdList(p *project.Project, list *project.List, now time.Time) (*attempts.Held, error) {
	who := attempts.Self("", now)
	who.Dir = list.Path
	path := filepath.Join(p.Git.CommonDir(), listLock)
	held, err := attempts.Hold(path, who)
	by, taken := errors.AsType[*attempts.HeldError](err)
	if !taken {
		return held, err
	}
	hint := "wait until it ends, or stop it cleanly: kill " + strconv.Itoa(by.Holder.PID)
	if by.Foreign {
		hint = "it is on another machine; if it is over: rm " + plaintext.ShellWord(path)
	}
	return nil, &terminal.Hinted{
		Err:  fmt.Errorf("relay is already at work on the playlist %s of this repository: %s", plaintext.Fit(by.Holder.Dir, 200), terminal.HolderText(&by.Holder)),
		Hint: hint, Code: terminal.Running,
	}
}
