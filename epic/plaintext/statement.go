package plaintext

// Statement is an agent's report on its work besides its summary. relay has not verified it.
type Statement struct {
	Decisions  map[string]string `json:"decisions,omitempty" yaml:"decisions,omitempty" text:"block"` // by question, with reasons
	Questions  []string          `json:"questions,omitempty" yaml:"questions,omitempty"`              // for a person
	Discovered []Discovery       `json:"discovered,omitempty" yaml:"discovered,omitempty"`
	Confident  *bool             `json:"confident,omitempty" yaml:"confident,omitempty"` // nil: it did not say

	// By the kind of the task, at most one of them.
	Implementation *Implementation `json:"implementation,omitempty" yaml:"implementation,omitempty"`
	Bugfix         *Bugfix         `json:"bugfix,omitempty" yaml:"bugfix,omitempty"`
	Inspection     *Inspection     `json:"inspection,omitempty" yaml:"inspection,omitempty"`
}

// Discovery is work that an agent has found and not done.
type Discovery struct {
	Title string `json:"title" yaml:"title"`
	Why   string `json:"why,omitempty" yaml:"why,omitempty" text:"block"`
}

// Implementation describes something that an agent has built.
type Implementation struct {
	DesignDecisions []string `json:"design_decisions,omitempty" yaml:"design_decisions,omitempty"`
	BreakingChanges []string `json:"breaking_changes,omitempty" yaml:"breaking_changes,omitempty"`
}

// Bugfix describes a fault that an agent has fixed.
type Bugfix struct {
	Symptom        string `json:"symptom,omitempty" yaml:"symptom,omitempty" text:"block"`
	RootCause      string `json:"root_cause,omitempty" yaml:"root_cause,omitempty" text:"block"`
	Fix            string `json:"fix,omitempty" yaml:"fix,omitempty" text:"block"`
	RegressionRisk string `json:"regression_risk,omitempty" yaml:"regression_risk,omitempty" text:"block"`
}

// Inspection is an agent's judgement of code, in a task of the kind review.
type Inspection struct {
	Scope      []string            `json:"scope,omitempty" yaml:"scope,omitempty"` // files or areas
	Findings   []InspectionFinding `json:"findings,omitempty" yaml:"findings,omitempty"`
	Assessment string              `json:"assessment,omitempty" yaml:"assessment,omitempty" text:"block"`
}

// InspectionFinding is one thing that was found.
type InspectionFinding struct {
	Severity       string `json:"severity" yaml:"severity"` // critical, high, medium, low or info
	Location       string `json:"location,omitempty" yaml:"location,omitempty"`
	Issue          string `json:"issue" yaml:"issue" text:"block"`
	Recommendation string `json:"recommendation,omitempty" yaml:"recommendation,omitempty" text:"block"`
}
