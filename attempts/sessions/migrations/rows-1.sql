-- The four tables of the agents ledger: other programs read them, so their columns stay as they are.
CREATE TABLE agent_sessions (
  id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, project TEXT, created_at INTEGER, message_count INTEGER DEFAULT 0,
  parent_session_id TEXT REFERENCES agent_sessions (id), parent_message_id TEXT, tool_call_id TEXT, task_description TEXT,
  task_status TEXT, is_subagent INTEGER DEFAULT 0, context_token_limit INTEGER, context_tokens_used INTEGER,
  is_agentic INTEGER DEFAULT 0, force_mode TEXT, workspace_path TEXT, context_json TEXT, conversation_state TEXT,
  raw_json TEXT, summary TEXT
);
CREATE INDEX idx_agent_sessions_source ON agent_sessions (source);
CREATE INDEX idx_agent_sessions_parent ON agent_sessions (parent_session_id);
CREATE INDEX idx_agent_sessions_tool_call ON agent_sessions (tool_call_id);
CREATE INDEX idx_agent_sessions_created ON agent_sessions (created_at);

CREATE TABLE agent_messages (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE, role TEXT NOT NULL,
  content TEXT, sequence INTEGER, timestamp INTEGER, checkpoint_id TEXT, is_agentic INTEGER DEFAULT 0,
  is_plan_execution INTEGER DEFAULT 0, context_json TEXT, cursor_rules_json TEXT, metadata_json TEXT
);
CREATE INDEX idx_agent_messages_session ON agent_messages (session_id);
CREATE INDEX idx_agent_messages_role ON agent_messages (role);
CREATE INDEX idx_agent_messages_timestamp ON agent_messages (timestamp);
-- Without this one the first page of a long conversation takes a sort of all of it.
CREATE UNIQUE INDEX idx_agent_messages_sequence ON agent_messages (session_id, sequence);

CREATE TABLE agent_turns (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE, parent_turn_id TEXT,
  query_message_ids TEXT, response_message_id TEXT, model TEXT, token_count INTEGER, timestamp INTEGER,
  has_children INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0
);
CREATE INDEX idx_agent_turns_session ON agent_turns (session_id);
CREATE INDEX idx_agent_turns_parent ON agent_turns (parent_turn_id);
CREATE INDEX idx_agent_turns_timestamp ON agent_turns (timestamp);

CREATE TABLE agent_tool_calls (
  id TEXT PRIMARY KEY, message_id TEXT REFERENCES agent_messages (id),
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE, tool_name TEXT, tool_number INTEGER,
  params_json TEXT, result_json TEXT, status TEXT, child_session_id TEXT REFERENCES agent_sessions (id),
  started_at INTEGER, completed_at INTEGER
);
CREATE INDEX idx_agent_tool_calls_session ON agent_tool_calls (session_id);
CREATE INDEX idx_agent_tool_calls_message ON agent_tool_calls (message_id);
CREATE INDEX idx_agent_tool_calls_child ON agent_tool_calls (child_session_id);
CREATE INDEX idx_agent_tool_calls_name ON agent_tool_calls (tool_name);
