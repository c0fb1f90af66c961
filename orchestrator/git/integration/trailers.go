package integration

import (
	"slices"
	"strings"
)

// relayTrailer begins the names of trailers that are relay's to write, compared as git does, whatever their case.
const relayTrailer = "relay-"

// WithTrailers adds what is missing of trailers to a commit's message: to the trailers that stand at its end, as git
// tells them from text, or as a paragraph of their own. Others of relay's that stand there, of a commit that the agent has
// taken from another task, say, go.
func WithTrailers(message string, trailers []string) string {
	if len(trailers) == 0 {
		return message
	}
	body := trimmed(message)
	head, block := trailerBlock(body)
	for own := withoutOthers(block, trailers); len(own) < len(block); own = withoutOthers(block, trailers) {
		body = trimmed(head + strings.Join(own, ""))
		message = body
		head, block = trailerBlock(body)
	}
	if block == nil {
		return body + "\n" + strings.Join(trailers, "\n") + "\n"
	}
	there := unfolded(block)
	added := false
	for _, trailer := range trailers {
		if !slices.Contains(there, trailer) {
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
	_, block := trailerBlock(trimmed(message))
	trailers := unfolded(block)
	for _, c := range commits {
		_, block := trailerBlock(trimmed(c.message))
		for _, trailer := range unfolded(block) {
			name, _, _ := strings.Cut(strings.ToLower(trailer), ":")
			trailer = strings.ToValidUTF8(trailer, "\ufffd")
			if (name == "co-authored-by" || name == "signed-off-by") && !slices.Contains(trailers, trailer) {
				trailers = append(trailers, trailer)
			}
		}
	}
	return WithTrailers(message, trailers)
}

// trimmed returns a message without empty lines at its end, and with a title.
func trimmed(message string) string {
	end := len(message)
	for end > 0 {
		start := strings.LastIndexByte(message[:end-1], '\n') + 1
		if !blank(message[start:end]) {
			break
		}
		end = start
	}
	body := message[:end]
	if body == "" {
		body = "(no message)" // else the trailers would be the title
	}
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	return body
}

// withoutOthers returns the lines of a block of trailers without those that are named like relay's and are not wanted.
func withoutOthers(block, wanted []string) []string {
	var kept []string
	for len(block) > 0 {
		lines := 1 // of this trailer
		for lines < len(block) && continues(block[lines]) {
			lines++
		}
		if trailer := unfolded(block[:lines])[0]; !isRelays(trailer) || slices.Contains(wanted, trailer) {
			kept = append(kept, block[:lines]...)
		}
		block = block[lines:]
	}
	return kept
}

// isRelays reports whether a line is a trailer that only relay writes.
func isRelays(line string) bool {
	return isTrailer(line) && len(line) > len(relayTrailer) && strings.EqualFold(line[:len(relayTrailer)], relayTrailer)
}

// trailerBlock returns the lines of the last paragraph when they are trailers, and what is before them: when all are, or a
// quarter and one of them is git's own. The title never is one.
func trailerBlock(body string) (head string, block []string) {
	lines := slices.Collect(strings.Lines(body))
	start := len(lines)
	for start > 0 && !blank(lines[start-1]) {
		start--
	}
	head = strings.Join(lines[:start], "")
	if blank(head) {
		return body, nil // the title
	}
	block = lines[start:]
	trailers, others, continued, gits := 0, 0, 0, false
	for _, line := range slices.Backward(block) {
		switch {
		case strings.HasPrefix(line, "Signed-off-by: "), strings.HasPrefix(line, "(cherry picked from commit "):
			trailers, continued, gits = trailers+1, 0, true
		case isTrailer(line):
			trailers, continued = trailers+1, 0
		case continues(line):
			continued++
		default:
			others, continued = others+continued+1, 0
		}
	}
	others += continued
	if gits && trailers*3 >= others || trailers > 0 && others == 0 {
		return head, block
	}
	return body, nil
}

// continues reports whether a line goes on with the trailer before it.
func continues(line string) bool { return line[0] == ' ' || line[0] == '\t' }

// blank reports whether git takes a line for an empty one.
func blank(line string) bool { return strings.Trim(line, " \t\r\n") == "" }

// isTrailer reports whether a line is a name of letters, digits and dashes, a colon, and a value.
func isTrailer(line string) bool {
	name, _, ok := strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// unfolded returns trailers with their continuation lines, without the blanks at their ends.
func unfolded(lines []string) []string {
	var out []string
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r\n")
		if last := len(out) - 1; last >= 0 && continues(line) {
			out[last] += line
			continue
		}
		out = append(out, line)
	}
	return out
}
