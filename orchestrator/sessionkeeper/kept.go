package sessionkeeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts/sessions"
	"relay/orchestrator/sessionrows"
	"relay/orchestrator/transcripts"
	"relay/runners"
	"relay/runners/kinds"
)

const claudeSource = "claude-code"

// ErrNothingKept is wrapped by the error of ImportKept for a path with no session of the CLI.
var ErrNothingKept = errors.New("no session is kept there")

// KeptKinds are the CLIs whose own files ImportKept reads.
func KeptKinds() []string { return []string{kinds.Claude, kinds.Codex} }

// ImportKept reads the files in which a CLI keeps its sessions, at a path or below it, and makes rows of them. It opens nothing else, and
// changes nothing there. Errors are those of Import but ErrNoAttempt, and ErrNothingKept.
func ImportKept(ctx context.Context, o Options, kind, path string) (done Imported, err error) {
	talks, err := keptTalks(kind, path)
	if err != nil {
		return done, err
	}
	db, err := sessions.Open(ctx, o.Dir, sessions.Options{Epic: o.EpicID, Now: time.Now})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w := writer{ctx: ctx, db: db}
	for _, t := range talks {
		if err := context.Cause(ctx); err != nil {
			return done, err
		}
		err := w.writeAll(func() ([]sessions.Mark, error) { return nil, t.readKept(kind, &w) })
		if errors.Is(err, errKnown) {
			continue
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", t.about.Key, err)
		}
		done.count(t)
	}
	return done, nil
}

func (t *talk) readKept(kind string, w *writer) error {
	for _, s := range t.streams {
		if s.reader == nil {
			s.reader = kinds.Kept(kind)
		}
	}
	if err := t.advance(defaultCap, true, func() error { return w.add(t) }); err != nil {
		return err
	}
	return w.add(t)
}

// keptTalks finds the sessions that a CLI keeps at a path: the files of one, that of the session first, then those of its subagents.
func keptTalks(kind, path string) (talks []*talk, err error) {
	found := map[string][]*stream{}
	err = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		id, sub := keptSession(kind, path)
		if id == "" {
			return nil
		}
		s := &stream{file: path, kind: kind}
		if found[id] = append(found[id], s); !sub {
			found[id] = slices.Concat([]*stream{s}, found[id][:len(found[id])-1])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	source := kind
	if kind == kinds.Claude {
		source = claudeSource
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		t := newTalk(sessionrows.About{Key: "kept/" + kind + "/" + id, Source: source, Session: id}, kind, true)
		t.streams, t.kept = found[id], true
		talks = append(talks, t)
	}
	if len(talks) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNothingKept)
	}
	return talks, nil
}

// keptSession returns the session of a kind of CLI that a file is about, and whether it is only about a subagent of that; "": it is none.
func keptSession(kind, path string) (id string, sub bool) {
	f, err := runners.OpenRegular(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, buffer)
	const keptLines = 50
	for range keptLines {
		line, _, whole, err := transcripts.NextLine(lines, nil)
		if err != nil || !whole {
			return "", false
		}
		var first struct {
			Session   string `json:"sessionId"` // claude
			Sidechain bool   `json:"isSidechain"`
			Type      string `json:"type"` // codex
			Payload   struct {
				ID string `json:"id"`
			} `json:"payload"`
		}
		_ = json.Unmarshal(line, &first) // another line may tell
		switch {
		case kind == kinds.Claude && first.Session != "":
			return first.Session, first.Sidechain
		case kind == kinds.Codex && first.Type == "session_meta" && first.Payload.ID != "":
			return first.Payload.ID, false
		}
	}
	return "", false
}
