package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/runners"
)

// FenceName is the info string of the block an agent may end its final message with.
const FenceName = "relay-result"

// FencedResult reads the last fenced relay-result block of an agent's final message. The bool says whether there is
// such a block; the error, why it is not a result.
func FencedResult(finalText string) (runners.Result, bool, error) {
	for _, b := range slices.Backward(blocksOf(finalText)) {
		switch {
		case b.info != FenceName:
			continue
		case !b.closed:
			return runners.Result{}, true, errors.New("the " + FenceName + " block has no end")
		}
		r, err := runners.ParseResult([]byte(b.body))
		return r, true, err
	}
	return runners.Result{}, false, nil
}

// block is a part of a text that is fenced by lines of three or more backticks or tildes.
type block struct {
	info, body string
	closed     bool
}

// blocksOf returns the blocks of a text. One of relay's may begin inside another one, which has no end then.
func blocksOf(text string) (all []block) {
	fence, start, from := "", 0, 0 // fence is that of the open block; "" outside
	for line := range strings.Lines(text) {
		next, line := from+len(line), strings.TrimSpace(line)
		switch marks := leadingMarks(line); {
		case marks == "":
		case fence == "" || firstWord(line[len(marks):]) == FenceName:
			all, fence, start = append(all, block{info: firstWord(line[len(marks):])}), marks, next
		case marks == line && strings.HasPrefix(marks, fence):
			all[len(all)-1].body, all[len(all)-1].closed, fence = text[start:from], true, ""
		}
		from = next
	}
	return all
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
		var last block
		for _, b := range blocksOf(finalText) {
			if b.closed {
				last = b
			}
		}
		if info := strings.ToLower(last.info); info != "" && info != "json" {
			return runners.Result{}, false
		}
		body = last.body
	}
	r, err := runners.ParseResult([]byte(body))
	r.Loose = true
	return r, err == nil
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
