package sessions

// Queries, in which {s}, {m}, {t} and {c} are the columns of rows. Their results are in the order of the conversation, and of ids where
// that does not decide.
const (
	querySession = "SELECT {s} FROM agent_sessions AS s WHERE s.id = ?"

	queryTurn   = "SELECT {t} FROM agent_turns AS t WHERE t.id = ?"
	queryOrigin = "SELECT metadata_json FROM agent_messages WHERE session_id = ? AND json_valid(metadata_json) " +
		"AND json_extract(metadata_json, '$.relay.run') IS NOT NULL ORDER BY sequence LIMIT 1"

	// Its origin is that of its first message, unless only a later one says.
	queryList = "SELECT {s}, " +
		"coalesce((SELECT metadata_json FROM agent_messages WHERE session_id = s.id ORDER BY sequence LIMIT 1), ''), " +
		"coalesce((SELECT metadata_json FROM agent_messages WHERE session_id = s.id ORDER BY sequence DESC LIMIT 1), '') " +
		"FROM agent_sessions AS s ORDER BY s.created_at, s.id"
	queryLoose = "SELECT {s} FROM agent_sessions AS s WHERE s.parent_session_id = ? " +
		"AND NOT EXISTS (SELECT 1 FROM agent_tool_calls WHERE child_session_id = s.id) ORDER BY s.created_at, s.id"

	queryMessages = "SELECT {m} FROM agent_messages AS m WHERE m.session_id = ?1 AND m.sequence >= ?2 AND m.sequence < ?3 " +
		"AND (NOT ?5 OR m.role <> 'system' AND m.content <> '') ORDER BY m.sequence LIMIT ?4"
	queryCalls = "SELECT {c} FROM agent_messages AS m CROSS JOIN agent_tool_calls AS c ON c.message_id = m.id " +
		"WHERE m.session_id = ?1 AND m.sequence >= ?2 AND m.sequence <= ?3 ORDER BY m.sequence, c.tool_number, c.id"

	// A turn begins with the first of its requests, else with its answer.
	queryTurns = "SELECT {t}, coalesce((SELECT min(q.sequence) FROM json_each(CASE WHEN json_valid(t.query_message_ids) " +
		"THEN t.query_message_ids ELSE '[]' END) AS j JOIN agent_messages AS q ON q.id = j.value WHERE q.session_id = t.session_id), r.sequence, 0) AS start " +
		"FROM agent_turns AS t LEFT JOIN agent_messages AS r ON r.id = t.response_message_id WHERE t.session_id = ? ORDER BY start, t.timestamp, t.id"

	// The turns of a session, all that they follow, and all that follow them.
	queryTree = "WITH RECURSIVE above (id) AS (SELECT parent_turn_id FROM agent_turns WHERE session_id = ?1 " +
		"UNION SELECT t.parent_turn_id FROM agent_turns AS t JOIN above AS a ON t.id = a.id), " +
		"below (id) AS (SELECT id FROM agent_turns WHERE session_id = ?1 UNION SELECT t.id FROM agent_turns AS t JOIN below AS b ON t.parent_turn_id = b.id) " +
		"SELECT {t} FROM agent_turns AS t WHERE t.id IN (SELECT id FROM above UNION SELECT id FROM below) ORDER BY t.timestamp, t.id"
	queryTools = "SELECT coalesce(tool_name, ''), count(*) AS uses, sum(status IS 'completed'), sum(status IS 'failed'), sum(status IS 'rejected'), " +
		"sum(status IS 'cancelled') FROM agent_tool_calls WHERE ?1 = '' OR session_id = ?1 GROUP BY 1 ORDER BY uses DESC, 1"

	// The newest rows whose texts match, and no more than so many.
	queryFound = "SELECT * FROM (SELECT m.session_id, m.id AS id, m.role, '', m.sequence, coalesce(m.timestamp, 0) AS at, " +
		"CASE WHEN m.id LIKE '%%" + PromptSuffix + "' THEN substr(m.content, 1, instr(m.content || char(10), char(10)) - 1) " +
		"ELSE coalesce(m.content, '') END AS said, coalesce(m.metadata_json, '') FROM agent_messages AS m " +
		"UNION ALL SELECT c.session_id, c.id, '', coalesce(c.tool_name, ''), coalesce(m.sequence, 0), coalesce(c.completed_at, c.started_at, 0), " +
		"coalesce(c.result_json, ''), coalesce(m.metadata_json, '') FROM agent_tool_calls AS c LEFT JOIN agent_messages AS m ON m.id = c.message_id) " +
		"WHERE %s ORDER BY at DESC, id DESC LIMIT %d"
)

// sqlWhole computes all rows of a query before it returns the first one: the driver can stop it then, and not between its rows.
const sqlWhole = "WITH q AS MATERIALIZED (SELECT * FROM (\n%s\n) LIMIT %d) SELECT * FROM q"
