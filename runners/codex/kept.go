package codex

// keptRecord is one line of a file in which codex keeps a session, below ~/.codex/sessions, as far as limits and usage are read from it.
type keptRecord struct {
	Time    string `json:"timestamp"`
	Type    string `json:"type"` // turn_context, response_item, event_msg, token_usage_record
	Payload struct {
		Type  string      `json:"type"`  // response_item: message, function_call_output, …; event_msg: token_count
		Model string      `json:"model"` // turn_context
		Role  string      `json:"role"`
		Usage *tokenUsage `json:"usage"` // token_usage_record: of one answer
		Info  struct {
			Total *tokenUsage `json:"total_token_usage"` // of the session so far
		} `json:"info"`
	} `json:"payload"`
}
