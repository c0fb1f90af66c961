package sessions

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
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
	models, err := all(ctx, r.rows, func(s *Session) []any { return []any{&s.ID, &s.Model} }, queryModels)
	if err != nil {
		return nil, err
	}
	c := costs{by: by, models: map[string]string{}, sums: map[string]*sum{}}
	for _, s := range models {
		c.models[s.ID] = s.Model
	}
	// SQLite's own functions would read each row's metadata anew for each of its fields, and sort all rows by what they are grouped by.
	rows, err := r.rows.QueryContext(ctx, queryMetadata)
	if err != nil {
		return nil, named(File, err)
	}
	defer rows.Close()
	var session, metadata sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&session, &metadata); err != nil {
			return nil, named(File, err)
		}
		c.add(session, metadata)
	}
	return c.list(), named(File, rows.Err())
}

// costs adds up costs by what they are grouped by.
type costs struct {
	by     Grouping
	models map[string]string // of the sessions
	sums   map[string]*sum
	origin []byte       // the beginning of the last message's origin
	last   costMetadata // of that
}

// sum is what comes to one group.
type sum struct {
	Cost
	sessions map[string]bool
}

// costMetadata is what counts of a message's metadata.
type costMetadata struct {
	Tokens Tokens `json:"tokenCount"`
	Relay  struct {
		Run     string  `json:"run"`
		Task    string  `json:"task"`
		CostUSD float64 `json:"cost_usd"`
	} `json:"relay"`
}

// add adds a message of a session. It keeps nothing of both texts.
func (c *costs) add(session, metadata []byte) {
	model, known := c.models[string(session)]
	if !known {
		return
	}
	m, ok := c.written(metadata)
	if !ok {
		m = costMetadata{}
		_ = json.Unmarshal(metadata, &m) // as far as it goes
	}
	var of string
	switch c.by {
	case ByTask:
		of = m.Relay.Task
	case ByModel:
		of = model
	case ByRun:
		of = m.Relay.Run
	}
	s := c.sums[of]
	if s == nil {
		s = &sum{Cost: Cost{Of: of}, sessions: map[string]bool{}}
		c.sums[of] = s
	}
	if !s.sessions[string(session)] {
		s.sessions[string(session)] = true
		s.Sessions++
	}
	s.Messages++
	s.InputTokens += m.Tokens.Input
	s.OutputTokens += m.Tokens.Output
	s.USD += m.Relay.CostUSD
}

// written reads metadata as Metadata.JSON writes it, at a fraction of what a parser takes. It is false for any other, also for one with
// lists of todos or results in it: these may hold the same names.
func (c *costs) written(text []byte) (m costMetadata, ok bool) {
	head, tail, found := bytes.Cut(text, []byte(`,"relay":{`))
	if !found || !bytes.HasPrefix(head, []byte(`{"_v":`)) || bytes.IndexByte(tail, '{') >= 0 || bytes.IndexByte(head, '[') >= 0 {
		return m, false
	}
	if m, ok = c.writtenOrigin(tail); !ok {
		return m, false
	}
	nested := bytes.Count(head, []byte("{")) - 1
	_, tokens, found := bytes.Cut(head, []byte(`,"tokenCount":{"inputTokens":`))
	if !found {
		return m, nested == 0
	}
	input, tokens, _ := bytes.Cut(tokens, []byte(`,"outputTokens":`))
	output, _, _ := bytes.Cut(tokens, []byte("}"))
	var errs [2]error
	m.Tokens.Input, errs[0] = strconv.ParseInt(string(input), 10, 64)
	m.Tokens.Output, errs[1] = strconv.ParseInt(string(output), 10, 64)
	return m, nested == 1 && errs == [2]error{}
}

// writtenOrigin reads where a message comes from, to the end of its metadata.
func (c *costs) writtenOrigin(text []byte) (m costMetadata, ok bool) {
	origin, numbers, found := bytes.Cut(text, []byte(`"offset":`))
	numbers, ended := bytes.CutSuffix(numbers, []byte("}}"))
	_, cost, costs := bytes.Cut(numbers, []byte(`,"cost_usd":`))
	if !found || !ended || bytes.IndexByte(numbers, '}') >= 0 || !costs && bytes.IndexByte(numbers, ',') >= 0 {
		return m, false
	}
	if c.origin == nil || !bytes.Equal(origin, c.origin) { // most messages have that of the one before
		if json.Unmarshal(slices.Concat([]byte("{"), bytes.TrimSuffix(origin, []byte(",")), []byte("}")), &m.Relay) != nil {
			return m, false
		}
		c.origin, c.last = append([]byte{}, origin...), m
	}
	m = c.last
	if costs {
		var err error
		m.Relay.CostUSD, err = strconv.ParseFloat(string(cost), 64)
		return m, err == nil
	}
	return m, true
}

// list returns the groups, the most expensive first.
func (c *costs) list() []Cost {
	list := make([]Cost, 0, len(c.sums))
	for _, s := range c.sums {
		list = append(list, s.Cost)
	}
	slices.SortFunc(list, func(a, b Cost) int { return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(a.Of, b.Of)) })
	return list
}
