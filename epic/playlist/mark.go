package playlist

import (
	"math"
	"path/filepath"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/plaintext"
)

// Mark returns the text of a playlist's file with the state of the list and of its epics, which epics has by their file, for those who
// read it: the ledgers decide. Each time is that at which its state began. Comments and unknown keys stay; yaml.v3 lays the file out. It
// fails with epic.Problems when the file has mistakes now.
func Mark(path string, list Status, epics map[string]Status, at time.Time) ([]byte, error) {
	src, err := plaintext.ReadFile(path, MaxSize)
	if err != nil {
		return nil, err
	}
	was, err := Parse(filepath.Base(path), src)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	root, now := epic.Follow(doc.Content[0]), at.UTC().Truncate(time.Second).Format(time.RFC3339)
	for i, item := range epic.Follow(epic.ValueAt(root, "epics")).Content {
		state := epics[was.Epics[i].File]
		if state == "" || state == was.Epics[i].Status || item.Kind != yaml.MappingNode {
			continue
		}
		put(root, "current", strconv.Itoa(i))
		put(item, "status", string(state))
		switch state {
		case InProgress:
			begin(item, now, "completed_at", "failed_at")
		case Completed:
			put(item, "completed_at", now)
		case Failed:
			put(item, "failed_at", now)
		case Pending:
		}
	}
	if list != was.Status {
		put(root, "status", string(list))
		if list == InProgress {
			begin(root, now, "ended_at", "duration_minutes")
		} else {
			put(root, "ended_at", now)
			if !was.StartedAt.IsZero() {
				put(root, "duration_minutes", strconv.FormatFloat(math.Round(at.Sub(was.StartedAt).Minutes()*100)/100, 'f', -1, 64))
			}
		}
	}
	return epic.EncodeNode(&doc)
}

// begin puts the time at which a mapping's work first began, and clears those at which it ended before.
func begin(mapping *yaml.Node, now string, ends ...string) {
	if n := epic.ValueAt(mapping, "started_at"); n == nil || epic.IsNull(n) {
		put(mapping, "started_at", now)
	}
	for _, key := range ends {
		if epic.ValueAt(mapping, key) != nil {
			put(mapping, key, "null")
		}
	}
}

// put sets a key to a plain scalar.
func put(mapping *yaml.Node, key, value string) {
	if n := epic.ValueAt(mapping, key); n != nil {
		*n = yaml.Node{Kind: yaml.ScalarNode, Value: value, LineComment: n.LineComment, HeadComment: n.HeadComment, FootComment: n.FootComment}
		return
	}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
}
