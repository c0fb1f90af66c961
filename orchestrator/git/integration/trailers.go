package integration

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic/pattern"
)

var (
	// trailerBlock is the last paragraph of a message, if it is behind another one and all of it is trailers: names of letters, digits and
	// dashes, a colon, and a value, which further lines that begin with a blank continue.
	trailerBlock = pattern.New(`\n[ \t\r]*\n((?:(?:[A-Za-z0-9-]+[ \t]*:|\(cherry picked from commit )[^\n]*\n(?:[ \t]+[^ \t\r\n][^\n]*\n)*)+)$`)
	oneTrailer   = pattern.New(`[^ \t\n][^\n]*\n(?:[ \t][^\n]*\n)*`)
	// relaysTrailer begins trailers that are relay's to write.
	relaysTrailer = pattern.New(`^(?i)relay-[a-z0-9-]+[ \t]*:`)
	foldedTrailer = pattern.New(`[ \t\r]*\n`)
)

// WithTrailers adds what is missing of trailers to a commit's message: to the trailers that stand at its end, or as a paragraph of their
// own. Others of relay's that stand there, of a commit that the agent has taken from another task, say, go.
func WithTrailers(message string, trailers []string) string {
	if len(trailers) == 0 {
		return message
	}
	body := trimmed(message)
	text, there := trailersOf(body)
	for {
		own := slices.DeleteFunc(slices.Clone(there), func(t string) bool {
			return relaysTrailer.MatchString(t) && !slices.Contains(trailers, unfolded(t))
		})
		if len(own) == len(there) {
			break
		}
		body = trimmed(text + strings.Join(own, ""))
		message = body
		text, there = trailersOf(body)
	}
	if len(there) == 0 {
		return body + "\n" + strings.Join(trailers, "\n") + "\n"
	}
	added := false
	for _, trailer := range trailers {
		if !slices.ContainsFunc(there, func(t string) bool { return unfolded(t) == trailer }) {
			body, added = body+trailer+"\n", true
		}
	}
	if !added {
		return message
	}
	return body
}

// withPeople returns a message with the trailers Co-authored-by and Signed-off-by of commits, each once.
func withPeople(message string, commits []NamedCommit) string {
	var trailers []string
	_, there := trailersOf(trimmed(message))
	for _, t := range there {
		trailers = append(trailers, unfolded(t))
	}
	for _, c := range commits {
		_, there := trailersOf(trimmed(c.message))
		for _, t := range there {
			name, _, _ := strings.Cut(strings.ToLower(t), ":")
			t = strings.ToValidUTF8(unfolded(t), "\ufffd")
			if (name == "co-authored-by" || name == "signed-off-by") && !slices.Contains(trailers, t) {
				trailers = append(trailers, t)
			}
		}
	}
	return WithTrailers(message, trailers)
}

// trimmed returns a message without blanks at its end, and with a title: else the trailers would be the title.
func trimmed(message string) string {
	return cmp.Or(strings.TrimRight(message, " \t\r\n"), "(no message)") + "\n"
}

// trailersOf returns the trailers at the end of a message, each with the lines that continue it, and the text before them.
func trailersOf(body string) (text string, trailers []string) {
	found := trailerBlock.FindStringSubmatch(body)
	if found == nil {
		return body, nil
	}
	if text = strings.TrimSuffix(body, found[1]); strings.TrimSpace(text) == "" { // the title
		return body, nil
	}
	return text, oneTrailer.FindAllString(found[1], -1)
}

// unfolded returns a trailer on one line, without the blanks at the ends of its lines.
func unfolded(trailer string) string { return foldedTrailer.ReplaceAllString(trailer, "") }
