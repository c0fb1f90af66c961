package integration

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
)

// commitObject is a commit as git stores it, byte for byte: what is not asked to change does not.
type commitObject struct {
	header  []string // one for each field, with the lines that continue it
	message string
}

var errNoCommit = errors.New("git gave something that is no commit")

func parseCommit(raw string) (c commitObject, err error) {
	head, message, _ := strings.Cut(raw, "\n\n")
	c.message = message
	for line := range strings.SplitSeq(strings.TrimSuffix(head, "\n"), "\n") {
		if last := len(c.header) - 1; last >= 0 && strings.HasPrefix(line, " ") {
			c.header[last] += "\n" + line
			continue
		}
		c.header = append(c.header, line)
	}
	if c.Tree() == "" {
		return c, errNoCommit
	}
	return c, nil
}

func (c commitObject) values(name string) (found []string) {
	for _, field := range c.header {
		if value, ok := strings.CutPrefix(field, name+" "); ok {
			found = append(found, value)
		}
	}
	return found
}

func (c commitObject) Parents() []string { return c.values("parent") }

func (c commitObject) Tree() string {
	if trees := c.values("tree"); len(trees) == 1 {
		return trees[0]
	}
	return ""
}

// Copies reports whether two commits have one author, time and message, as one has that was picked or replayed.
func (c commitObject) Copies(other NamedCommit) bool {
	return c.message == other.message && slices.Equal(c.values("author"), other.values("author"))
}

// on returns the commit with another tree and other parents, and without the signatures that those break.
func (c commitObject) on(tree string, parents ...string) commitObject {
	header := []string{"tree " + tree}
	for _, p := range parents {
		header = append(header, "parent "+p)
	}
	for _, field := range c.header {
		switch name, _, _ := strings.Cut(field, " "); name {
		case "tree", "parent", "gpgsig", "gpgsig-sha256", "mergetag":
		default:
			header = append(header, field)
		}
	}
	return commitObject{header: header, message: c.message}
}

// by returns the commit with another committer.
func (c commitObject) by(committer string) commitObject {
	c.header = slices.Clone(c.header)
	for i, field := range c.header {
		if strings.HasPrefix(field, "committer ") {
			c.header[i] = "committer " + committer
		}
	}
	return c
}

func (c commitObject) bytes() []byte {
	return []byte(strings.Join(c.header, "\n") + "\n\n" + c.message)
}

// objects are commits on their way into the repository.
type objects struct {
	wide   bool // the repository's hashes are SHA-256
	bodies [][]byte
}

// add adds a commit to the objects and returns the name git will give it.
func (o *objects) add(c commitObject) string {
	body := c.bytes()
	o.bodies = append(o.bodies, body)
	h := gitcmd.NewHash(o.wide)
	fmt.Fprintf(h, "commit %d\x00", len(body))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// pack returns all of them in the form in which git takes many objects at once (gitformat-pack).
func (o *objects) pack() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("PACK")
	for _, n := range []int{2, len(o.bodies)} {
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(n)))
	}
	const kindCommit = 1 << 4
	for _, body := range o.bodies {
		size := len(body)
		next := byte(kindCommit | size&0x0f)
		for size >>= 4; size > 0; size >>= 7 {
			out.WriteByte(next | 0x80)
			next = byte(size & 0x7f)
		}
		out.WriteByte(next)
		z := zlib.NewWriter(&out)
		if _, err := z.Write(body); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
	}
	h := gitcmd.NewHash(o.wide)
	h.Write(out.Bytes())
	return h.Sum(out.Bytes()), nil
}
