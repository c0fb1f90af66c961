package reanchor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/epic"
	"relay/epic/plaintext"
)

// Said is one message of a recorded conversation, with the tools that were called in it.
type Said struct {
	Role  string // user, assistant or system
	Text  string
	Tools []string // each in one line
}

// Fork has the input of the prompt for an agent that branches from a recorded conversation.
type Fork struct {
	Query  string // what it is asked now
	Said   []Said // before that, in order
	By     string // whose conversation that was
	Base   string // commit that the agent begins from
	Agent  Agent
	Wall   time.Duration
	USD    float64 // it may cost; 0: not said, as
	Tokens int64   // is 0 here
}

// Sizes of single messages, in bytes, and how many tools of one are named.
const (
	firstSaid = 12 << 10 // the task
	otherSaid = 6 << 10
	saidTools = 10
)

// Prompt writes it as markdown. A conversation that is too long is cut in the middle: its first message and the last ones say most. Every
// cut is marked. The query is never cut.
func (f Fork) Prompt() []byte {
	var s sheet
	s.add(block{head: "# Going on from a recorded conversation\n"})
	s.say("This is not the conversation itself, but its record: what " + plaintext.ShortLine(f.By, titleBytes) + " was asked and did, up to here. Take it as your own past,\n" +
		"and go on from there with what you are asked below. The files are those of commit " + plaintext.ShortLine(f.Base, 64) + ":\n" +
		"what the conversation changed in them is not there, unless that commit has it. Text between fences is quoted.")
	s.section("The conversation", "")
	blocks := f.conversation(defaultBrief - len(f.Query))
	for _, b := range blocks {
		s.add(b)
	}
	if len(blocks) == 0 {
		s.say("It had not begun.")
	}
	s.section("Your task now", "")
	s.whole(f.Query, len(f.Query))
	s.say("Commit what you change. It is kept for the person who asks, and becomes no part of anything by itself.")
	s.say(allowance(f.Wall, f.USD, f.Tokens))
	sayForm(&s, f.Agent, epic.KindFeature, true)
	return s.bytes()
}

// conversation returns the first message and as many of the last ones as there is room for.
func (f Fork) conversation(room int) []block {
	if len(f.Said) == 0 {
		return nil
	}
	first := f.Said[0].block(firstSaid)
	room -= first.size()
	var last []block
	from := len(f.Said)
	for from > 1 {
		b := f.Said[from-1].block(otherSaid)
		if room -= b.size(); room < 0 {
			break
		}
		last = append(last, b)
		from--
	}
	slices.Reverse(last)
	if left := from - 1; left > 0 {
		last = slices.Insert(last, 0, block{head: fmt.Sprintf("\n[relay left out %d messages here]\n", left)})
	}
	return append([]block{first}, last...)
}

// block shows a message.
func (m Said) block(most int) block {
	var head strings.Builder
	head.WriteString("\n**" + plaintext.ShortLine(m.Role, 40) + "**")
	if len(m.Tools) > 0 {
		head.WriteString(", and called:\n")
	}
	for _, t := range m.Tools[:min(len(m.Tools), saidTools)] {
		head.WriteString("\n- " + plaintext.ShortLine(t, titleBytes))
	}
	if more := len(m.Tools) - saidTools; more > 0 {
		fmt.Fprintf(&head, "\n- and %d more calls", more)
	}
	if len(m.Tools) > 0 {
		head.WriteByte('\n')
	}
	head.WriteByte('\n')
	body, lost := quotable(m.Text, most, false)
	if body == "" {
		return block{head: head.String()}
	}
	return block{head: head.String(), body: body, fence: fenceFor(body), lost: lost}
}
