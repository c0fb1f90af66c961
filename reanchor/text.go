package reanchor

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"relay/epic/each"
	"relay/epic/plaintext"
)

// longestRun is how many backticks in a row are left in quoted text: the fence around it has to be longer.
const longestRun = 16

// oneLines makes each text fit for a line.
func oneLines(texts []string, max int) []string {
	return each.Of(texts, func(t string) string { return plaintext.ShortLine(t, max) })
}

// clip keeps the first max bytes of s, or the last, and never half a character.
func clip(s string, max int, tail bool) string {
	if tail {
		return plaintext.Tail(s, max)
	}
	return plaintext.Head(s, max)
}

// pathText shows a path. An odd one is quoted, so that a line break in a name begins no line here.
func pathText(path string) string {
	if len(path) > 300 {
		path = plaintext.Head(path, 300) + "…"
	}
	for _, r := range path {
		if r == utf8.RuneError || r == '"' || r == '`' || !strconv.IsPrint(r) {
			return strconv.Quote(path)
		}
	}
	if strings.HasPrefix(path, " ") || strings.HasSuffix(path, " ") {
		return strconv.Quote(path)
	}
	return path
}

// lineCount counts the lines in the last so many bytes of a text, or with head the first, of which one may be a part.
func lineCount(bytes int, s string, head bool) int {
	part := s[len(s)-bytes:]
	if head {
		part = s[:bytes]
	}
	if part = strings.Trim(part, "\n"); part == "" {
		return 0
	}
	return strings.Count(part, "\n") + 1
}

// quotable returns text made ready to stand between two fences, and how many lines of it had to go.
func quotable(s string, max int, tail bool) (body string, lost int) {
	short := clip(s, max, tail)
	body = shorten(strings.Trim(plaintext.Clean(short), "\n"))
	if strings.TrimSpace(body) == "" {
		return "", 0
	}
	return body, lineCount(len(s)-len(short), s, tail)
}

// shorten breaks up long runs of backticks, so that a fence stays a short line.
func shorten(s string) string {
	run := strings.Repeat("`", longestRun)
	if !strings.Contains(s, run+"`") {
		return s
	}
	return strings.ReplaceAll(s, run, run[1:]+" ")
}

// fenceFor is longer than any run of backticks in s, and three at least.
func fenceFor(s string) string {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(3, longest+1))
}
