package runners

import "strings"

// ResultSchema returns the JSON Schema of a [Result] of a kind of task, for CLIs that can answer in one.
func ResultSchema(kind string) []byte {
	payload := implementationSchema
	switch kind {
	case kindBugfix:
		payload = bugfixSchema
	case kindReview:
		payload = reviewSchema
	}
	return []byte(strings.Replace(resultSchema, "$payload", payload, 1))
}

const resultSchema = `{
  "type": "object",
  "required": ["status", "summary"],
  "properties": {
    "status": {"type": "string", "enum": ["success", "failure", "question"], "description": "question: you cannot continue before a person answers your questions"},
    "summary": {"type": "string", "description": "what was done, or how far it got, in a few sentences"},
    "files_changed": {"type": "array", "items": {"type": "string"}, "description": "repository-relative paths"},
    "error_category": {"type": "string", "description": "for a failure: missing_dependency, code_error or test_failure"},
    "error_summary": {"type": "string", "description": "for a failure: what went wrong"},
    "suggestion": {"type": "string", "description": "for a failure: what the next attempt should do differently"},
    "learning": {"type": "string", "description": "what later tasks should know, in one sentence"},
    "pattern_tags": {"type": "array", "items": {"type": "string"}, "description": "what the learning is about, in one word each"},
    "discovered": {
      "type": "array",
      "description": "work that was found and not done",
      "items": {
        "type": "object",
        "required": ["title"],
        "properties": {"title": {"type": "string"}, "why": {"type": "string"}}
      }
    },
    "decisions": {"type": "object", "additionalProperties": {"type": "string"}, "description": "what was open, and what you decided and why"},
    "questions": {"type": "array", "items": {"type": "string"}, "description": "what only a person can answer"},
    "confident": {"type": "boolean", "description": "whether you are sure that the work does what was asked"},
    $payload
  }
}`

// The payloads of the kinds of tasks.
const (
	implementationSchema = `"implementation": {
      "type": "object",
      "description": "of what was built",
      "properties": {
        "design_decisions": {"type": "array", "items": {"type": "string"}, "description": "how it is built, and why so"},
        "breaking_changes": {"type": "array", "items": {"type": "string"}, "description": "what worked before for those who use it, and does not any more"}
      }
    }`
	bugfixSchema = `"bugfix": {
      "type": "object",
      "description": "of the fault that was mended",
      "properties": {
        "symptom": {"type": "string", "description": "what could be seen of it"},
        "root_cause": {"type": "string", "description": "what was wrong"},
        "fix": {"type": "string", "description": "what was changed to mend it"},
        "regression_risk": {"type": "string", "description": "what the change could break"}
      }
    }`
	reviewSchema = `"review": {
      "type": "object",
      "description": "of what was judged",
      "properties": {
        "scope": {"type": "array", "items": {"type": "string"}, "description": "files or areas that were read"},
        "findings": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["severity", "issue"],
            "properties": {
              "severity": {"type": "string", "enum": ["critical", "high", "medium", "low", "info"]},
              "location": {"type": "string", "description": "file:line"},
              "issue": {"type": "string"},
              "recommendation": {"type": "string"}
            }
          }
        },
        "overall_assessment": {"type": "string"}
      }
    }`
)
