package sessionkeeper

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"relay/attempts/sessions"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/runners/kinds"
)

// place is where relay keeps an epic, and what all of its conversations have in common.
type place struct {
	dir     string                    // relay's folder
	project string                    // the repository's folder name
	kind    func(agent string) string // of the agent's CLI; "": it is not known
}

type attempt struct {
	place
	facts  *attemptFacts
	looked bool
	talks  []*talk // that of its agent first
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

func newAttempt(p place, f *attemptFacts) *attempt {
	a := &attempt{place: p, facts: f}
	if f.task != engine.WholeEpic {
		about, kind := a.about(), cmp.Or(f.kind, p.kind(f.agent))
		about.Key, about.Model = f.run+"/"+f.task+"/"+strconv.Itoa(f.number), f.model
		about.Source, about.Agent = kinds.Recorded(kind, f.agent), f.agent
		about.Session, about.Workspace, about.Began = f.session, f.dir, f.began
		if f.fork != nil {
			about.Branch, about.Context = f.fork.Parent, f.fork.context()
		}
		a.talks = append(a.talks, newTalk(about, kind))
	}
	return a
}

func (a *attempt) about() AboutRows {
	about := AboutRows{Project: a.project, Run: a.facts.run, Task: a.facts.task, Attempt: a.facts.number}
	if about.Task == engine.WholeEpic {
		about.Task = ""
	}
	return about
}

func newTalk(about AboutRows, kind string) *talk {
	return &talk{about: about, kind: kind, rows: NewAssembler(about), told: map[string]bool{}}
}

func (a *attempt) folder() string { return filepath.Join(a.dir, filepath.FromSlash(a.facts.name())) }

// look finds the attempt's conversations, and the runs of the CLI in each.
func (a *attempt) look() {
	if a.looked {
		return
	}
	a.looked = true
	if a.facts.task != engine.WholeEpic {
		a.talks[0].look(a.folder())
	}
	review := filepath.Join(a.folder(), "review")
	for _, name := range folders(review) {
		var round int
		if n, err := fmt.Sscanf(name, "round-%d", &round); n != 1 || err != nil {
			a.lookReviewer(name, 1)
			continue
		}
		for _, reviewer := range folders(filepath.Join(review, name)) {
			a.lookReviewer(name+"/"+reviewer, round)
		}
	}
}

// lookReviewer finds what a reviewer has been asked in a round, in a folder below that of reviews.
func (a *attempt) lookReviewer(folder string, round int) {
	name := path.Base(folder)
	for _, question := range folders(filepath.Join(a.folder(), "review", filepath.FromSlash(folder))) {
		key := "review/" + folder + "/" + question
		s := &stream{folder: filepath.Join(a.folder(), filepath.FromSlash(key)), round: round}
		if _, err := strconv.Atoi(question); err != nil || !s.exists() {
			continue
		}
		about, asked := a.about(), relayfiles.ReadAsked(s.folder)
		about.Key = a.facts.run + "/" + a.facts.task + "/" + strconv.Itoa(a.facts.number) + "/" + key
		s.kind = cmp.Or(asked.CLI, a.kind(name))
		about.Source, about.Agent, about.Reviewer, about.Asked = kinds.Recorded(s.kind, name), name, name, true
		about.Workspace, about.Model = asked.Dir, asked.Model
		t := newTalk(about, s.kind)
		t.streams = []*stream{s}
		a.talks = append(a.talks, t)
	}
}

// look finds the runs of an agent's CLI in a folder: the first, those in which it is asked for its result or about tests, and fix rounds.
func (t *talk) look(folder string) {
	add := func(name string, round int) bool {
		s := &stream{folder: filepath.Join(folder, name), round: round, kind: t.kind}
		exists := s.exists()
		if exists {
			t.streams = append(t.streams, s)
		}
		return exists
	}
	add("", 0)
	first := len(t.streams)
	for n := 1; add("fix-"+strconv.Itoa(n), n); n++ {
	}
	add("result", 0)
	add("why", 0)
	slices.SortStableFunc(t.streams[first:], func(a, b *stream) int { // only relay knows when the agent was asked for its result
		if from, to := a.seeTimes().First(), b.seeTimes().First(); from > 0 && to > 0 {
			return cmp.Compare(from, to)
		}
		return 0
	})
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
			return !s.has(relayfiles.Transcript) && !s.has(relayfiles.Transcript+relayfiles.Compressed)
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
