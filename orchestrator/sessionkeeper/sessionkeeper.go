// Package sessionkeeper reads agents' transcripts and writes their messages and tool calls as rows of the agents ledger.
//
// sessionkeeper.go keeps the agents ledger of an epic: it reads the transcripts of attempts that have ended, and writes the rows that
// sessionrows.go makes of them.
//
// The files of the attempts are the truth, and the ledger is an index of them: what is missing is made up for by the next run, or by an
// import. Nothing here is worth a run: the keeper warns once about a ledger that it cannot write, and the run continues.
//
// sessionrows.go turns what was said and done in the streams of an attempt into rows of the agents ledger.
//
// It is pure: events, and what relay knows of the attempt, come in, and rows go out. The same input gives the same rows, in however many
// steps it comes: so a ledger rebuilt from the files is the one that was written while the agents worked. Where the files are, and how
// the rows are kept, belongs to sessionkeeper.go.
package sessionkeeper

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"relay/attempts"
	"relay/attempts/sessions"
	"relay/orchestrator/relayfiles"
)

// Options say whose ledger is kept, and where.
type Options struct {
	Enabled bool
	Top     string // top folder of the checkout
	Dir     string // relay's folder, where the files of attempts and the ledger are
	EpicID  string
	Run     string                   // the run under way; "": none
	Kind    func(name string) string // the kind of an agent's CLI by its name; "": it is not known; required but for ImportOwn
	Warn    func(text string)        // hears what a person should know; required for a Keeper
}

func (o *Options) attempts() (all attemptList, err error) {
	err = attempts.Replay(o.Dir, func(e attempts.Event) error {
		if f, ok := factOf(&e); ok {
			all.apply(f)
		}
		return nil
	})
	return all, err
}

// Imported says what an import has read.
type Imported struct {
	Attempts int      `json:"attempts"`
	Gone     int      `json:"gone,omitempty"` // attempts whose transcripts have been removed: their rows stay
	Sessions int64    `json:"sessions"`       // with subagents
	Messages int64    `json:"messages"`
	Calls    int64    `json:"tool_calls"`
	Aside    []string `json:"put_aside,omitempty"` // files of a damaged ledger

	LeftOut map[string]int `json:"left_out,omitempty"` // sessions, by the reason
	Unread  []string       `json:"unread,omitempty"`   // files that cannot be read, each with the reason
}

// ErrNoAttempt is wrapped by the error of Import for a run or path of which relay knows no attempt.
var ErrNoAttempt = errors.New("no attempt that relay has recorded")

// Import replaces the rows of attempts by those that it makes from their files: of all attempts, or with only of
// one run, or of the attempts below a folder or at a transcript. Errors are those of sessions.Open and Write, ErrNoAttempt, and others.
func Import(ctx context.Context, o Options, only string) (done Imported, err error) {
	all, err := o.attempts()
	if err != nil {
		return done, err
	}
	wanted, err := o.wanted(append(all.withReviews(o.Dir), forks(o.Dir)...), only)
	if err != nil {
		return done, err
	}
	err = o.importing(ctx, &done, func(w *writer) (err error) {
		for i := 0; i < len(wanted) && err == nil; i++ {
			if err = context.Cause(ctx); err == nil {
				err = done.attempt(w, newAttempt(&o, wanted[i]))
			}
		}
		return err
	})
	return done, err
}

// importing opens the ledger for as long as do writes an import into it.
func (o *Options) importing(ctx context.Context, done *Imported, do func(w *writer) error) error {
	db, err := sessions.Open(ctx, o.Dir, sessions.Options{Epic: o.EpicID, Now: time.Now, Check: true})
	if err != nil {
		return err
	}
	done.Aside = db.PutAside()
	if err = do(&writer{ctx: ctx, db: db}); err == nil {
		err = db.Commit()
	}
	return errors.Join(err, db.Close())
}

// attempt replaces the rows of one attempt, unless they are all that is left of it.
func (i *Imported) attempt(w *writer, a *attempt) error {
	_, kept, err := w.db.Mark(w.ctx, a.facts.name())
	if err != nil {
		return err
	}
	if a.look(); kept && a.gone() {
		i.Gone++
		return nil
	}
	err = w.settle(a)
	i.Attempts++
	for _, t := range a.talks {
		i.count(t)
	}
	return err
}

func (i *Imported) count(t *talk) {
	sessions, messages, calls := t.rows.Count()
	i.Sessions, i.Messages, i.Calls = i.Sessions+sessions, i.Messages+messages, i.Calls+calls
}

func (o *Options) wanted(all []*attemptFacts, only string) (list []*attemptFacts, err error) {
	if only == "" {
		return all, nil
	}
	runs := filepath.Join(o.Dir, attempts.RunsDir)
	path, err := filepath.Abs(only)
	if err != nil {
		return nil, err
	}
	path, runs = realPath(path), realPath(runs)
	for _, f := range all {
		folder := filepath.Join(runs, f.run, f.task, strconv.Itoa(f.number))
		if f.run == only || relayfiles.IsIn(folder, path) || relayfiles.IsIn(path, folder) && path != runs {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", only, ErrNoAttempt)
	}
	return list, nil
}
