package status

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// notBegunFile holds, in the folder of an epic, why the last relay work could not begin. A run that began later makes it void.
const notBegunFile = "not-begun.json"

// notBegun is a relay work that could not begin.
type notBegun struct {
	At  time.Time `json:"at"` // when it was typed
	Why string    `json:"why"`
	Fix string    `json:"fix,omitempty"`
}

// RecordNotBegun records the error of a relay work that was typed at a time, and returns it in words. Mistakes on the command line, Ctrl-C,
// a run that is active and the end of a run that could begin are no such errors.
func RecordNotBegun(p *project.Project, at time.Time, err error) (said string) {
	_, over := errors.AsType[terminal.ExitCode](err)
	d := terminal.Diagnose(err)
	if over || d.Code == terminal.Usage || d.Code == terminal.Running || errors.Is(err, context.Canceled) {
		return ""
	}
	say := func(s string) string { return p.Redactor().Text(strings.ReplaceAll(s, "\n", "; ")) }
	last := notBegun{at.UTC(), say(d.Messages[0]), say(d.Hint)}
	if git.Exists(p.File("epic.yml")) && p.EnsureIgnored() == nil {
		if content, err := json.Marshal(last); err == nil {
			_ = project.ReplaceFile(p.File(notBegunFile), append(content, '\n')) // the user has seen the error
		}
	}
	return last.text()
}

// text returns the reason, and what to do.
func (n notBegun) text() string {
	if n.Fix != "" {
		return n.Why + " (" + n.Fix + ")"
	}
	return n.Why
}

// NeverBegan says that the last relay work could not begin, and why; "" if one has begun since: the newest began at a time.
func NeverBegan(p *project.Project, newest time.Time) []string {
	var last notBegun
	content, err := project.ReadFile(p.File(notBegunFile), project.MaxPlan)
	if err != nil || json.Unmarshal(content, &last) != nil || !last.At.After(newest) {
		return nil
	}
	said := "relay work could not begin at " + plaintext.LocalTimeOn(last.At, p.Session.Now(), "15:04") + plaintext.Because(last.text())
	return []string{plaintext.Escape(plaintext.Fit(said, 500))}
}
