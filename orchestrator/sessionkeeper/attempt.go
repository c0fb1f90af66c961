package sessionkeeper

import (
	"cmp"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"relay/attempts/sessions"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/runners"
	"relay/runners/kinds"
)

type attempt struct {
	o     *Options
	facts *attemptFacts
	talks []*talk // that of its agent first
}

// talk is one conversation of an attempt: that with its agent, or one with a reviewer.
type talk struct {
	about   AboutRows
	kind    string
	rows    *Assembler
	streams []*stream
	told    map[string]bool // sessions whose rows have been taken
	stale   []string        // sessions that were taken before it began again
}

func newAttempt(o *Options, f *attemptFacts) *attempt { return &attempt{o: o, facts: f} }

// own returns the conversation with the attempt's agent.
func (a *attempt) own() *talk {
	f, about := a.facts, a.about()
	kind := cmp.Or(f.kind, a.o.Kind(f.agent))
	about.Key, about.Model = f.run+"/"+f.task+"/"+strconv.Itoa(f.number), f.model
	about.Source, about.Agent = kinds.Recorded(kind, f.agent), f.agent
	about.Session, about.Workspace, about.Began = f.session, f.dir, f.began
	if f.fork != nil {
		about.Branch, about.Context = f.fork.Parent, f.fork.context()
	}
	return newTalk(about, kind)
}

func (a *attempt) about() AboutRows {
	about := AboutRows{Project: filepath.Base(a.o.Top), Run: a.facts.run, Task: a.facts.task, Attempt: a.facts.number}
	if about.Task == engine.WholeEpic {
		about.Task = ""
	}
	return about
}

func newTalk(about AboutRows, kind string) *talk {
	return &talk{about: about, kind: kind, rows: NewAssembler(about), told: map[string]bool{}}
}

func (a *attempt) folder() string { return filepath.Join(a.o.Dir, filepath.FromSlash(a.facts.name())) }

// look finds the attempt's conversations, and the runs of the CLI in each.
func (a *attempt) look() {
	a.talks = nil
	if a.facts.task != engine.WholeEpic {
		a.talks = append(a.talks, a.own())
	}
	for _, turn := range relayfiles.Turns(a.folder()) {
		t := &talk{}
		if turn.Part == relayfiles.Review {
			t = a.review(turn)
			a.talks = append(a.talks, t)
		} else if a.facts.task != engine.WholeEpic {
			t = a.talks[0]
		}
		t.streams = append(t.streams, &stream{folder: turn.Folder, round: turn.Round, kind: t.kind})
	}
	for _, t := range a.talks[:min(len(a.talks), 1)] { // only relay knows when the agent was asked for its result
		slices.SortStableFunc(t.streams, func(a, b *stream) int {
			if from, to := a.seeTimes().First(), b.seeTimes().First(); from > 0 && to > 0 {
				return cmp.Compare(from, to)
			}
			return 0
		})
	}
}

// review returns what a reviewer has been asked at once.
func (a *attempt) review(turn relayfiles.Turn) *talk {
	about, asked := a.about(), relayfiles.ReadAsked(turn.Folder)
	about.Key = a.facts.run + "/" + a.facts.task + "/" + strconv.Itoa(a.facts.number) + "/" + turn.Place
	kind := cmp.Or(asked.CLI, a.o.Kind(turn.Reviewer))
	about.Source, about.Agent, about.Reviewer, about.Asked = kinds.Recorded(kind, turn.Reviewer), turn.Reviewer, turn.Reviewer, true
	about.Workspace, about.Model = asked.Dir, asked.Model
	return newTalk(about, kind)
}

// read reads the conversations, and writes them.
func (a *attempt) read(w *writer) error {
	a.look()
	for _, t := range a.talks {
		err := errAgain
		for errors.Is(err, errAgain) {
			if err = t.read(func() error { return w.add(t) }); err != nil {
				continue
			}
			if !t.about.Asked {
				t.rows.Summarize(a.facts.summary)
			}
			err = w.add(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gone reports whether a transcript of the attempt has been removed.
func (a *attempt) gone() bool {
	return slices.ContainsFunc(a.talks, func(t *talk) bool {
		return slices.ContainsFunc(t.streams, func(s *stream) bool {
			return len(runners.Glob(s.folder, relayfiles.Transcript+"*")) == 0
		})
	})
}

// restart makes the conversation one with ids of its own, which is read again from the beginning. It returns errAgain.
func (t *talk) restart() error {
	t.about.Qualified = true
	t.stale = slices.AppendSeq(t.stale, maps.Keys(t.told))
	t.rows, t.told = NewAssembler(t.about), map[string]bool{}
	for i, s := range t.streams {
		t.streams[i] = &stream{folder: s.folder, round: s.round, kind: t.kind}
	}
	return errAgain
}

// maxPending is how many bytes of rows are held in memory, or in a transaction.
const maxPending = 512 << 10

// read reads what was printed in a conversation, and calls flush now and then while that is much.
func (t *talk) read(flush func() error) error {
	for _, s := range t.streams {
		if err := s.readAll(t.rows, flush); err != nil {
			return err
		}
	}
	return nil
}

// take returns what has to be written, and the sessions that it is the first of.
func (t *talk) take() (b sessions.Batch, begun []string) {
	b = t.rows.Take()
	for _, id := range t.rows.Sessions() {
		if !t.told[id] {
			begun = append(begun, id)
		}
		t.told[id] = true
	}
	return b, begun
}
