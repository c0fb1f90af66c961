package runners

// Result is what an agent says of its own work. Unknown fields are kept in Extra; strings are capped and clean.
type Result struct {
	Status        string            `json:"status"` // "success" or "failure"
	Summary       string            `json:"summary"`
	FilesChanged  []string          `json:"files_changed,omitempty"`
	ErrorCategory string            `json:"error_category,omitempty"`
	ErrorSummary  string            `json:"error_summary,omitempty"`
	Suggestion    string            `json:"suggestion,omitempty"`
	Learning      string            `json:"learning,omitempty"`
	PatternTags   []string          `json:"pattern_tags,omitempty"`
	Discovered    []Discovery       `json:"discovered,omitempty"`
	Decisions     map[string]string `json:"decisions,omitempty"`
	Questions     []string          `json:"questions,omitempty"`
	Confident     *bool             `json:"confident,omitempty"`
}

// Discovery is work the agent found and did not do.
type Discovery struct {
	Title string `json:"title"`
	Why   string `json:"why,omitempty"`
}
