package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
)

// Cost is what the sessions of one task, model or run have used.
type Cost struct {
	Of           string  `json:"of"` // the task, the model or the run; empty where messages do not say
	Sessions     int64   `json:"sessions"`
	Messages     int64   `json:"messages"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	USD          float64 `json:"cost_usd"`
}

// Grouping says what costs are added up by.
type Grouping string

// Groupings.
const (
	ByTask  Grouping = "task"
	ByModel Grouping = "model"
	ByRun   Grouping = "run"
)

// Costs adds up what messages have cost; what cost most comes first. Metadata that cannot be read has cost nothing.
func (r *Reader) Costs(ctx context.Context, by Grouping) ([]Cost, error) {
	// SQLite's own functions would parse each row's metadata for each of its fields, and sort all rows by what they are grouped by.
	rows, err := r.rows.QueryContext(ctx, queryMetadata)
	if err != nil {
		return nil, named(err)
	}
	defer rows.Close()
	sums := map[string]*sum{}
	var session, of string
	var metadata sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&session, &of, &metadata); err != nil {
			return nil, named(err)
		}
		var m costMetadata
		_ = json.Unmarshal(metadata, &m) // as far as it goes
		switch by {
		case ByTask:
			of = m.Relay.Task
		case ByRun:
			of = m.Relay.Run
		case ByModel:
		}
		if sums[of] == nil {
			sums[of] = &sum{Cost: Cost{Of: of}, sessions: map[string]bool{}}
		}
		sums[of].add(session, &m)
	}
	list := make([]Cost, 0, len(sums))
	for _, s := range sums {
		list = append(list, s.Cost)
	}
	slices.SortFunc(list, func(a, b Cost) int { return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(a.Of, b.Of)) })
	return list, named(rows.Err())
}

type sum struct {
	Cost
	sessions map[string]bool
}

type costMetadata struct {
	Tokens Tokens `json:"tokenCount"`
	Relay  struct {
		Run     string  `json:"run"`
		Task    string  `json:"task"`
		CostUSD float64 `json:"cost_usd"`
	} `json:"relay"`
}

func (s *sum) add(session string, m *costMetadata) {
	if !s.sessions[session] {
		s.sessions[session] = true
		s.Sessions++
	}
	s.Messages++
	s.InputTokens += m.Tokens.Input
	s.OutputTokens += m.Tokens.Output
	s.USD += m.Relay.CostUSD
}
