package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// beat is when viewers that hear nothing get a word, so that those who are gone are found.
const beat = 15 * time.Second

// since names the parts that have changed after a state, in order. After an unknown state all have.
func (n *shown) since(state string) []string {
	names := []string{}
	then, _ := strconv.ParseUint(state, 10, 64)
	for name, p := range n.parts {
		if p.at > then {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// events tells a browser what has changed, as it changes. A viewer has no queue: one that reads slowly hears what has changed since it
// last read, and one that does not read at all is dropped.
func (l *live) events(w http.ResponseWriter, r *http.Request) {
	l.viewers.Add(1)
	defer l.viewers.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	c, last := http.NewResponseController(w), cmp.Or(r.Header.Get("Last-Event-ID"), r.FormValue("since"))
	for text := "retry: 2000\n\n"; ; text = ":\n\n" {
		now := l.shown.Load()
		if names := now.since(last); len(names) > 0 {
			list, _ := json.Marshal(names) // they are strings
			text += fmt.Sprintf("id: %d\ndata: %s\n\n", now.at, list)
		}
		last = fmt.Sprint(now.at)
		_ = c.SetWriteDeadline(time.Now().Add(l.patience)) // connections have deadlines
		if _, err := w.Write([]byte(text)); err != nil || c.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-now.newer:
		case <-time.After(beat):
		}
	}
}
