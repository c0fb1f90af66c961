package agentlog

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// Tools prints how often each tool was called, and with what success: in one session, or in all when session is empty.
func (v *SessionView) Tools(ctx context.Context, session string) error {
	if session != "" {
		s, err := v.Ledger.Find(ctx, session)
		if err != nil {
			return err
		}
		session = s.ID
	}
	list, err := v.Ledger.Tools(ctx, session)
	if done, err := shown(v, list, err, "no tool was called"); done {
		return err
	}
	const padding = 2
	w := tabwriter.NewWriter(v.App.Out, 0, 0, padding, ' ', 0)
	fmt.Fprintln(w, "tool\tcalls\tsuccess\tfailed\trejected\tcancelled")
	for _, u := range list {
		tool := plaintext.FirstOf(v.line(u.Tool), "-")
		fmt.Fprintf(w, "%s\t%d\t%.0f %%\t%d\t%d\t%d\n", tool, u.Uses, 100*u.Success, u.Failed, u.Rejected, u.Cancelled)
	}
	return w.Flush()
}

// Search prints the messages and tool results that hold all words, the newest first.
func (v *SessionView) Search(ctx context.Context, words []string, most int) error {
	hits, err := v.Ledger.Search(ctx, words, most)
	if done, err := shown(v, hits, err, "nothing was found"); done {
		return err
	}
	for _, h := range hits {
		who := h.Role
		if h.Role == "" {
			who = "result of " + plaintext.FirstOf(h.Tool, "a tool")
		}
		fmt.Fprintln(v.App.Out, v.line(fmt.Sprintf("%s [%d] %s %s  %s", h.Session, h.Sequence, who, when(h.Time), origin(h.Origin))))
		fmt.Fprintf(v.App.Out, "    %s\n", v.line(h.Snippet))
	}
	return nil
}

// SQL runs a query of the user's and prints its rows, the values of each separated by tabs.
func (v *SessionView) SQL(ctx context.Context, query string, limits sessions.Limits) error {
	if limits.Rows < 1 || limits.Time <= 0 {
		return &terminal.UsageError{Message: "--rows and --time are more than nothing", Hint: "relay sessions sql --rows 1000 --time 10s QUERY"}
	}
	t, err := v.Ledger.SQL(ctx, query, limits)
	if err != nil {
		return err
	}
	if v.JSON {
		return v.printJSON(&t)
	}
	fmt.Fprintln(v.App.Out, strings.Join(t.Columns, "\t"))
	for _, row := range t.Rows {
		fmt.Fprintln(v.App.Out, strings.Join(each.Of(row, v.cell), "\t"))
	}
	if t.More {
		fmt.Fprintf(v.App.Err, "relay: note: only the first %d rows; --rows asks for more\n", len(t.Rows))
	}
	return nil
}

func (v *SessionView) cell(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case []byte:
		return fmt.Sprintf("x'%x'", value)
	case string:
		return strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(v.App.Secrets.Text(value))
	}
	return fmt.Sprint(value)
}
