package reanchor

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"relay/attempts"
)

// longestRun is how many backticks in a row are left in quoted text: the fence around it has to be longer.
const longestRun = 16

// plain makes text of any origin fit to be shown: valid UTF-8 without control characters, at most max bytes of it.
func plain(s string, max int) string {
	s = strings.TrimSuffix(attempts.Clean(clip(s, max, false), 4*max+64), "\n")
	return clip(s, max, false)
}

// oneLine makes text fit for a line of relay's own. The dots at its end stand for what is left out.
func oneLine(s string, max int) string {
	if len(s) <= max && tidy(s) {
		return s
	}
	whole := len(s)
	s = attempts.Clean(clip(s, 4*max, false), 16*max+64)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > max || whole > 4*max {
		s = clip(s, max-len("…"), false) + "…"
	}
	return s
}

// tidy reports that there is nothing to do for a line, which is the usual case.
func tidy(s string) bool {
	blank := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || blank && c == ' ' {
			return false
		}
		blank = c == ' '
	}
	return s == "" || !blank
}

// clip keeps the first max bytes of s, or the last, and never half a character.
func clip(s string, max int, tail bool) string {
	if len(s) <= max {
		return s
	}
	if max <= 0 {
		return ""
	}
	if tail {
		i := len(s) - max
		for n := 0; n < utf8.UTFMax && i < len(s) && !utf8.RuneStart(s[i]); n++ {
			i++
		}
		return s[i:]
	}
	i := max
	for n := 0; n < utf8.UTFMax && i > 0 && !utf8.RuneStart(s[i]); n++ {
		i--
	}
	return s[:i]
}

// pathText shows a path. An odd one is quoted, so that a line break in a name begins no line here.
func pathText(path string) string {
	if len(path) > 300 {
		path = clip(path, 300, false) + "…"
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

// quotable is text made ready to stand between two fences, and how many bytes of it had to go.
func quotable(s string, max int, tail bool) (body string, lost int) {
	short := clip(s, max, tail)
	body = shorten(strings.Trim(attempts.Clean(short, 4*max+64), "\n"))
	if strings.TrimSpace(body) == "" {
		return "", 0
	}
	return body, len(s) - len(short)
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
