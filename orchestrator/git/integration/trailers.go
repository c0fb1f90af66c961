package integration

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/pattern"
)

var (
	// lastParagraph is the last paragraph of a message, if it is behind another one.
	lastParagraph = pattern.New(`\n[ \t\r]*\n((?:[ \t]*[^ \t\r\n][^\n]*\n)+)$`)
	foldedLine    = pattern.New(`[^\n]+\n(?:[ \t][^\n]*\n)*`) // with the lines that continue it
	oneTrailer    = pattern.New(`^(?:[A-Za-z0-9-]+[ \t]*:|\(cherry picked from commit )`)
	gitsTrailer   = pattern.New(`^(?:Signed-off-by: |\(cherry picked from commit )`)
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
	_, there := trailersOf(trimmed(message))
	trailers := each.Of(there, unfolded)
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

// trailersOf returns the last paragraph of a message, each line with those that continue it, and the text before it, if git reads trailers
// there: all are trailers, or a quarter is and git itself writes one of them.
func trailersOf(body string) (text string, trailers []string) {
	found := lastParagraph.FindStringSubmatch(body)
	if found == nil || strings.Trim(strings.TrimSuffix(body, found[1]), " \t\r\n") == "" { // the title
		return body, nil
	}
	count, others, gits := 0, 0, false
	trailers = foldedLine.FindAllString(found[1], -1)
	for _, t := range trailers {
		if oneTrailer.MatchString(t) {
			count, gits = count+1, gits || gitsTrailer.MatchString(t)
		} else {
			others += strings.Count(t, "\n")
		}
	}
	if others > 0 && !(gits && 3*count >= others) {
		return body, nil
	}
	return strings.TrimSuffix(body, found[1]), trailers
}

// unfolded returns a trailer on one line, without the blanks at the ends of its lines.
func unfolded(trailer string) string { return foldedTrailer.ReplaceAllString(trailer, "") }
