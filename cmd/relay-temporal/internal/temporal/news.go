package temporal

import (
	"encoding/json"
	"slices"
	"sync"

	"relay/epic/plaintext"
	"relay/orchestrator/engine"
)

// news are the events of an attempt that beats carry to who decides. A beat has the last ones, since one may be lost.
type news struct {
	mu   sync.Mutex
	next int
	list []item
}

// item is an event with its number.
type item struct {
	Number int          `json:"number"`
	Event  engine.Event `json:"event"`
}

// answer is what a host reports when an attempt has ended.
type answer struct {
	Result json.RawMessage `json:"result"`
	News   []item          `json:"news,omitempty"`
}

const (
	mostNews = 24  // in a beat
	longest  = 200 // bytes of the text of one
)

// add keeps an event: of what was used the last one, since it counts from the beginning, and of what the agent does the last few.
func (n *news) add(e engine.Event) {
	e.Detail.Text = plaintext.ShortLine(e.Detail.Text, longest)
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Kind == engine.KindUsage {
		n.list = slices.DeleteFunc(n.list, func(i item) bool { return i.Event.Kind == engine.KindUsage })
	}
	n.next++
	n.list = append(n.list, item{n.next, e})
	if len(n.list) <= mostNews {
		return
	}
	at := slices.IndexFunc(n.list, func(i item) bool { return i.Event.Kind == engine.KindActivity })
	n.list = slices.Delete(n.list, max(at, 0), max(at, 0)+1)
}

func (n *news) all() []item {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// reader tells each event once.
type reader struct {
	last int
	tell func(engine.Event)
}

func (r *reader) read(list []item) {
	for _, i := range list {
		if i.Number > r.last {
			r.last = i.Number
			r.tell(i.Event)
		}
	}
}
