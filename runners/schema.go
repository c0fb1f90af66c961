package runners

// ResultSchema returns the JSON Schema of a [Result], for CLIs that can be told to answer in one.
func ResultSchema() []byte { return []byte(resultSchema) }

const resultSchema = `{
  "type": "object",
  "required": ["status", "summary"],
  "properties": {
    "status": {"type": "string", "enum": ["success", "failure"]},
    "summary": {"type": "string", "description": "what was done, or how far it got, in a few sentences"},
    "files_changed": {"type": "array", "items": {"type": "string"}, "description": "repository-relative paths"},
    "error_category": {"type": "string", "description": "for a failure: missing_dependency, code_error or test_failure"},
    "error_summary": {"type": "string", "description": "for a failure: what went wrong"},
    "suggestion": {"type": "string", "description": "for a failure: what the next attempt should do differently"},
    "learning": {"type": "string", "description": "what later tasks should know"},
    "discovered": {
      "type": "array",
      "description": "work that was found and not done",
      "items": {
        "type": "object",
        "required": ["title"],
        "properties": {"title": {"type": "string"}, "why": {"type": "string"}}
      }
    },
    "decisions": {"type": "object", "additionalProperties": {"type": "string"}, "description": "what was open, and what you decided and why"}
  }
}`
