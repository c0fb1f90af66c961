package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"relay/epic/plaintext"
	"relay/runners"
)

// FenceName is the info string of the block an agent may end its final message with.
const FenceName = "relay-result"

// FencedResult reads the last fenced relay-result block of an agent's final message. The bool says whether there is
// such a block; the error, why it is not a result.
func FencedResult(finalText string) (runners.Result, bool, error) {
	body, found, closed := lastFence(finalText)
	if !found {
		return runners.Result{}, false, nil
	}
	if !closed {
		return runners.Result{}, true, errors.New("the " + FenceName + " block has no end")
	}
	r, err := runners.ParseResult([]byte(body))
	return r, true, err
}

// lastFence finds the body of the last block opened by a line of three or more backticks or tildes and the name.
func lastFence(text string) (body string, found, closed bool) {
	var fence string // of the open block; "" outside
	var start int
	eachLine(text, func(line string, from, to int) {
		switch marks := leadingMarks(line); {
		case marks != "" && firstWord(line[len(marks):]) == FenceName:
			fence, start, found, closed = marks, to, true, false
			body = text[to:]
		case fence != "" && marks == line && strings.HasPrefix(marks, fence):
			body, fence, closed = text[start:from], "", true
		}
	})
	return body, found, closed
}

// eachLine calls do with each line of a text, trimmed, and where it begins and ends.
func eachLine(text string, do func(line string, from, to int)) {
	from := 0
	for line := range strings.Lines(text) {
		do(strings.TrimSpace(line), from, from+len(line))
		from += len(line)
	}
}

// leadingMarks returns the run of backticks or tildes a line begins with, when it is long enough to open a block.
func leadingMarks(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := len(line) - len(strings.TrimLeft(line, line[:1]))
	if n < 3 {
		return ""
	}
	return line[:n]
}

func firstWord(s string) string {
	if words := strings.Fields(plaintext.Head(s, 200)); len(words) > 0 {
		return words[0]
	}
	return ""
}

// looseResult reads a result that stands in a final message without relay's mark: in its last closed block, when that is
// one of json or of nothing in particular, or as all there is of the message.
func looseResult(finalText string) (runners.Result, bool) {
	body := strings.TrimSpace(finalText)
	if !strings.HasPrefix(body, "{") {
		body = lastJSON(finalText)
	}
	if body == "" {
		return runners.Result{}, false
	}
	r, err := runners.ParseResult([]byte(body))
	r.Loose = true
	return r, err == nil
}

// lastJSON returns the body of the last closed block of a text, unless that is marked as something else than json.
func lastJSON(text string) string {
	var fence, info, body string // fence is that of the open block; "" outside
	var start int
	eachLine(text, func(line string, from, to int) {
		switch marks := leadingMarks(line); {
		case fence == "" && marks != "":
			fence, info, start = marks, strings.ToLower(firstWord(line[len(marks):])), to
		case fence != "" && marks == line && strings.HasPrefix(marks, fence):
			body, fence = text[start:from], ""
			if info != "" && info != "json" {
				body = ""
			}
		}
	})
	return body
}

// FindResult finds what the agent says of its work: the structured output of its CLI, else the result file, else the last
// fenced block of its final message, else a block that is a result but for its mark. It returns the first that can be read;
// when none can, the error of the first that is there. No result at all is (nil, nil).
func FindResult(structured []byte, file, finalText string) (*runners.Result, error) {
	var first error
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	if len(structured) > 0 {
		r, err := runners.ParseResult(structured)
		if err == nil {
			return &r, nil
		}
		note(fmt.Errorf("structured output: %w", err))
	}
	if file != "" {
		data, err := runners.ReadResultFile(file)
		if err == nil {
			var r runners.Result
			if r, err = runners.ParseResult(data); err == nil {
				return &r, nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			note(fmt.Errorf("result file: %w", err))
		}
	}
	r, found, err := FencedResult(finalText)
	switch {
	case found && err == nil:
		return &r, nil
	case found:
		note(err)
	}
	if r, ok := looseResult(finalText); ok {
		return &r, nil
	}
	return nil, first
}
