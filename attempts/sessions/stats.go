package sessions

import "context"

// ToolUse counts the calls of one tool.
type ToolUse struct {
	Tool      string  `json:"tool"`
	Uses      int64   `json:"uses"`
	Completed int64   `json:"completed"`
	Failed    int64   `json:"failed"`
	Rejected  int64   `json:"rejected"`
	Cancelled int64   `json:"cancelled"`
	Success   float64 `json:"success_rate"` // completed of all, from 0 to 1
}

// Tools counts the tool calls of a session, or of all when it is empty; the tool that was used most comes first.
func (r *Reader) Tools(ctx context.Context, session string) ([]ToolUse, error) {
	list, err := all(ctx, r.rows, func(u *ToolUse) []any {
		return []any{&u.Tool, &u.Uses, &u.Completed, &u.Failed, &u.Rejected, &u.Cancelled}
	}, queryTools, session)
	for i := range list {
		list[i].Success = float64(list[i].Completed) / float64(list[i].Uses)
	}
	return list, err
}
