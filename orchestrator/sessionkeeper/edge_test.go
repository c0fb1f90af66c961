package sessionkeeper

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"relay/attempts/sessions"
	"relay/epic/slowtest"
	"relay/orchestrator/relayfiles"
	"relay/runners"
	"relay/runners/kinds"
	"relay/runners/process"
)

// contents returns what the messages of a role say, in their order.
func (r *table) contents(role string) (list []string) {
	bySequence := map[int64]string{}
	for _, m := range r.messages {
		if m.Role == role {
			bySequence[m.Sequence] = m.Content
		}
	}
	for i := range int64(len(r.messages)) {
		if text, ok := bySequence[i]; ok {
			list = append(list, text)
		}
	}
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

const (
	codexBegan = `{"type":"thread.started","thread_id":"th"}` + "\n"
	codexCalls = `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"sleep 9"}}` + "\n"
)

func codexSays(id int, text string) string {
	return fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_%d","type":"agent_message","text":%q}}`+"\n", id, text)
}

// TestUnreadableLines: lines that cannot be read are messages with their place, many in a row one.
func TestUnreadableLines(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	dir := n.begin("", "do it")
	n.say(dir, "warning: \xff old\n"+codexBegan+codexSays(0, "one")+"noise\n{\"torn\":\n{]\n"+codexSays(2, "two")+`{"type":"item.comp`, began, false)
	n.say(dir, `leted","item":{"id":"item_3","type":"agent_message","text":"three"}}`+"\n{\"type\"", began+1, true)
	rows := n.again()
	equal(t, "noise", rows.contents(sessions.System), []string{
		"lines from byte 143 on cannot be read; the first: noise",
	})
	equal(t, "said", rows.contents(sessions.Assistant), []string{"one", "two", "three"})
}

// TestOpenCalls: a call that ran when the process ended was cancelled then.
func TestOpenCalls(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	dir := n.begin("", "do it")
	n.say(dir, codexBegan+codexSays(0, "I wait.")+codexCalls, began, false)
	n.say(dir, "", began+9000, true)
	rows := n.again()
	c := rows.calls["th:0:item_1"]
	if c.Status != sessions.Cancelled || c.StartedAt != began || c.CompletedAt != began+9000 || c.ParamsJSON != `{"command":"sleep 9"}` {
		t.Errorf("at its end: %+v", c)
	}
	if turn := rows.turns["th:0:item_0"]; turn.ToolCalls != 1 || turn.QueryMessages != `["th:0:prompt"]` {
		t.Errorf("its turn: %+v", turn)
	}
}

// TestHole: the middle of a stream that is longer than what is kept of one becomes a message, and the times of what follows are right.
func TestHole(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	dir := n.begin("", "do it")
	n.say(dir, codexBegan, began, false)
	for i := range 3000 {
		n.say(dir, codexSays(i, "number "+fmt.Sprint(i)), began+int64(i), i == 2999)
	}
	dropped, err := process.Compact(filepath.Join(dir, runners.Transcript), 64<<10)
	if err != nil || dropped == 0 {
		t.Fatal(dropped, err)
	}
	rows := n.again()
	equal(t, "hole", rows.contents(sessions.System), []string{
		fmt.Sprintf("%d bytes of the transcript are missing here: it was longer than what relay keeps of one", dropped),
	})
	if last := rows.messages["th:0:item_2999"]; last.Content != "number 2999" || last.Timestamp != began+2999 {
		t.Errorf("the last message: %+v", last)
	}
	said := rows.contents(sessions.Assistant)
	if lines := strings.Count(read(t, filepath.Join(dir, runners.Transcript)), "agent_message"); len(said) != lines {
		t.Errorf("%d messages, and %d lines of them", len(said), lines)
	}
	rows.fits(t)
}

// TestCompressed: a transcript that was compressed after the run gives the same rows.
func TestCompressed(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	dir := n.begin("", "do it")
	n.say(dir, codexBegan, began, false)
	for i := range 2000 {
		n.say(dir, codexSays(i, "the same words over and over again"), began+int64(i), i == 1999)
	}
	before := n.again()
	if relayfiles.CompressTranscripts(t.Context(), n.dir, func(string) bool { return false }) == 0 {
		t.Fatal("nothing was compressed")
	}
	same(t, n.again(), before)
}

// TestSubagents: what a subagent says is a session of its own, later than its parent, with the call that began it.
func TestSubagents(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Claude)
	dir := n.begin("", "do it")
	for i, line := range strings.SplitAfter(read(t, filepath.Join("testdata", "subagents.jsonl")), "\n") {
		n.say(dir, line, began+int64(i), false)
	}
	n.say(dir, "", began+100, true)
	rows := n.again()
	rows.fits(t)
	golden(t, filepath.Join("testdata", "subagents.golden"), rows.text())
}

// TestCommandRows: all that a command prints is one message, of which a megabyte is kept.
func TestCommandRows(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Command)
	n.say(n.begin("", "do it"), "first\n"+strings.Repeat(strings.Repeat("é", 50)+"\n", 20_000)+"the end", began+1, true)
	said := n.again().contents(sessions.Assistant)
	if len(said) != 1 || !strings.HasSuffix(said[0], "é\n[relay: more than 1 MiB]\n") || len(said[0]) > 1<<20+100 {
		t.Errorf("%d messages, the first of %d bytes ends %q", len(said), len(said[0]), said[0][max(0, len(said[0])-40):])
	}
}

// TestNoTimes: the transcript of a relay that wrote no times is read, too.
func TestNoTimes(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Gemini)
	n.write(filepath.Join(n.begin("", "do it"), runners.Transcript), read(t, captured(kinds.Gemini, "ok")))
	if said := n.again().contents(sessions.Assistant); len(said) != 2 {
		t.Errorf("got %q", said)
	}
}

// TestResultQuestion: the turn in which an agent is asked for its result stands where it was asked.
func TestResultQuestion(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	for i, name := range []string{"", "result", "fix-1", "fix-2"} {
		dir := n.begin(name, "ask "+name)
		n.say(dir, codexBegan+codexSays(0, "turn "+name), began+int64(i), true)
	}
	equal(t, "turns", n.again().contents(sessions.Assistant), []string{"turn ", "turn result", "turn fix-1", "turn fix-2"})
	if err := os.Remove(filepath.Join(n.folder(), "result", runners.TimesFile)); err != nil {
		t.Fatal(err)
	}
	n.write(filepath.Join(n.folder(), "result", runners.TimesFile), string(runners.TimesLine(1, began+2)))
	n.write(filepath.Join(n.folder(), "fix-1", runners.TimesFile), "")
	equal(t, "turns", n.again().contents(sessions.Assistant)[:1], []string{"turn "})
}

// TestFlood: a long stream takes no more memory than a short one.
func TestFlood(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("writes 40 MB")
	}
	n := newNight(t, kinds.Codex)
	dir := n.begin("", "do it")
	f, err := os.Create(filepath.Join(dir, runners.Transcript))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	words := strings.Repeat("word ", 100)
	size := int64(0)
	for i := 0; size < 40<<20; i++ {
		line := codexSays(i, words)
		if i == 0 {
			line = codexBegan + line
		}
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
		size += int64(len(line))
	}
	n.write(filepath.Join(dir, runners.TimesFile), string(runners.TimesLine(size, began)))
	var most uint64
	messages := 0
	count := func(b sessions.Batch) {
		messages += len(b.Messages)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	n.attempt.look()
	err = n.talks[0].read(func() error {
		b, _ := n.talks[0].take()
		count(b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := n.talks[0].take()
	count(b)
	t.Logf("%d messages, at most %d MiB", messages, most>>20)
	if messages < 70_000 || most > 32<<20 {
		t.Errorf("%d messages, at most %d MiB", messages, most>>20)
	}
}
