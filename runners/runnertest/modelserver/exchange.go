package modelserver

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ask is a request of any API, as far as the answer depends on it.
type ask struct {
	id     int64 // no other request has it
	model  string
	stream bool
	tools  []tool
	schema bool // the answer is to be JSON of a given form
	body   string
	turn   int // tool calls since the user last said something
}

// dialect is one provider's API.
type dialect struct {
	ending string // of the paths it is asked at
	read   func(body []byte) (ask, error)
	plain  func(a ask, said answer) object
	events func(a ask, said answer) []event
	refuse func(s Step, now time.Time) refusal
	last   string // what ends a stream after its events
}

var dialects = []dialect{
	{ending: "/messages", read: readMessages, plain: plainMessage, events: messageEvents, refuse: refuseMessages},
	{ending: "/responses", read: readResponses, plain: plainResponse, events: responseEvents, refuse: refuseOpenAI},
	{ending: "/chat/completions", read: readChat, plain: plainChat, events: chatEvents, refuse: refuseOpenAI, last: "data: [DONE]\n\n"},
	{ending: ":generateContent", read: readGemini, plain: plainGemini, events: geminiEvents, refuse: refuseGemini},
	{ending: ":streamGenerateContent", read: readGemini, plain: plainGemini, events: geminiEvents, refuse: refuseGemini},
}

// event is one server-sent event.
type event struct {
	name string // "" : it has none
	data any
}

// refusal is an error of a provider.
type refusal struct {
	status int
	header map[string]string
	body   object
}

// Every answer costs the same: so many tokens read, of which so many came from the provider's cache, and written.
const (
	tokensIn     = 1000
	tokensCached = 200
	tokensOut    = 50
)

// Usage is what a provider charges for. In counts the tokens that came from its cache, too.
type Usage struct{ In, Cached, Out int }

// exchange is one request and its answer.
type exchange struct {
	w    http.ResponseWriter
	gone <-chan struct{}
	dialect
	ask ask
}

// give answers with a step.
func (x *exchange) give(s Step) {
	if s.Takes > 0 {
		select {
		case <-time.After(s.Takes):
		case <-x.gone:
		}
	}
	switch s.Fault {
	case "":
		x.answer(s.answer(x.ask))
	case Silent:
		<-x.gone
	case Cut:
		x.half()
		x.drop()
	case Broken:
		x.half()
		x.send([]event{x.broken()})
	case Unfinished:
		events := x.events(x.ask, answer{text: "This is an answer that has no end."})
		x.send(events[:len(events)-1])
	case Empty:
		x.answer(answer{})
	case Stalled:
		x.half()
		<-x.gone
	default:
		r := x.refuse(s, time.Now())
		for name, value := range r.header {
			x.w.Header().Set(name, value)
		}
		x.json(r.status, r.body)
	}
}

func (x *exchange) answer(said answer) {
	if !x.ask.stream {
		x.json(http.StatusOK, x.plain(x.ask, said))
		return
	}
	x.send(x.events(x.ask, said))
	fmt.Fprint(x.w, x.last)
}

// half begins an answer: its events up to the middle, some text among them. What is not streamed cannot be begun.
func (x *exchange) half() {
	if x.ask.stream {
		events := x.events(x.ask, answer{text: "This is an answer that breaks off."})
		x.send(events[:len(events)/2])
	}
}

func (x *exchange) send(events []event) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(x.w, "event: %s\n", e.name)
		}
		fmt.Fprintf(x.w, "data: %s\n\n", encode(e.data))
	}
	_ = http.NewResponseController(x.w).Flush()
}

// broken is the error that a provider sends in the middle of an answer.
func (x *exchange) broken() event {
	said := event{data: x.refuse(Step{Fault: Overloaded}, time.Now()).body}
	if x.events(x.ask, answer{})[0].name != "" {
		said.name = "error"
	}
	return said
}

// drop ends the connection in the middle of whatever it carries.
func (x *exchange) drop() {
	if conn, _, err := http.NewResponseController(x.w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// halves are the two parts a text is streamed in.
func halves(text string) []string {
	words := strings.Fields(text)
	if len(words) < 2 {
		return []string{text}
	}
	at := strings.Index(text, words[len(words)/2])
	if at <= 0 {
		return []string{text}
	}
	return []string{text[:at], text[at:]}
}
