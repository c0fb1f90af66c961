package recorded

import (
	"bufio"
	"fmt"
	"strings"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
)

// HandoffStatement is what a session says when it stops, as relay handoff --json takes it.
type HandoffStatement struct {
	Agent     string            `json:"agent"`
	Model     string            `json:"model"`
	Session   string            `json:"session"`
	Summary   string            `json:"summary"`
	Goal      string            `json:"goal"`
	Outcome   string            `json:"outcome"`
	Done      []string          `json:"done"`
	Next      []string          `json:"next"`
	Blockers  []string          `json:"blockers"`
	Questions []string          `json:"questions"`
	Decisions map[string]string `json:"decisions"`
	Context   map[string]string `json:"context"`
	State     map[string]string `json:"state"`
	Worked    []string          `json:"worked"`
	Failed    []string          `json:"failed"`
	Notes     string            `json:"notes"`
}

// HandoffShape is an example of a statement with all its fields, as the help shows it.
const HandoffShape = `  {
    "summary": "what this session did, in a sentence",      required
    "next": ["what is to be done next, in order"],          required
    "done": ["..."], "blockers": ["..."], "questions": ["..."],
    "decisions": {"what was open": "what was decided, and why"},
    "context": {"what one has to know": "..."},
    "state": {"tests": "pass but for TestLogin"},
    "worked": ["..."], "failed": ["an approach that did not work"],
    "goal": "of the whole work", "outcome": "PARTIAL_PLUS",
    "notes": "anything else", "agent": "claude-code",
    "model": "...", "session": "its id"
  }`

func (s *HandoffStatement) check() error {
	mistake := func(field, what, hint string) error {
		return &terminal.Hinted{Err: fmt.Errorf("the handoff's field %s %s", field, what), Hint: hint}
	}
	if strings.TrimSpace(s.Summary) == "" {
		return mistake("summary", "is empty", `say in a sentence what the session did: "summary": "..."`)
	}
	if len(s.Next) == 0 {
		return mistake("next", "is empty", `say what the next session does first: "next": ["..."]`)
	}
	if _, ok := artifact.ParseOutcome(s.Outcome); s.Outcome != "" && !ok {
		return mistake("outcome", fmt.Sprintf("is %q", s.Outcome), "it is one of "+OutcomeNames())
	}
	return nil
}

func (s *HandoffStatement) ask(a *cli.App) {
	in := bufio.NewReader(a.In)
	one := func(question string, to *string) {
		if *to == "" {
			fmt.Fprint(a.Err, question+": ")
			*to = answer(in)
		}
	}
	many := func(question string, to *[]string) {
		if len(*to) > 0 {
			return
		}
		fmt.Fprintln(a.Err, question+", one a line, an empty line at the end:")
		for text := answer(in); text != ""; text = answer(in) {
			*to = append(*to, text)
		}
	}
	one("What did this session do, in a sentence", &s.Summary)
	many("What is done", &s.Done)
	many("What comes next", &s.Next)
	many("What keeps it from going on", &s.Blockers)
	many("What is an open question", &s.Questions)
	one("What else must the next one know", &s.Notes)
}

// answer reads one line. A last line without an end counts.
func answer(in *bufio.Reader) string {
	text, _ := in.ReadString('\n')
	return strings.TrimSpace(text)
}
