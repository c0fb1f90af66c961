// Package agentlog shows what agents did: transcripts as readable text, the agents ledger, and a task with the files of its attempts.
//
// agentlog.go shows what agents do, as a person reads it: what they say, the commands they run, the files they edit, what comes of it,
// and what that costs. It reads the transcripts of attempts, also as they grow.
//
// sessionview.go shows the agents ledger: what agents have said and done, session by session.
//
// task.go shows one task with its attempts, and what an attempt left behind: brief, transcript, checks, diff and review.
package agentlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/relayfiles"
	"relay/runners"
)

// Options say how much is shown, and how.
type Options struct {
	Tail   int  // so many events of the end; 0: all
	JSON   bool // one event a line
	Marked bool // each line of text begins with the task's id
}

// Viewer shows logs of a project's agents.
type Viewer struct {
	app     *cli.App
	project *project.Project
	clean   func(string) string // takes out secrets
	options Options
	source  string // whose entries were printed last
}

// NewViewer returns a viewer that prints to the answers of a command.
func NewViewer(a *cli.App, p *project.Project, o Options) *Viewer {
	return &Viewer{app: a, project: p, clean: p.Redactor().Text, options: o}
}

// Has reports whether there is a log of an attempt: there is none where no agent was started.
func (v *Viewer) Has(at Attempt) bool {
	streams := v.streams(at, nil)
	closeAll(streams)
	return len(streams) > 0
}

// AtWork returns the attempts under way, by task, or when there is none the one that began last of those with a log; none of a run that is
// followed.
func (v *Viewer) AtWork(view *attempts.View, follow bool) (list []Attempt, err error) {
	var tried []Attempt
	for _, id := range slices.Sorted(maps.Keys(view.Ledger.Tasks)) {
		all := view.Ledger.Tasks[id].Attempts
		for i := range all {
			tried = append(tried, Attempt{Task: id, Attempt: &all[i]})
			if all[i].EndedAt.IsZero() && view.Running {
				list = append(list, tried[len(tried)-1])
			}
		}
	}
	switch {
	case len(list) > 0, follow && view.Running:
		return list, nil
	case len(tried) > 0:
		slices.SortStableFunc(tried, func(a, b Attempt) int { return b.StartedAt.Compare(a.StartedAt) })
		return tried[max(0, slices.IndexFunc(tried, v.Has)):][:1], nil
	case view.Running:
		return nil, &terminal.Hinted{Err: errors.New("no task is at work yet"), Hint: "relay status shows what the run waits for"}
	}
	return nil, &terminal.Hinted{Err: errors.New("nothing has been tried yet"), Hint: "relay work runs all pending tasks"}
}

// Show prints the logs of attempts, one after the other. It fails for an attempt that has none.
func (v *Viewer) Show(list []Attempt) error {
	for _, at := range list {
		streams := v.streams(at, nil)
		if len(streams) == 0 {
			return &terminal.Hinted{
				Err:  fmt.Errorf("attempt %d of %s has no log", at.ID, at.Task),
				Hint: "no agent was started (relay show " + at.Task + " says why), or the files were removed",
			}
		}
		err := v.show(streams, !at.EndedAt.IsZero())
		closeAll(streams)
		if err != nil {
			return err
		}
	}
	if v.source == "" && !v.options.JSON {
		fmt.Fprint(v.app.Err, "relay: note: the agent said nothing and used no tool\n")
	}
	return nil
}

// Write prints a part of an attempt. It fails when the attempt has no such part.
func (v *Viewer) Write(ctx context.Context, at Attempt, part AttemptPart) error {
	switch part {
	case PartReview:
		if at.Receipt.Review == nil {
			return at.without("attempt %d of %s was not reviewed, and its task has no acceptance criteria")
		}
		cli.Printer(v.app, v.project).Print(v.app.Out, taskText, "reviewed", &at)
		return nil
	case PartDiff: // for git apply, too
		return at.diff(ctx, v, v.app.Raw())
	default: // the others are text
	}
	out := v.project.Redactor().Stream(v.app.Raw())
	return errors.Join(at.text(v, out, part), out.Flush())
}

// show prints what streams have now. ended says that nothing writes to them any more.
func (v *Viewer) show(streams []*stream, ended bool) error {
	take, list, more, most := v.print, []Entry(nil), false, v.options.Tail
	if most > 0 {
		take = func(e Entry) {
			if list = append(list, e); len(list) >= 2*most {
				list, more = slices.Delete(list, 0, most), true
			}
		}
	}
	for _, s := range streams {
		if err := s.readOn(ended, take); err != nil {
			return err
		}
		s.flush(take)
	}
	if more || most > 0 && len(list) > most {
		fmt.Fprint(v.app.Err, "relay: note: this is the end of the log; --all prints everything\n")
		list = list[max(len(list)-most, 0):]
	}
	for _, e := range list {
		v.print(e)
	}
	return nil
}

// streams opens what the agents of an attempt have printed, in the order in which they began. It leaves out what is known, and what it
// cannot open.
func (v *Viewer) streams(at Attempt, known []*stream) (list []*stream) {
	for _, turn := range relayfiles.Turns(v.project.File(attempts.RunsDir, at.Run, at.Task, fmt.Sprint(at.ID))) {
		if slices.ContainsFunc(known, func(s *stream) bool { return s.folder == turn.Folder }) {
			continue
		}
		if s := v.open(at, turn); s != nil {
			s.times = runners.ReadTimes(s.folder)
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *stream) int { return cmp.Compare(a.times.First(), b.times.First()) })
	return list
}

func (v *Viewer) open(at Attempt, turn relayfiles.Turn) *stream {
	f, err := relayfiles.OpenTranscript(filepath.Join(turn.Folder, relayfiles.Transcript))
	if err != nil {
		return nil // an agent has removed it, or put something in its place
	}
	s := &stream{folder: turn.Folder, file: f, clean: v.clean, open: map[string]bool{}}
	s.at, _ = f.(io.ReaderAt)
	if at.EndedAt.IsZero() {
		s.now = v.app.Now
	}
	s.about = Entry{Task: at.Task, Attempt: at.ID, Agent: cmp.Or(turn.Reviewer, at.Runner), Part: turn.Part, Round: turn.Round}
	s.kind = v.project.Config.Relay.Agents[s.about.Agent].Type
	return s
}

func closeAll(streams []*stream) {
	for _, s := range streams {
		_ = s.file.Close() // it was read only
	}
}

// instant returns a time of so many milliseconds; zero: it is not known.
func instant(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
