package orchestrator

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/records"
	"relay/orchestrator/relayfiles"
)

// newKeeper returns who keeps the run's records.
func newKeeper(o *Options, warn func(string)) *records.Keeper {
	return records.NewKeeper(records.KeeperOptions{
		Top: o.Root, Dir: o.Dir, EpicID: o.Epic.ID, Epic: o.Epic, Plan: o.Plan, Settings: o.Records, Warn: warn, Fault: o.Fault,
		AtEnd: o.Isolation == engine.IsolationShared,
	})
}

// mostCompressing is how long a run that is over compresses transcripts. The next one goes on with what is left.
const mostCompressing = 10 * time.Second

// compressTranscripts compresses what agents have printed, but for attempts that the next run goes on with.
func compressTranscripts(ctx context.Context, s *state) {
	ctx, cancel := context.WithTimeout(ctx, mostCompressing)
	defer cancel()
	runs := filepath.Join(s.o.Dir, attempts.RunsDir)
	open := map[string]bool{}
	s.store.View(func(l *attempts.Ledger) {
		for id, rec := range l.Tasks {
			if a := rec.Running(); a != nil {
				open[filepath.Join(runs, a.Run, id, strconv.Itoa(a.ID))] = true
			}
		}
	})
	relayfiles.CompressTranscripts(ctx, runs, func(folder string) bool { return open[folder] })
}

// warn records and tells what a person should know of the run's records. A ledger that failed says so where it does.
func warn(s *state, words string) {
	s.WithLock(func() { s.noteLater("records", s.Redact.Block(words)) })
}
