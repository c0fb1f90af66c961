package worker

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"relay/attempts"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/backup"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/gitconfig"
	"relay/orchestrator/git/userfiles"
	"relay/orchestrator/userconfig"
	"relay/reanchor"
)

type (
	ledger = engine.Ledger
	lock   = engine.Lock
)

// workspace holds what all checkouts share that the tasks of a run work in.
type workspace struct {
	o      *engine.LocalOptions
	home   *reanchor.Git // the user's own checkout
	backup *backup.Backup
	stash  *userfiles.StashGuard
	watched
	lock   lock // nil: none
	ledger ledger
	ignore []byte // relay's own .gitignore

	excludes string // file of patterns that agents' git ignores; "" : what it ignores anyway
	noPush   noPush // its zero value: agents may push

	planSeen atomic.Pointer[planState]
	keptSeen atomic.Pointer[planState]
	settings settingsFiles
	events   chan<- engine.Event
	now      func() time.Time
	origin   attempts.Integration
	trusted  string // what the user had checked out when the run began; "" with isolation shared

	landedSteering atomic.Bool // see recordSteering

	checks *checks.Runner
}

func (g *workspace) Origin() attempts.Integration { return g.origin }

// emit never waits: an activity nobody has time to receive is dropped.
func (g *workspace) emit(h engine.Event) {
	select {
	case g.events <- h:
	default:
	}
}

// Tip returns the commit that the work is collected on.
func (g *workspace) Tip(ctx context.Context) (string, error) {
	if g.origin.Branch == "" {
		return g.home.Head(ctx)
	}
	tip, err := g.home.Ref(ctx, "refs/heads/"+g.origin.Branch)
	return cmp.Or(tip, g.origin.Base), err
}

// recordWait is how long an event that is to be recorded waits for its listener.
const recordWait = 10 * time.Second

// record tells what is to be recorded, and waits for the listener if it has too much to hear.
func (g *workspace) record(ctx context.Context, h engine.Event) {
	select {
	case g.events <- h:
		return
	default:
	}
	late := time.NewTimer(recordWait)
	defer late.Stop()
	select {
	case g.events <- h:
	case <-ctx.Done():
	case <-late.C:
	}
}

// makeRoom makes sure that files of an attempt can be made anew, whatever agents have put where they go.
func (g *workspace) makeRoom(files ...string) error {
	return attemptfiles.MakeRoom(g.o.Dir, files...)
}

// used tells what an attempt has used whose agent has come to its end.
func (g *workspace) used(a engine.Attempt, u attempts.Usage) {
	g.emit(engine.Event{Task: a.Task.ID, Kind: engine.KindUsage, Usage: u, Delivered: true})
}

// Asked reports whether an agent or a reviewer was asked in an attempt of a killed run.
func (g *workspace) Asked(a engine.Attempt) bool { return filesOf(g.o.Dir, a).used() }

// watched is what agents share with the user, and what is put back of it.
type watched struct {
	rules *gitconfig.Guard
	user  *userconfig.Watch
}

// noPush is what keeps agents from pushing: to any other machine, and to the remotes of this repository wherever they
// are. A push to a repository that a test has made for itself goes on working, and so does every fetch.
type noPush struct {
	settings []string // of git, NAME=VALUE: a push fails with [refusal]
	remotes  []string // names
	prefixes []string // beginnings of addresses
}

// planState is epic.yml as it was last looked at.
type planState struct {
	info    fs.FileInfo
	content []byte
}

// settingsFiles are the files of relay's own configuration. They are the user's to edit meanwhile, so they stay as they are;
// but an agent that writes there decides how the next run goes, and what it counts as done.
type settingsFiles struct {
	mu    sync.Mutex
	files []settingsFile
}

type settingsFile struct {
	path        string
	began, last []byte // nil: it is not there, or cannot be read as one
}

// uninterrupted returns a context for relay's own git work: the run may be stopping, and what the agent left must be kept all the same.
func uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return gitcmd.Uninterrupted(ctx)
}

// Readable reports whether a file can be read without waiting for ever, or for room.
func Readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= planCap
}
