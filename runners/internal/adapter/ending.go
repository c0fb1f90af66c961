package adapter

import (
	"bytes"

	"relay/runners"
)

// Ending keeps the end of a text that grows: a result stands there.
type Ending []byte

const maxEnding = 2 * runners.MaxFinal // bytes that count

// Add adds to the text.
func (t *Ending) Add(text string) {
	*t = append(*t, text[max(0, len(text)-maxEnding):]...)
	if len(*t) > 4*maxEnding {
		*t = bytes.Clone(t.Last(maxEnding))
	}
}

// Last returns at most so many bytes of the end.
func (t Ending) Last(limit int) []byte { return t[max(0, len(t)-limit):] }

// Head returns the beginning of what counts, as much as an event shows.
func (t Ending) Head() string {
	last := t.Last(maxEnding)
	return string(last[:min(len(last), EventHead)])
}
