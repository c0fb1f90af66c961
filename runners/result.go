package runners

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"relay/epic/plaintext"
)

// Result is what an agent says of its own work. Strings are capped and clean; unknown fields are dropped.
type Result struct {
	Status        string   `json:"status"` // one of the words below
	Summary       string   `json:"summary"`
	FilesChanged  []string `json:"files_changed,omitempty"`
	ErrorCategory string   `json:"error_category,omitempty"` // free text: it names nothing relay acts on
	ErrorSummary  string   `json:"error_summary,omitempty"`
	Suggestion    string   `json:"suggestion,omitempty"`
	Learning      string   `json:"learning,omitempty"`
	PatternTags   []string `json:"pattern_tags,omitempty"`

	plaintext.Statement

	// Loose means that it stood in the final message without relay's mark.
	Loose bool `json:"-"`
}

// The words of Result.Status.
const (
	StatusSuccess  = "success"
	StatusFailure  = "failure"
	StatusQuestion = "question" // it needs the answers to Questions to continue
)

const (
	// MaxResult bounds a result as the agent wrote it, in bytes.
	MaxResult = 1 << 20
	maxList   = 200
)

// ParseResult reads an agent's result: one JSON object with at least "status" (success, failure or question) and "summary"; a question
// needs "questions", too.
// Everything else is optional, and of a wrong type no reason to refuse the rest.
func ParseResult(data []byte) (Result, error) {
	if len(data) > MaxResult {
		return Result{}, fmt.Errorf("result has %d bytes, more than %d", len(data), MaxResult)
	}
	var fields map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	if err := dec.Decode(&fields); err != nil {
		if errors.Is(err, io.EOF) {
			return Result{}, errors.New("result is empty")
		}
		return Result{}, fmt.Errorf("result is not a JSON object: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Result{}, errors.New("result has more after its JSON object")
	}
	if fields == nil {
		return Result{}, errors.New("result is null")
	}
	return object(fields).result()
}

// result reads the object as a result.
func (o object) result() (Result, error) {
	r := Result{
		Status: strings.ToLower(o.text("status")), Summary: o.text("summary"),
		ErrorCategory: o.text("error_category"), ErrorSummary: o.text("error_summary"), Suggestion: o.text("suggestion"),
		Learning: o.text("learning"), FilesChanged: o.texts("files_changed"), PatternTags: o.texts("pattern_tags"),
	}
	switch {
	case r.Status == "":
		return Result{}, errors.New(`result has no text "status"`)
	case r.Status != StatusSuccess && r.Status != StatusFailure && r.Status != StatusQuestion:
		return Result{}, fmt.Errorf("result has status %q, not success, failure or question", OneLine(r.Status, 40))
	case r.Summary == "":
		return Result{}, errors.New(`result has no text "summary"`)
	}
	r.Questions, r.Discovered, r.Decisions = o.texts("questions"), discovered(o["discovered"]), decisions(o["decisions"])
	if json.Unmarshal(o["confident"], &r.Confident) != nil {
		r.Confident = nil
	}
	r.payloads(o)
	if r.Status == StatusQuestion && len(r.Questions) == 0 {
		return r, errors.New(`result has status question, and no "questions"`)
	}
	return r, nil
}

// discovered reads a list of objects with a title, or of titles.
func discovered(raw json.RawMessage) []plaintext.Discovery {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var found []plaintext.Discovery
	for _, item := range list[:min(len(list), maxList)] {
		o := objectOf(item)
		d := plaintext.Discovery{Title: o.text("title"), Why: o.text("why")}
		if d.Title == "" {
			d.Title = CleanText(textOf(item), MaxString)
		}
		if d.Title != "" {
			found = append(found, d)
		}
	}
	return found
}
