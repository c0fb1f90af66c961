package plaintext

import (
	"bytes"
	"errors"
	"strings"
	"text/template"
	"time"
)

// Notification is one event of a run, or several of the same kind, for a receiver outside of relay. Its fields are the keys of the JSON
// that receivers get, and the names that their templates can use.
type Notification struct {
	Version    int       `json:"version"` // 1
	Event      string    `json:"event"`
	At         time.Time `json:"at"`
	Repository string    `json:"repository"` // name of its folder
	Epic       string    `json:"epic,omitempty"`
	Run        string    `json:"run,omitempty"`
	Task       string    `json:"task,omitempty"`
	Title      string    `json:"title,omitempty"` // of the task
	Text       string    `json:"text"`            // what happened, in one line; it may quote an agent
	Command    string    `json:"command"`         // what a person types next
	Completed  int       `json:"completed"`       // tasks
	Total      int       `json:"total"`
	CostUSD    float64   `json:"cost_usd,omitempty"` // of the run, when it has ended
	Folded     int       `json:"folded,omitempty"`   // earlier events of this kind that had no notification of their own
	Earlier    []string  `json:"earlier,omitempty"`  // texts of the newest of them
}

// Message returns the notification in a few words for a person.
func (n Notification) Message() string {
	text := strings.TrimPrefix(n.Repository+": "+n.Text, ": ")
	if n.Folded > 0 {
		text += " (and " + Count(n.Folded, "event") + " before it)"
	}
	return text + "\n" + n.Command
}

// Render returns the notification as a template has it; "" is JSON. In a template, json writes a value as JSON.
func (n Notification) Render(text string) ([]byte, error) {
	if text == "" {
		content, err := jsonText(n)
		return []byte(content + "\n"), err
	}
	var out bytes.Buffer
	parsed, err := template.New("").Funcs(template.FuncMap{"json": jsonText}).Parse(text)
	if err == nil {
		err = parsed.Execute(&Limited{To: &out, Left: maxText, TooMuch: errTooLong}, n)
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(Line(err.Error()), "template: :"))
	}
	return out.Bytes(), nil
}

// jsonText returns a value as JSON, without escapes for HTML.
func jsonText(v any) (string, error) {
	var out bytes.Buffer
	err := WriteJSON(&out, v, "")
	return strings.TrimSuffix(out.String(), "\n"), err
}
