package runners

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Transcript is the name of the file that has what an agent printed.
const Transcript = "transcript.jsonl"

// TimesFile is the name of the file beside a transcript that says when relay saw it grow. Each of its lines has how many bytes there
// were, and the milliseconds since 1970; the last one says when the process was gone.
const TimesFile = "transcript.times"

// TimesLine returns a line of the file.
func TimesLine(size, ms int64) []byte { return fmt.Appendf(nil, "%d %d\n", size, ms) }

// MessageTimes says when the bytes of a stream were seen.
type MessageTimes struct{ seen []seen }

// seen is one line of the file.
type seen struct{ size, ms int64 }

// ReadTimes reads the file of times in a folder. Without it no time is known.
func ReadTimes(folder string) MessageTimes {
	const most = 16 << 20
	text, _ := ReadRegular(filepath.Join(folder, TimesFile), most) // what was read counts
	return ParseTimes(text)
}

// ParseTimes reads the file. A line that is none is skipped, as is one that goes back in the stream; one without its end is not there
// yet.
func ParseTimes(text []byte) MessageTimes {
	var t MessageTimes
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(line, "\n") {
			t.add(line)
		}
	}
	return t
}

func (t *MessageTimes) add(line string) {
	words := strings.Fields(line)
	if len(words) != 2 {
		return
	}
	size, err := strconv.ParseInt(words[0], 10, 64)
	ms, wrong := strconv.ParseInt(words[1], 10, 64)
	if err == nil && wrong == nil && size >= t.Size() && ms > 0 {
		t.seen = append(t.seen, seen{size, ms})
	}
}

func (t *MessageTimes) last() seen {
	if len(t.seen) == 0 {
		return seen{}
	}
	return t.seen[len(t.seen)-1]
}

// Size returns how many bytes of the stream have a time.
func (t *MessageTimes) Size() int64 { return t.last().size }

// Last returns the last time at which anything was seen; 0: none.
func (t *MessageTimes) Last() int64 { return t.last().ms }

// At returns when the stream was first seen to have so many bytes: that is when the line that ends there was seen. Bytes without a time
// were seen last.
func (t *MessageTimes) At(size int64) int64 {
	i, _ := slices.BinarySearchFunc(t.seen, size, func(s seen, size int64) int {
		if s.size < size {
			return -1
		}
		return 1
	})
	if i == len(t.seen) {
		return t.Last()
	}
	return t.seen[i].ms
}

// First returns the first time at which anything was seen; 0: none.
func (t *MessageTimes) First() int64 {
	if len(t.seen) == 0 {
		return 0
	}
	return t.seen[0].ms
}
