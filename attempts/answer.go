package attempts

import (
	"slices"
	"strings"
	"time"

	"relay/epic/plaintext"
)

// Answer is what a person said to the agents of a task.
type Answer struct {
	At       time.Time `json:"at" yaml:"at"`
	Question string    `json:"question,omitempty" yaml:"question,omitempty" text:"block"` // that was open then; "": none
	Text     string    `json:"text" yaml:"text" text:"block"`
}

const (
	mostAnswers = 20
	// MaxAnswer is how many bytes of an answer are kept.
	MaxAnswer = 16 << 10
)

// answer records what a person said, if the event has it. Earlier attempts count as before, and the next one continues from their work.
func (rec *TaskRecord) answer(e *Event) {
	if e.Answer == nil {
		return
	}
	a := *e.Answer
	a.At = e.At
	rec.Answers = append(slices.Clip(rec.Answers[max(0, len(rec.Answers)-mostAnswers+1):]), a)
	if rec.Gate != nil && rec.Gate.Reason == AwaitsAnswer {
		rec.Gate = nil
	}
}

// OpenQuestions returns the questions of the last attempt that asked any, unless a person said something to the task since, or a later
// attempt completed it and asked nothing.
func (rec TaskRecord) OpenQuestions() []string {
	for _, a := range slices.Backward(rec.Attempts) {
		if len(a.Receipt.Questions) == 0 && a.Result != ResultSuccess {
			continue
		}
		if n := len(rec.Answers); n > 0 && rec.Answers[n-1].At.After(a.EndedAt) {
			return nil
		}
		return a.Receipt.Questions
	}
	return nil
}

// AnswerTo returns what a person says to the agents of a task, with the questions that are open; nil for no text.
func (rec TaskRecord) AnswerTo(text string) *Answer {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &Answer{Question: strings.Join(rec.OpenQuestions(), "\n"), Text: plaintext.Capped(text, MaxAnswer)}
}

// Continues reports whether the next attempt is to continue the session of the last one: it asked a person, who has answered.
func (rec TaskRecord) Continues() bool {
	n := len(rec.Attempts)
	return n > rec.CountFrom && rec.Attempts[n-1].Outcome == Asked && len(rec.Answers) > 0 && len(rec.OpenQuestions()) == 0
}

// Asked returns how many attempts ended with a question to a person.
func (rec TaskRecord) Asked() (n int) {
	for i := range rec.Attempts {
		if rec.Attempts[i].Outcome == Asked {
			n++
		}
	}
	return n
}
