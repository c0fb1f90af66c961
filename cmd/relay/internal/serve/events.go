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

const (
	mostViewers = 1000
	beat        = 15 * time.Second // a word to viewers that hear nothing, so that those who are gone are found
)

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
	if l.viewers.Add(1); l.viewers.Load() > mostViewers {
		l.viewers.Add(-1)
		http.Error(w, "There are too many viewers.", http.StatusServiceUnavailable)
		return
	}
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

// changes answers what events would, once: a tab that has just loaded asks for what it may have missed.
func (l *live) changes(w http.ResponseWriter, r *http.Request) {
	now := l.shown.Load()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": fmt.Sprint(now.at), "parts": now.since(r.FormValue("since"))}) // a browser that is gone does not matter
}
