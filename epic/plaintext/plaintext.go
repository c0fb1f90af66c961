// Package plaintext makes text of unknown origin safe to store and to show, finds the lines of it that matter, and writes numbers, times,
// lists and commit messages for people.
//
// commitmessage.go makes the messages of the commits that relay makes of a task, by a template of the user's.
//
// plaintext.go makes text of unknown origin safe to store and to show, and cuts it between two characters. It knows nothing of relay, and
// every package may import it.
//
// statement.go defines an agent's report on its work besides its summary, for packages that read it and packages that keep it.
//
// telling.go finds the lines in the output of a failed command that say why it failed.
//
// It knows forms, not tools: a place in a file with a message, the name of a failed test, an exception, words that mean a failure. The
// end of the output, where most people look first, is often only "exit status 1", a table of coverage or where a log was written.
//
// words.go writes for people: numbers, durations, lists and costs in words, and one line of text of any origin.
package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/parser"
)

const escapeByte = 0x1b

// Clean removes terminal escape sequences and what invisible names, but for newline and tab. Every other line break
// becomes a newline, and each byte that is not UTF-8 becomes U+FFFD.
//
// It is for text that is stored, given to an agent or matched; Escape is for text on its way to a terminal.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if strings.IndexByte(s, escapeByte) >= 0 {
		s = stripSequences(s)
	}
	var before rune
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			r = '\n'
		case invisible(r), unicode.Is(unicode.Noncharacter_Code_Point, r), joins(r) && !joinable(before, r):
			return -1
		}
		before = r
		return r
	}, s)
}

// joins reports a character that is not seen and changes how its neighbours look: joiners, and the choice between text and emoji.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f' }

// joinable reports whether r, which joins, can change anything behind a character. Rows of such characters hide text from people.
func joinable(before, r rune) bool {
	if joins(before) {
		return before == '\ufe0f' && r == '\u200d'
	}
	return before >= '\u00a9' || r == '\ufe0f' && strings.ContainsRune("#*0123456789", before)
}

// stripSequences removes escape sequences line by line, so that one without an end takes its own line at most. The parser reads
// bytes: it takes a lone byte between 0x80 and 0x9f for the beginning of a sequence, and such a byte of a character in a title
// for its end.
func stripSequences(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.IndexByte(line, escapeByte) >= 0 {
			lines[i] = strings.ToValidUTF8(printed(string([]rune(line))), "")
		}
	}
	return strings.Join(lines, "\n")
}

// printed returns what of a text is in no escape sequence. (Package ansi itself does the same, and with it every start of relay would
// wait for tables of the widths of characters.)
func printed(s string) string {
	var b strings.Builder
	state := parser.GroundState
	for i := 0; i < len(s); {
		next, action := parser.Table.Transition(state, s[i])
		size := 1
		switch {
		case next == parser.Utf8State:
			_, size = utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
			next = parser.GroundState
		case action == parser.PrintAction || action == parser.ExecuteAction:
			b.WriteByte(s[i])
		}
		state, i = next, i+size
	}
	return b.String()
}

// isPlain reports that Clean has nothing to do, by looking at ASCII only.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// invisible reports a character that drives a terminal, breaks a line, turns text around or hides text from people, other than newline
// and tab.
func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r >= 0x200e && r <= 0x200f: // direction marks
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f: // separators, bidirectional embeddings and isolates, of no width
		return true
	case r == 0x00ad, r == 0x034f, r == 0x180e, r == 0x200b, r >= 0xfe00 && r <= 0xfe0d, r >= 0xe0000 && r <= 0xe0fff: // with tags, variants
		return true
	}
	return r == 0xfeff
}

// Line is Clean with all white space folded: one line, single spaces, none at its ends.
func Line(s string) string {
	if isLine(s) {
		return s
	}
	return strings.Join(strings.Fields(Clean(s)), " ")
}

// isLine reports that Line has nothing to do, which is the usual case for names.
func isLine(s string) bool {
	space := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = s[i] == ' '
	}
	return s == "" || !space
}

// Escape replaces what Clean removes by an escape that a person can see: a sequence shows what it would have done. The
// escapes are those of JSON, so that a JSON document keeps its meaning. CRLF becomes a newline, and each byte that is not
// UTF-8 becomes U+FFFD.
func Escape(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return invisible(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case invisible(r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Head returns the beginning of s: at most as many bytes as asked for, and no part of a character.
func Head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := max(most, 0)
	for n := 1; n < utf8.UTFMax && end > 0 && !utf8.RuneStart(s[end]); n++ {
		end--
	}
	return s[:end]
}

// Tail returns the end of s: at most as many bytes as asked for, and no part of a character.
func Tail(s string, most int) string {
	if len(s) <= most {
		return s
	}
	begin := len(s) - max(most, 0)
	for n := 1; n < utf8.UTFMax && begin < len(s) && !utf8.RuneStart(s[begin]); n++ {
		begin++
	}
	return s[begin:]
}
