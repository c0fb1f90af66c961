package modelserver

import (
	"encoding/json"
	"time"
)

// Step is one thing the model does. Exactly one of Write, Shell, Tool, Say, Claim, Answer and Fault is set.
type Step struct {
	Write string // path of a file that the client's own tool is to write, with Text in it
	Text  string
	Shell string // command for the client's own shell tool
	Tool  string // name of a tool of the MCP server relay that is to be called, with With as its arguments
	With  object
	Say   string // final text
	Claim string // final answer of an agent that has succeeded, as a result with this summary

	Answer json.RawMessage // final answer: this object, in the form the client has asked for

	Takes time.Duration // until the answer begins
	When  string        // it answers whatever holds this text, and no turn of its own

	Fault Fault
	Times int           // requests that meet the fault before the next step is played; 0: all
	Reset time.Duration // from now on, when the provider says that it will answer again
}

// Fault is something a provider does instead of answering.
type Fault string

// Faults, each in the form that the provider of the API has.
const (
	Throttled    Fault = "throttled"    // 429, with a header that says when to ask again
	UsedUp       Fault = "used up"      // 429: the usage limit of a subscription, until Reset
	Overloaded   Fault = "overloaded"   // 529
	Unavailable  Fault = "unavailable"  // 503
	Unauthorized Fault = "unauthorized" // 401
	Cut          Fault = "cut"          // half an answer, then the connection is gone
	Stalled      Fault = "stalled"      // half an answer, then nothing
	Silent       Fault = "silent"       // no answer at all
	Broken       Fault = "broken"       // half an answer, then an error in its stream
	Unfinished   Fault = "unfinished"   // an answer without the event that ends it, in a body that ends well
	Empty        Fault = "empty"        // an answer that says nothing
)

// charge is what the step costs who asked for it: a refused request nothing, one that got no whole answer what was read
// for it, and half of what is written for a whole one.
func (s Step) charge() Usage {
	u := Usage{tokensIn, tokensCached, tokensOut}
	switch s.Fault {
	case "":
		return u
	case Unfinished, Empty:
		return u
	case Cut, Stalled, Broken:
		u.Out /= 2
	case Silent:
		u.Out = 0
	default:
		return Usage{}
	}
	return u
}

func (s Step) name() string {
	switch {
	case s.Fault != "":
		return string(s.Fault)
	case s.Write != "":
		return "write"
	case s.Shell != "":
		return "shell"
	case s.Tool != "":
		return s.Tool
	case s.Claim != "":
		return "claim"
	case s.Answer != nil:
		return "answer"
	}
	return "say"
}

// answer is what the model says in one turn: text, a tool call, or both.
type answer struct {
	text string
	call *call
}

// call is a call of one of the client's tools: with arguments, or with an input of its own form.
type call struct {
	tool  tool
	args  object
	input string
}

func (c *call) arguments() string { return encode(c.args) }

type object = map[string]any

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // what a script says can be encoded
	}
	return string(data)
}

// answer turns a step that is no fault into what the model says to this client.
func (s Step) answer(a ask) answer {
	switch {
	case s.Write != "":
		return a.toolTurn(a.write(s.Write, s.Text))
	case s.Shell != "":
		return a.toolTurn(a.shell(s.Shell))
	case s.Tool != "":
		return a.toolTurn(a.served(s.Tool, s.With))
	case s.Claim != "":
		return a.claim(object{"status": "success", "summary": s.Claim})
	case s.Answer != nil:
		var given object
		if err := json.Unmarshal(s.Answer, &given); err != nil {
			panic(err) // the script's mistake
		}
		return a.claim(given)
	case a.schema:
		return answer{text: "{}"}
	}
	return answer{text: s.Say}
}

func (a ask) toolTurn(c *call) answer {
	if c == nil {
		return answer{text: "There is no tool for that."}
	}
	return answer{text: "I will use a tool.", call: c}
}

// claim answers in the form the client has asked for, else in a block as relay's brief asks for it.
func (a ask) claim(result object) answer {
	if t, ok := a.tool("StructuredOutput"); ok {
		return answer{call: &call{tool: t, args: t.filled(result)}}
	}
	if a.schema {
		return answer{text: encode(result)}
	}
	return answer{text: "That was it.\n\n```relay-result\n" + encode(result) + "\n```"}
}
