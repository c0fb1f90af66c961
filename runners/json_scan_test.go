package runners

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/runners/internal/jsonscan"
	"relay/runners/process"
)

// readers read a stream, or say whether a line of it is read without decoding it in full.
var readers = map[string]struct {
	stream func(Request) stream
	quick  func(line []byte) bool
}{
	"claude": {
		func(req Request) stream { return &claudeStream{req: req, now: longAgo} },
		func(line []byte) bool { return new(claudeTurn).read(line, nil) },
	},
	"codex": {
		func(req Request) stream { return &codexStream{req: req, now: longAgo} },
		func(line []byte) bool { return new(codexTurn).read(line) },
	},
	"gemini": {
		func(req Request) stream { return &geminiStream{req: req, now: longAgo} },
		func(line []byte) bool { return new(geminiTurn).read(line) },
	},
	"opencode": {
		func(req Request) stream { return &opencodeStream{req: req, now: longAgo} },
		func(line []byte) bool { return new(opencodeEvent).read(line) },
	},
}

func longAgo() time.Time { return time.Unix(1_795_000_000, 0).UTC() }

// slowly is a line that means the same and is decoded in full: a name with an escape stands in front.
func slowly(line []byte) []byte {
	begin := bytes.IndexByte(line, '{') + 1
	if begin == 0 || !bytes.HasPrefix(bytes.TrimLeft(line[begin:], " \t\r\n"), []byte(`"`)) {
		return line
	}
	return bytes.Join([][]byte{line[:begin], []byte(`"\u0078":0,`), line[begin:]}, nil)
}

// fold is all that becomes of a stream: what is told of it, its moods and its ends.
func fold(create func(Request) stream, lines [][]byte) string {
	var all strings.Builder
	s := create(Request{Session: "s", Observe: func(e Event) { fmt.Fprintf(&all, "%+v\n", e) }})
	var room []byte
	for _, line := range lines {
		room = append(room[:0], line...)
		s.line(room)
		for i := range room { // which no stream may keep
			room[i] = '!'
		}
		fmt.Fprintf(&all, "%v %+v\n", s.mood(), s.usage())
	}
	for _, e := range []end{{}, {exit: process.Exit{Code: 1}}, {exit: process.Exit{Stopped: true}, cause: errSilence}} {
		r := s.report(e)
		fmt.Fprintf(&all, "%+v\n", r.Result)
		r.Result = nil
		fmt.Fprintf(&all, "%+v\n", r)
	}
	return all.String()
}

// alike fails when a stream comes to something else than if each of its lines were decoded in full.
func alike(t *testing.T, cli string, lines [][]byte) {
	t.Helper()
	in := make([][]byte, len(lines))
	for i, line := range lines {
		in[i] = slowly(line)
		if object, ok := jsonscan.Object(in[i]); ok && !bytes.Equal(in[i], line) && readers[cli].quick(object) {
			t.Fatalf("%s: not decoded in full: %s", cli, in[i])
		}
	}
	got, want := strings.Split(fold(readers[cli].stream, lines), "\n"), strings.Split(fold(readers[cli].stream, in), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("%s: %s\ngot  %s\nwant %s", cli, bytes.Join(lines, []byte("\n")), strings.Join(got[i:], "\n"), strings.Join(want[i:], "\n"))
		}
	}
}

// capturedLines are the lines of all captured runs of a CLI, by run.
func capturedLines(t testing.TB, cli string) (runs [][][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", cli, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no captured runs of "+cli)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, bytes.Split(bytes.TrimSpace(data), []byte("\n")))
	}
	return runs
}

// TestReadsAlike fails when a line that is read quickly comes to something else than one that is decoded in full: as it
// was captured, cut, or otherwise than any CLI prints it.
func TestReadsAlike(t *testing.T) {
	t.Parallel()
	for cli := range readers {
		random := rand.New(rand.NewPCG(1, uint64(len(cli))))
		for _, run := range capturedLines(t, cli) {
			alike(t, cli, run)
			for range 10 {
				odd := make([][]byte, len(run))
				for i, line := range run {
					odd[i] = line
					if random.IntN(2) == 0 {
						odd[i] = oddly(random, line)
					}
				}
				alike(t, cli, odd)
			}
		}
	}
}

// TestOddReadsAlike is TestReadsAlike for what chance does not find.
func TestOddReadsAlike(t *testing.T) {
	t.Parallel()
	for cli, lines := range map[string][]string{
		"claude": {
			`{"message":{"id":"m","content":[{"type":"text","text":"first"}],"usage":{"input_tokens":5}},"type":"assistant"}`,
			`{"type":"assistant","message":{"id":"n","content":[{"type":"text","text":"mine"}]},"parent_tool_use_id":null}`,
			`{"type":"assistant","message":{"id":"o","content":[{"type":"text","text":"a subagent's"}]},"parent_tool_use_id":"t"}`,
			`{"type":"user","message":{"content":"text"}}`,
		},
		"codex": {
			`{"item":{"id":"a","type":"command_execution"},"type":"item.started"}`,
			`{"type":"item.completed","item":{"id":"a","type":"file_change","ſtatus":"failed","changes":[{"path":"x"},1]}}`,
		},
		"gemini": {
			`{"type":"tool_use","tool_name":"replace","tool_id":"a","parameters":{"path":"x"}}`,
			`{"type":"tool_result","tool_id":"a","error":{"type":"policy_violation"}}`,
		},
		"opencode": {
			`{"type":"text","ſessionID":"ses_1","part":{"text":"a","Synthetic":true}}`,
			`{"type":"text","part":{"ſynthetic":true,"text":"b"}}`,
		},
	} {
		for i := range lines {
			alike(t, cli, bytes.Split([]byte(strings.Join(lines[:i+1], "\n")), []byte("\n")))
		}
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

func FuzzReadsAlike(f *testing.F) {
	for cli := range readers {
		for _, run := range capturedLines(f, cli) {
			f.Add(bytes.Join(run[:min(len(run), 4)], []byte("\n")))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for cli := range readers {
			alike(t, cli, bytes.Split(data, []byte("\n")))
		}
	})
}

// TestReadsQuickly fails when the events that make up nearly all of a stream are decoded in full, which takes twenty times
// as long.
func TestReadsQuickly(t *testing.T) {
	t.Parallel()
	rare := []string{
		`{"type":"system"`, `"type":"result"`, `{"type":"thread.started"`, `{"type":"turn.completed"`, `{"type":"turn.failed"`, `{"type":"init"`, `{"type":"error"`,
		`{"type":"rate_limit_event"`, `"is_api_error_message":true`, `"error":{`,
	}
	for cli, r := range readers {
		for _, run := range capturedLines(t, cli) {
			for _, line := range run {
				isRare := func(begin string) bool { return bytes.Contains(line, []byte(begin)) }
				if json.Valid(line) && !r.quick(line) && bytes.Contains(line, []byte(`"type":`)) && !anyOf(rare, isRare) {
					t.Errorf("%s: decoded in full: %s", cli, line)
				}
			}
		}
	}
}

func anyOf(words []string, is func(string) bool) bool {
	for _, word := range words {
		if is(word) {
			return true
		}
	}
	return false
}
