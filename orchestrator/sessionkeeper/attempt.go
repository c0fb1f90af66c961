package sessionkeeper

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
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
	facts   *attemptFacts
	talks   []*talk // that of its agent first
	reviews map[string]*talk
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
	a := &attempt{place: p, facts: f, reviews: map[string]*talk{}}
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
	there, _ := os.ReadDir(a.folder()) // there may be none yet
	if a.facts.task != engine.WholeEpic {
		a.talks[0].look(a.folder(), there)
	}
	if !holds(there, "review") {
		return
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
		key := folder + "/" + question
		if _, err := strconv.Atoi(question); err != nil || a.reviews[key] != nil {
			continue
		}
		s := &stream{folder: filepath.Join(a.folder(), "review", filepath.FromSlash(key)), round: round}
		if !s.exists() {
			continue
		}
		about := a.about()
		about.Key = a.facts.run + "/" + a.facts.task + "/" + strconv.Itoa(a.facts.number) + "/review/" + key
		asked := relayfiles.ReadAsked(s.folder)
		kind := cmp.Or(asked.CLI, a.kind(name))
		about.Source, about.Agent, about.Reviewer, about.Asked = kinds.Recorded(kind, name), name, name, true
		about.Workspace, about.Model = asked.Dir, asked.Model
		t := newTalk(about, kind)
		s.kind = t.kind
		t.streams = append(t.streams, s)
		a.reviews[key] = t
		a.talks = append(a.talks, t)
	}
}

// look finds the runs of an agent's CLI in a folder with so much in it: the first, those in which it is asked for its result or about
// tests, and fix rounds.
func (t *talk) look(folder string, there []os.DirEntry) {
	add := func(s *stream, exists bool) {
		if exists && !slices.ContainsFunc(t.streams, func(one *stream) bool { return one.folder == s.folder }) {
			s.kind = t.kind
			t.streams = append(t.streams, s)
		}
	}
	add(&stream{folder: folder}, holds(there, begins()...))
	added := len(t.streams)
	for n := 1; holds(there, "fix-"+strconv.Itoa(n)); n++ {
		s := &stream{folder: filepath.Join(folder, "fix-"+strconv.Itoa(n)), round: n}
		add(s, s.exists())
	}
	for _, asked := range []string{"result", "why"} {
		if holds(there, asked) {
			s := &stream{folder: filepath.Join(folder, asked)}
			add(s, s.exists())
		}
	}
	t.sort(added)
}

// sort brings runs that have not begun here into the order in which they began: only relay knows when the agent was asked for its result.
func (t *talk) sort(from int) {
	late := t.streams[min(from, len(t.streams)):]
	slices.SortStableFunc(late, func(a, b *stream) int {
		if from, to := a.seeTimes().First(), b.seeTimes().First(); from > 0 && to > 0 {
			return cmp.Compare(from, to)
		}
		return 0
	})
}

// read reads the conversations that were not read yet, and writes them.
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
	to := sink{t.rows, func() error {
		if t.rows.Pending() < maxPending {
			return nil
		}
		return flush()
	}}
	for _, s := range t.streams {
		if s.done {
			continue
		}
		if err := s.readAll(to); err != nil {
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
