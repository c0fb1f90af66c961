// Package chain links the lines of event logs by hashes, and holds them against a head that is kept elsewhere: who changes, adds or
// removes lines has to change the head as well.
//
// The link of a line is the hash of all lines before it. Logs of earlier versions have no links; the first line with one covers them. The
// head is the last line at the time of a snapshot. Lines that follow it by their links are relay's if relay was killed while it wrote.
package chain

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Head is what is kept of a chain.
type Head struct {
	Seq   uint64 `json:"seq"` // of the last line; 0: there was none
	Sum   string `json:"sum"`
	Since uint64 `json:"since,omitempty"` // nothing proves the events before this one: a person accepted them, or there was no head
	Open  bool   `json:"open,omitempty"`  // relay writes, or was killed: the last line may be a later one
	Held  bool   `json:"held,omitempty"`  // all checks have passed on what the events before Since say
}

// Chain is the hash of the lines so far. Its lines are read first, and then written. A nil Chain takes every line.
type Chain struct {
	Head Head
	Link string // of the next line
	Bad  uint64 // the first event that is not proved; 0: none is known

	file   string // of the head; "": none is kept
	seq    uint64 // of the last line
	linked bool   // a line has had a link
	late   bool   // Bad was added late, and nothing else is wrong
	doubt  string // why a line since Head.Since is not proved
}

// New returns a chain without lines and the head that a file has. With accept it takes all lines, whatever proves them.
func New(file string, accept bool) *Chain {
	c := &Chain{file: file}
	text, _ := os.ReadFile(file)
	_ = json.Unmarshal(text, &c.Head) // a power cut may leave an empty file
	if accept {
		c.Head.Since, c.doubt = math.MaxUint64, "you accepted them"
	}
	return c
}

// Again forgets the lines. The next one has the number after last, if that is known.
func (c *Chain) Again(last uint64) {
	if c != nil {
		c.Link, c.Bad, c.seq, c.linked = "", 0, last, false
	}
}

// Read takes a line with its link, and returns why it is not proved. A late one may be of a relay on another machine.
func (c *Chain) Read(seq uint64, link string, line []byte) (why string, late bool) { //nolint:gocyclo // a list of cases
	if c == nil {
		return "", false
	}
	last, added := c.Head.Seq, c.Head.Seq > 0 && seq > c.Head.Seq
	bare := link == "" && c.linked && seq > last // after the head: an earlier version writes so
	if c.seq == 0 && added {                     // a log that begins with all that earlier ones came to
		c.seq, c.Link, c.linked = last, c.Head.Sum, true
	}
	before, gap, at := c.seq, c.seq > 0 && seq != c.seq+1, max(seq, c.seq+1)
	if c.Link = cmp.Or(c.Link, link); gap { // lines are missing, and the head may prove the others
		c.Link, c.doubt = link, "events are missing"
	}
	broken := link == "" && c.linked && !bare || link != "" && link != c.Link
	c.linked = c.linked || link != ""
	c.Add(seq, line, false)
	switch {
	case broken, gap && last > 0 && (seq <= before || added): // perhaps since the line before was another one
		return c.judge(at, before, false, fmt.Sprintf("event %d does not follow from the line before it: one of them was changed or added, or a line was removed", seq)), false
	case seq == last && c.Link != c.Head.Sum:
		return c.judge(at, 1, false, fmt.Sprintf("up to event %d these are not the lines that relay wrote", seq)), false
	case bare:
		why = c.judge(at, at, true, fmt.Sprintf("event %d has no link, as if an earlier version of relay wrote it", seq))
	case added && !c.Head.Open:
		why = c.judge(at, at, true, fmt.Sprintf("event %d was added after relay ended", seq))
	}
	return why, why != ""
}

// End returns why the lines that were read are not all. Nothing is missing of a ledger that is new.
func (c *Chain) End(fresh bool) string {
	if c == nil || c.seq >= c.Head.Seq || c.seq == 0 && fresh {
		return ""
	}
	return c.judge(c.Head.Seq, c.seq+1, false, fmt.Sprintf("events %d to %d are missing: relay wrote them", c.seq+1, c.Head.Seq))
}

func (c *Chain) judge(seq, bad uint64, late bool, why string) string {
	if seq < c.Head.Since || c.Bad > 0 && (late || !c.late) {
		return ""
	}
	c.doubt, c.late, c.Bad = why, late, cmp.Or(c.Bad, max(bad, c.Head.Since, 1))
	return why
}

// Add takes a line that follows, as the next head if head is set.
func (c *Chain) Add(seq uint64, line []byte, head bool) {
	sum := sha256.Sum256(append([]byte(c.Link), bytes.TrimSuffix(line, []byte("\n"))...))
	c.seq, c.Link = seq, hex.EncodeToString(sum[:16])
	if head {
		c.Head.Seq, c.Head.Sum = c.seq, c.Link
	}
}

// Begin ends reading: events from next on are written. It warns when nothing proves those before.
func (c *Chain) Begin(next uint64, warn func(string)) {
	if c.Head == (Head{}) && c.linked && c.file != "" {
		c.doubt = c.file + " is missing, as on another machine"
	}
	if c.seq == 0 || c.doubt != "" { // the head may be that of an earlier ledger in the same place
		c.Head = Head{}
	}
	if c.doubt != "" {
		c.Head.Since = next
		warn(fmt.Sprintf("nothing but your word proves the events before %d, and relay finish runs all checks first: %s", next, c.doubt))
	}
	c.Save(true)
}

// Save writes the head. It does not sync it and returns no error: an older head proves as much, and relay reports a missing one.
func (c *Chain) Save(open bool) {
	c.Head.Open = open || c.seq != c.Head.Seq
	text, err := json.Marshal(c.Head)
	if c.file != "" && errors.Join(err, os.MkdirAll(filepath.Dir(c.file), 0o700), os.WriteFile(c.file+".new", text, 0o600)) == nil {
		_ = os.Rename(c.file+".new", c.file)
	}
}
