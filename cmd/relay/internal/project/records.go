package project

import (
	"relay/attempts"
	"relay/orchestrator/recordkeeper"
	"relay/orchestrator/records"
	"relay/orchestrator/sessionkeeper"
)

// Records returns what is written for other programs, as the configuration has it.
func (p *Project) Records() recordkeeper.Settings {
	c := &p.Config.Relay.Records
	return recordkeeper.Settings{
		LedgerSync: c.LedgerSync, Artifacts: c.Artifacts, Discussions: c.Discussions,
		Checkpoints: records.Checkpoints(c.Checkpoints), Listed: p.EpicFlag() != "",
	}
}

// RecordOptions returns what the records of an epic are made from.
func (p *Project) RecordOptions(pl *Plan) recordkeeper.Options {
	return recordkeeper.Options{
		Top: p.Root, Dir: p.Dir, EpicID: pl.Epic.ID, Epic: pl.Epic, Plan: pl.Source, Settings: p.Records(),
		Warn: p.Session.Warn, Fault: FaultPoints(Lookup(p.Session.Environ, FaultVariable)),
	}
}

// SessionOptions returns whose agents ledger is kept, and where.
func (p *Project) SessionOptions(pl *Plan) sessionkeeper.Options {
	c := &p.Config.Relay
	return sessionkeeper.Options{
		Enabled: c.Records.Sessions, Top: p.Root, Dir: p.Dir, EpicID: pl.Epic.ID, Cap: int64(c.TranscriptMiB) << 20,
		Kind: func(name string) string { return c.Agents[name].Type },
	}
}

// Close brings the records for other programs up to date with a ledger that a person's command has changed, and closes it.
func (p *Project) Close(store *attempts.Store, pl *Plan) error {
	if _, err := recordkeeper.CatchUp(p.RecordOptions(pl)); err != nil {
		p.Session.Warn("the records for other programs are not up to date: " + err.Error())
	}
	return store.Close()
}
