package plaintext

import (
	"errors"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"
)

// DefaultMessage is the template where the user has none.
const DefaultMessage = "{{.ID}}: {{.Title}}"

// Limits of a message.
const (
	MaxSubject = 72       // characters of a subject
	maxText    = 16 << 10 // bytes of all of it
)

// MessageFields are the names that a template can use.
type MessageFields struct {
	ID        string // of the task
	Title     string
	Kind      string // feature, bugfix, review, chore or verify
	Type      string // the same as conventional commits say it: feat, fix or chore
	Summary   string // what the agent says it has done; it may be empty, or have several lines
	Epic      string // id
	EpicTitle string
}

var (
	errNoSubject = errors.New("it makes an empty subject")
	errTooLong   = errors.New("it makes more than 16 KiB")
)

// CheckMessage returns what is wrong with a template: how it is written, or that it does not work for every task.
func CheckMessage(text string) error {
	for _, f := range []MessageFields{
		{ID: "T", Title: "T", Kind: "chore", Type: "chore", Epic: "e", EpicTitle: "E"},
		{
			ID: "T12", Title: strings.Repeat("word ", 40), Kind: "feature", Type: "feat",
			Summary: "Done.\n\nAll.", Epic: "20260101-e", EpicTitle: "An epic",
		},
	} {
		if _, err := execute(text, f); err != nil {
			return err
		}
	}
	return nil
}

// CommitMessage returns a message without trailers and without a newline at its end: a subject of one line, at most [MaxSubject]
// characters, and what the template makes besides. A subject that is cut begins the body whole. With an error, which [CheckMessage] cannot
// always foresee, it is the message of [DefaultMessage].
func CommitMessage(text string, f MessageFields) (string, error) {
	message, err := execute(text, f)
	if err != nil {
		message, _ = execute(DefaultMessage, f)
	}
	return message, err
}

func execute(text string, f MessageFields) (string, error) {
	for _, field := range []*string{&f.ID, &f.Title, &f.Kind, &f.Type, &f.Epic, &f.EpicTitle} {
		*field = Line(*field)
	}
	f.Summary = withoutTrailers(Clean(f.Summary))
	parsed, err := template.New("commit").Parse(text)
	if err != nil {
		return "", plainly(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&Limited{To: &out, Left: maxText, TooMuch: errTooLong}, f); err != nil {
		return "", plainly(err)
	}
	subject, body, _ := strings.Cut(strings.TrimSpace(Clean(out.String())), "\n")
	subject, body = Line(subject), strings.TrimSpace(body)
	if subject == "" {
		return "", errNoSubject
	}
	if short := shortened(subject); short != subject {
		subject, body = short, strings.TrimSpace(subject+"\n\n"+body)
	}
	if body == "" {
		return subject, nil
	}
	return subject + "\n\n" + body, nil
}

// withoutTrailers returns an agent's text without lines that a search for relay's trailers would find.
func withoutTrailers(summary string) string {
	lines := slices.DeleteFunc(strings.Split(summary, "\n"), func(line string) bool {
		return len(line) >= len("relay-") && strings.EqualFold(line[:len("relay-")], "relay-")
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// plainly returns an error of the template without the name that the package gives it.
func plainly(err error) error {
	if errors.Is(err, errTooLong) {
		return errTooLong
	}
	said := strings.TrimPrefix(Line(err.Error()), "template: commit:")
	if _, field, unknown := strings.Cut(said, "can't evaluate field "); unknown {
		field, _, _ = strings.Cut(field, " ")
		return errors.New("there is no ." + field + "; there are .ID, .Title, .Kind, .Type, .Summary, .Epic and .EpicTitle")
	}
	return errors.New(strings.ReplaceAll(said, `executing "commit" at `, "at "))
}

// shortened returns a subject that is not too long, cut between two words where it can be.
func shortened(subject string) string {
	if utf8.RuneCountInString(subject) <= MaxSubject {
		return subject
	}
	cut := string([]rune(subject)[:MaxSubject-1])
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}
