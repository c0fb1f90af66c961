package recordkeeper

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/orchestrator/records"
	"relay/orchestrator/text"
)

// Rebuilding says which records are compared with the log, and put right.
type Rebuilding struct {
	Options      // its LedgerSync, Artifacts and Discussions say which
	DryRun  bool // only count
}

// Counts say what became of one kind of records, or would.
type Counts struct {
	Records int `json:"records"` // that follow from the log
	Missing int `json:"missing"` // of them, and written
	Changed int `json:"changed"` // of them by others, and put back
}

// changedWords says what was put right.
func (c Counts) changedWords() string {
	return fmt.Sprintf("others had changed or removed %s of relay in %s; relay has put back what its log says",
		text.Count(c.Missing+c.Changed, "line"), path.Join(ledgersync.Folder, ledgersync.LedgerFile))
}

// Rebuilt says what became of the records.
type Rebuilt struct {
	LedgerSync  Counts `json:"ledgersync"`
	Artifacts   Counts `json:"artifacts"`
	Discussions Counts `json:"discussions"`
}

// Rebuild compares the records with what follows from the log from its first event on, writes those that are missing and puts back
// those that were changed. Whoever calls it holds the epic's ledger, or runs dry.
func Rebuild(r Rebuilding) (counts Rebuilt, err error) {
	o := &r.Options
	o.nameFaults()
	p := &plans{o: o}
	project := records.New(records.Options{EpicID: o.EpicID, Plan: p.of, Checkpoints: o.Checkpoints, Listed: o.Listed})
	var all records.Records
	last := uint64(0)
	err = attempts.Replay(o.Dir, func(e attempts.Event) error {
		if e.Seq <= last {
			return nil
		}
		last = e.Seq
		found := project.Apply(&e)
		if r.LedgerSync {
			all.Entries = append(all.Entries, found.Entries...)
		}
		if r.Artifacts {
			all.Artifacts = append(all.Artifacts, found.Artifacts...)
		}
		if r.Discussions {
			all.Discussions = append(all.Discussions, found.Discussions...)
		}
		return nil
	})
	if err != nil {
		return counts, err
	}
	c := readCursor(o.Dir)
	if r.LedgerSync {
		if counts.LedgerSync, err = r.entries(all.Entries, &c.LedgerSync); err != nil {
			return counts, err
		}
		c.LedgerSync.Seq = last
	}
	if r.Artifacts {
		if counts.Artifacts, err = r.artifacts(all.Artifacts); err != nil {
			return counts, err
		}
		c.Artifacts.Seq = last
	}
	if r.Discussions {
		if counts.Discussions, err = r.discussions(all.Discussions); err != nil {
			return counts, err
		}
		c.Discussions.Seq = last
	}
	if r.DryRun {
		return counts, nil
	}
	return counts, c.save(o.Dir)
}

// entries puts the ledger right.
func (r *Rebuilding) entries(entries []*ledgersync.Entry, at *position) (counts Counts, err error) {
	if counts.Records = len(entries); counts.Records == 0 {
		return counts, nil
	}
	if _, err := os.Stat(ledgersync.Path(r.Top)); r.DryRun && errors.Is(err, fs.ErrNotExist) {
		counts.Missing = counts.Records
		return counts, nil
	}
	w, err := r.openLedger()
	if err != nil {
		return counts, err
	}
	defer w.Close()
	found, err := compare(w, entries)
	if err != nil {
		return counts, err
	}
	counts.Missing, counts.Changed = len(found.missing), len(found.changed)
	if r.DryRun {
		return counts, nil
	}
	if len(found.changed) > 0 {
		if _, err := w.Restore(found.changed); err != nil {
			return counts, err
		}
	}
	mended, err := w.AppendLines(found.missing...)
	if mended != "" {
		r.Warn(mended)
	}
	if err != nil {
		return counts, err
	}
	at.Offset, err = w.Size()
	return counts, err
}

// compared is what a ledger lacks.
type compared struct {
	missing [][]byte          // lines
	changed map[string][]byte // lines as they should be, by id
}

// compare looks for entries in a ledger.
func compare(w *ledgersync.Writer, entries []*ledgersync.Entry) (found compared, err error) {
	lines := make(map[string][]byte, len(entries))
	for _, e := range entries {
		if lines[e.ID], err = w.Encode(e); err != nil {
			return found, err
		}
	}
	there := make(map[string]bool, len(entries))
	found.changed = map[string][]byte{}
	_, err = w.Lines(0, func(id string, line []byte) {
		want, ok := lines[id]
		if !ok {
			return
		}
		there[id] = true
		if !bytes.Equal(want, line) {
			found.changed[id] = want
		}
	})
	for _, e := range entries {
		if !there[e.ID] {
			found.missing = append(found.missing, lines[e.ID])
		}
	}
	return found, err
}

// artifacts puts the files right.
func (r *Rebuilding) artifacts(list []records.Artifact) (counts Counts, err error) {
	if counts.Records = len(list); counts.Records == 0 {
		return counts, nil
	}
	w, err := r.openArtifacts()
	if err != nil {
		return counts, err
	}
	defer w.Close()
	for _, a := range list {
		want, err := w.Encode(a.Artifact)
		if err != nil {
			return counts, err
		}
		got, err := artifact.ReadText(filepath.Join(r.Top, filepath.FromSlash(artifact.Name(a.Artifact, a.Title))))
		switch {
		case err != nil:
			counts.Missing++
		case !bytes.Equal(got, want):
			counts.Changed++
		default:
			continue
		}
		if r.DryRun {
			continue
		}
		if _, err := w.Put(a.Artifact, a.Title); err != nil {
			return counts, err
		}
	}
	return counts, nil
}
