package attempts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// maxLedger bounds what is parsed: no epic comes near, and a hostile file must not take the memory.
const maxLedger = 64 << 20

// ledgerYAML is attempt-ledger.yml as others may have written it: version 1 or 2, with keys missing or added.
type ledgerYAML struct {
	Version     int                      `yaml:"version"`
	EpicID      string                   `yaml:"epic_id"`
	StartedAt   stamp                    `yaml:"started_at"`
	EndedAt     stamp                    `yaml:"ended_at"`
	Duration    any                      `yaml:"duration_minutes"`
	Settings    settingsYAML             `yaml:"settings"`
	Integration Integration              `yaml:"integration"`
	Status      byTask[string]           `yaml:"task_status"`
	Attempts    map[string][]attemptYAML `yaml:"attempts"`
	Gated       byTask[gateYAML]         `yaml:"gated_tasks"`
	CountFrom   map[string]int           `yaml:"count_from"`
	Answers     map[string][]Answer      `yaml:"answers"`
	EpicReviews []EpicReview             `yaml:"epic_reviews"`
	Relay       statusYAML               `yaml:"relay_status"`
	Folded      *struct {
		Run string `yaml:"run"`
		Seq uint64 `yaml:"seq"`
	} `yaml:"folded"`
	Rest rest `yaml:",inline"`
}

// byTask is a map by tasks that is read as far as it can be, and that says what cannot.
type byTask[T any] struct {
	of     map[string]T
	faults []string
}

// UnmarshalYAML keeps the first of two values of a key, and leaves out what it cannot read.
func (m *byTask[T]) UnmarshalYAML(n *yaml.Node) error {
	m.of = map[string]T{}
	if n.Kind != yaml.MappingNode {
		m.faults = append(m.faults, fmt.Sprintf("line %d is not a map of tasks", n.Line))
		return nil
	}
	m.faults = append(m.faults, keepFirst(n)...)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		var v T
		if value.Decode(&v) != nil {
			m.faults = append(m.faults, fmt.Sprintf("line %d: %s cannot be read", value.Line, key.Value))
		}
		m.of[key.Value] = v
	}
	return nil
}

// keepFirst takes all but the first value of each key out of a map, and says which.
func keepFirst(m *yaml.Node) (faults []string) {
	seen, kept := map[string]bool{}, m.Content[:0]
	for pair := range slices.Chunk(m.Content, 2) {
		if key := pair[0]; seen[key.Value] {
			faults = append(faults, fmt.Sprintf("line %d has %s a second time", key.Line, key.Value))
		} else {
			seen[key.Value], kept = true, append(kept, pair...)
		}
	}
	m.Content = kept
	return faults
}

type gateYAML struct {
	Reason Reason `yaml:"reason"`
	Detail string `yaml:"detail"`
	At     stamp  `yaml:"gated_at"`
	Rest   rest   `yaml:",inline"`
}

type statusYAML struct {
	RelayStatus `yaml:",inline"`
	StartedAt   stamp `yaml:"started_at"`
	StoppedAt   stamp `yaml:"stopped_at"`
}

// status returns the state of the last run. The ancestor wrote idle for stopped, and for one that never ran.
func (y *statusYAML) status() RelayStatus {
	s := y.RelayStatus
	s.StartedAt, s.StoppedAt = y.StartedAt.Time, y.StoppedAt.Time
	if s == (RelayStatus{State: "idle"}) {
		return RelayStatus{}
	}
	if s.State == "idle" {
		s.State = "stopped"
	}
	return s
}

// settingsYAML are settings with keys of others.
type settingsYAML struct {
	MaxAttemptsPerTask int     `yaml:"max_attempts_per_task"`
	TimeoutMinutes     float64 `yaml:"timeout_minutes"`
	Review             struct {
		Enabled  bool   `yaml:"enabled"`
		Provider string `yaml:"provider"`
		Rest     rest   `yaml:",inline"`
	} `yaml:"review"`
	Rest rest `yaml:",inline"`
}

// stamp is a time that may be missing, "null", "..." or anything else in a foreign file.
type stamp struct{ time.Time }

// UnmarshalYAML decodes an invalid time as the zero time.
func (s *stamp) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, n.Value); err == nil {
			s.Time = t.UTC()
			return nil
		}
	}
	return nil
}

// parsed is a ledger file that was read.
type parsed struct {
	ledger  *Ledger
	extra   string   // unknown top-level keys, as YAML
	odd     []string // values that were not understood and left out
	unsure  []string // states and gates that cannot be read
	foreign bool     // relay did not write it
}

// parseLedger reads attempt-ledger.yml. It keeps or skips unknown contents; only a file that
// is not YAML, or was written by a newer relay, is an error.
func parseLedger(src []byte) (*parsed, error) {
	if len(src) > maxLedger {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(src), maxLedger)
	}
	var y ledgerYAML
	dec := yaml.NewDecoder(bytes.NewReader(src))
	p := &parsed{}
	var root yaml.Node
	if err := dec.Decode(&root); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	} else if err != nil {
		return nil, err
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is not a map")
	}
	twice := keepFirst(root.Content[0]) // or nothing would be read
	var odd *yaml.TypeError
	if err := root.Decode(&y); errors.As(err, &odd) {
		p.odd = odd.Errors
	} else if err != nil {
		return nil, err
	}
	if y.Version > LedgerVersion {
		return nil, &VersionError{Path: LedgerFile, Version: y.Version, Ours: LedgerVersion}
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is a second YAML document in it")
	}
	p.ledger, p.unsure = y.ledger(), slices.Concat(twice, y.Status.faults, y.Gated.faults)
	p.extra, p.foreign = y.Rest.text(), y.Folded == nil
	for _, id := range slices.Sorted(maps.Keys(y.Status.of)) { // an unknown state would count as pending
		if s := y.Status.of[id]; !p.foreign && !slices.Contains([]Status{Pending, InProgress, Completed, BlockedOn, Gated}, Status(s)) {
			p.unsure = append(p.unsure, fmt.Sprintf("%s cannot be %q; states are pending, in_progress, completed, blocked and gated", id, s))
		}
	}
	return p, nil
}

// rest are the keys of a map that mean nothing here.
type rest map[string]yaml.Node

// text writes the keys as YAML, without comments; what cannot be kept is left out.
func (r rest) text() string {
	if len(r) == 0 {
		return ""
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r)) {
		node := r[name]
		uncomment(&node)
		text, err := yaml.Marshal(map[string]*yaml.Node{name: &node})
		if err == nil { // an alias of something elsewhere in the file cannot be kept
			err = yaml.Unmarshal(text, &yaml.Node{})
		}
		if err == nil && b.Len()+len(text) <= bigText {
			b.Write(text)
		}
	}
	return b.String()
}

func uncomment(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, inner := range n.Content {
		uncomment(inner)
	}
}

func (y *ledgerYAML) ledger() *Ledger {
	s := &y.Settings
	l := &Ledger{
		Version: LedgerVersion, EpicID: y.EpicID, StartedAt: y.StartedAt.Time, EndedAt: y.EndedAt.Time,
		Settings: Settings{
			MaxAttemptsPerTask: s.MaxAttemptsPerTask, TimeoutMinutes: finite(s.TimeoutMinutes), Extra: s.Rest.text(),
			Review: ReviewSettings{Enabled: s.Review.Enabled, Provider: s.Review.Provider, Extra: s.Review.Rest.text()},
		},
		Integration: y.Integration.whole(), EpicReviews: y.EpicReviews,
		Tasks:  make(map[string]*TaskRecord, len(y.Status.of)),
		Status: y.Relay.status(),
	}
	if y.Folded != nil {
		l.Folded = Folded{Run: y.Folded.Run, Seq: y.Folded.Seq}
	}
	record := func(id string) *TaskRecord {
		if l.Tasks[id] == nil {
			l.Tasks[id] = &TaskRecord{}
		}
		return l.Tasks[id]
	}
	for id, list := range y.Attempts {
		rec := record(id)
		for i := range list {
			rec.Attempts = append(rec.Attempts, list[i].attempt(i))
		}
	}
	for id, g := range y.Gated.of {
		record(id).Gate = &Gate{Reason: g.Reason, Detail: g.Detail, At: g.At.Time, Extra: g.Rest.text()}
	}
	for id, status := range y.Status.of {
		record(id).applyStatus(Status(status))
	}
	for id, answers := range y.Answers {
		record(id).Answers = answers
	}
	for id, n := range y.CountFrom {
		rec := record(id)
		rec.CountFrom = min(max(n, 0), len(rec.Attempts))
	}
	return l
}
