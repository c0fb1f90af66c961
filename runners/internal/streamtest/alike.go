// Package streamtest holds the readers of all CLIs' streams to the same promises.
package streamtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/runners"
	"relay/runners/internal/eventstream"
	"relay/runners/internal/jsonscan"
	"relay/runners/internal/monitor"
	"relay/runners/process"
)

// CLI is how the stream of one CLI is read.
type CLI struct {
	Captured string                                   // folder with captured runs, NAME.jsonl
	Reader   func(runners.Request) eventstream.Reader // reads a stream
	Quick    func(line []byte) bool                   // whether a line is read without being decoded in full
}

// slowly returns a line that means the same and is decoded in full: a name with an escape stands in front.
func slowly(line []byte) []byte {
	begin := bytes.IndexByte(line, '{') + 1
	if begin == 0 || !bytes.HasPrefix(bytes.TrimLeft(line[begin:], " \t\r\n"), []byte(`"`)) {
		return line
	}
	return bytes.Join([][]byte{line[:begin], []byte(`"\u0078":0,`), line[begin:]}, nil)
}

// fold is all that becomes of a stream: what is told of it, its states and its ends.
func fold(create func(runners.Request) eventstream.Reader, lines [][]byte) string {
	var all strings.Builder
	s := create(runners.Request{Session: "s", Observe: func(e runners.Event) { fmt.Fprintf(&all, "%+v\n", e) }})
	var room []byte
	for _, line := range lines {
		room = append(room[:0], line...)
		s.Line(room)
		for i := range room { // which no stream may keep
			room[i] = '!'
		}
		fmt.Fprintf(&all, "%v %+v\n", s.State(), s.Usage())
	}
	for _, e := range []monitor.End{{}, {Exit: process.Exit{Code: 1}}, {Exit: process.Exit{Stopped: true}, Cause: monitor.ErrSilence}} {
		r := s.Report(e)
		fmt.Fprintf(&all, "%+v\n", r.Result)
		r.Result = nil
		fmt.Fprintf(&all, "%+v\n", r)
	}
	return all.String()
}

// alike fails when a stream comes to something else than if each of its lines were decoded in full.
func (c CLI) alike(t *testing.T, lines [][]byte) {
	t.Helper()
	in := make([][]byte, len(lines))
	for i, line := range lines {
		in[i] = slowly(line)
		if object, ok := jsonscan.Object(in[i]); ok && !bytes.Equal(in[i], line) && c.Quick(object) {
			t.Fatalf("not decoded in full: %s", in[i])
		}
	}
	got, want := strings.Split(fold(c.Reader, lines), "\n"), strings.Split(fold(c.Reader, in), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("%s\ngot  %s\nwant %s", bytes.Join(lines, []byte("\n")), strings.Join(got[i:], "\n"), strings.Join(want[i:], "\n"))
		}
	}
}

// lines returns those of all captured runs, by run.
func (c CLI) lines(tb testing.TB) (runs [][][]byte) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(c.Captured, "*.jsonl"))
	if err != nil || len(files) == 0 {
		tb.Fatal(err, "no captured runs in "+c.Captured)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		runs = append(runs, bytes.Split(bytes.TrimSpace(data), []byte("\n")))
	}
	return runs
}

// ReadsAlike fails when a line that is read quickly comes to something else than one that is decoded in full: as it was
// captured, cut, or otherwise than any CLI prints it.
func (c CLI) ReadsAlike(t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(len(filepath.Base(c.Captured)))))
	for _, run := range c.lines(t) {
		c.alike(t, run)
		for range 10 {
			odd := make([][]byte, len(run))
			for i, line := range run {
				odd[i] = line
				if random.IntN(2) == 0 {
					odd[i] = oddly(random, line)
				}
			}
			c.alike(t, odd)
		}
	}
}

// OddReadsAlike is ReadsAlike for lines that chance does not find: for each beginning of them.
func (c CLI) OddReadsAlike(t *testing.T, lines ...string) {
	t.Helper()
	for i := range lines {
		c.alike(t, bytes.Split([]byte(strings.Join(lines[:i+1], "\n")), []byte("\n")))
	}
}

// oddly spoils a line, or says it in another way.
func oddly(random *rand.Rand, line []byte) []byte {
	if len(line) == 0 {
		return line
	}
	at := random.IntN(len(line))
	from := at + max(0, bytes.IndexAny(line[at:], `{":,`))
	put := func(text string) []byte {
		return bytes.Join([][]byte{line[:from+1], []byte(text), line[from+1:]}, nil)
	}
	words := []string{
		"", " ", "\t", "null", "1", "-0.5e3", "01", "1e999", `"`, `\`, `\u00e9`, `\ud83d\ude00`, `\ud800`, "\xff", "\x01", "ſ", "[", "{", "}", ",",
		`"type":"assistant",`, `"Type":"error",`, `"type":null,`, `"error":{"type":"policy_violation"},`, `"message":{"content":[]},`, `"item":null,`,
		`"part":{"cost":1},`, `"cost":"x",`, `"content":[1,{"type":"text","text":"a\n"}],`, `"is_api_error_message":true,`, `"parent_tool_use_id":"t",`, `"":{},`,
	}
	switch random.IntN(6) {
	case 0:
		return line[:at]
	case 1:
		return append(bytes.Clone(line[:at]), line[random.IntN(len(line)):]...)
	case 2:
		return bytes.ReplaceAll(line, []byte(`":`), []byte("\" :\t"))
	case 3:
		return bytes.ToUpper(line)
	}
	return put(words[random.IntN(len(words))])
}

// FuzzReadsAlike is ReadsAlike for whatever the fuzzer finds.
func (c CLI) FuzzReadsAlike(f *testing.F) {
	for _, run := range c.lines(f) {
		f.Add(bytes.Join(run[:min(len(run), 4)], []byte("\n")))
	}
	f.Fuzz(func(t *testing.T, data []byte) { c.alike(t, bytes.Split(data, []byte("\n"))) })
}

// ReadsQuickly fails when the events that make up nearly all of a stream are decoded in full, which takes twenty times as
// long.
func (c CLI) ReadsQuickly(t *testing.T) {
	t.Helper()
	rare := []string{
		`{"type":"system"`, `"type":"result"`, `{"type":"thread.started"`, `{"type":"turn.completed"`, `{"type":"turn.failed"`, `{"type":"init"`, `{"type":"error"`,
		`{"type":"rate_limit_event"`, `"is_api_error_message":true`, `"error":{`,
	}
	for _, run := range c.lines(t) {
		for _, line := range run {
			isRare := func(begin string) bool { return bytes.Contains(line, []byte(begin)) }
			if json.Valid(line) && !c.Quick(line) && bytes.Contains(line, []byte(`"type":`)) && !slices.ContainsFunc(rare, isRare) {
				t.Errorf("decoded in full: %s", line)
			}
		}
	}
}
