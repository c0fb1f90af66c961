package sessionkeeper

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"relay/attempts/sessions"
	"relay/internal/slowtest"
	"relay/orchestrator/transcripts"
	"relay/runners/conversation"
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

// TestUnreadableLines: lines that cannot be read are messages with their place, many in a row one; the half of a last line waits for the
// other half.
func TestUnreadableLines(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	dir := n.begin("", "do it")
	live := newTable()
	n.say(dir, "warning: \xff old\n"+codexBegan+codexSays(0, "one")+"noise\n{\"torn\":\n{]\n"+codexSays(2, "two")+`{"type":"item.comp`, began, false)
	n.look(live, false)
	equal(t, "noise", live.contents(sessions.System), []string{
		"1 line at byte 0 cannot be read: warning: \uFFFD old",
		"3 lines from byte 143 on cannot be read; the first: noise",
	})
	n.say(dir, `leted","item":{"id":"item_3","type":"agent_message","text":"three"}}`+"\n{\"type\"", began+1, true)
	n.look(live, true)
	equal(t, "said", live.contents(sessions.Assistant), []string{"one", "two", "three"})
	same(t, live, n.again())
}

// TestOpenCalls: a call that runs has no status; one that ran when the process ended was cancelled then.
func TestOpenCalls(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	dir := n.begin("", "do it")
	live := newTable()
	n.say(dir, codexBegan+codexSays(0, "I wait.")+codexCalls, began, false)
	n.look(live, false)
	if c := live.calls["th:0:item_1"]; c.Status != "" || c.StartedAt != began || len(live.turns) != 0 {
		t.Errorf("while it runs: %+v, %d turns", c, len(live.turns))
	}
	n.say(dir, "", began+9000, true)
	n.look(live, false)
	if c := live.calls["th:0:item_1"]; c.Status != sessions.Cancelled || c.CompletedAt != began+9000 || c.ParamsJSON != `{"command":"sleep 9"}` {
		t.Errorf("at its end: %+v", c)
	}
	if turn := live.turns["th:0:item_0"]; turn.ToolCalls != 1 || turn.QueryMessages != `["th:0:prompt"]` {
		t.Errorf("its turn: %+v", turn)
	}
	same(t, live, n.again())
}

// TestHole: the middle of a stream that is longer than what is kept of one becomes a message, whatever was read of it before; and the
// times of what follows are still right.
func TestHole(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Codex)
	n.cap = 64 << 10
	dir := n.begin("", "do it")
	live := newTable()
	n.say(dir, codexBegan, began, false)
	for i := range 3000 {
		n.say(dir, codexSays(i, "number "+fmt.Sprint(i)), began+int64(i), false)
		if i%100 == 0 {
			n.look(live, false)
		}
	}
	n.say(dir, "", began+3000, true)
	n.look(live, false)
	dropped, err := process.Compact(filepath.Join(dir, conversation.Transcript), n.cap)
	if err != nil || dropped == 0 {
		t.Fatal(dropped, err)
	}
	n.look(live, true)
	equal(t, "hole", live.contents(sessions.System), []string{
		fmt.Sprintf("%d bytes of the transcript are missing here: it was longer than what relay keeps of one", dropped),
	})
	if last := live.messages["th:0:item_2999"]; last.Content != "number 2999" || last.Timestamp != began+2999 {
		t.Errorf("the last message: %+v", last)
	}
	said := live.contents(sessions.Assistant)
	if lines := strings.Count(read(t, filepath.Join(dir, conversation.Transcript)), "agent_message"); len(said) != lines {
		t.Errorf("%d messages, and %d lines of them", len(said), lines)
	}
	same(t, live, n.again())
	live.fits(t)
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
	if transcripts.Compress(t.Context(), n.dir, func(string) bool { return false }) == 0 {
		t.Fatal("nothing was compressed")
	}
	same(t, n.again(), before)
}

// TestSubagents: what a subagent says is a session of its own, later than its parent, with the call that began it.
func TestSubagents(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Claude)
	dir := n.begin("", "do it")
	live := newTable()
	for i, line := range strings.SplitAfter(read(t, filepath.Join("testdata", "subagents.jsonl")), "\n") {
		n.say(dir, line, began+int64(i), false)
		n.look(live, false)
	}
	n.say(dir, "", began+100, true)
	n.look(live, true)
	same(t, live, n.again())
	live.fits(t)
	golden(t, filepath.Join("testdata", "subagents.golden"), live.text())
}

// TestCommandRows: all that a command prints is one message, of which a megabyte is kept.
func TestCommandRows(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Command)
	dir := n.begin("", "do it")
	live := newTable()
	n.say(dir, "first\nsecond\n", began, false)
	n.look(live, false)
	equal(t, "so far", live.contents(sessions.Assistant), []string{"first\nsecond\n"})
	n.say(dir, strings.Repeat(strings.Repeat("é", 50)+"\n", 20_000)+"the end", began+1, true)
	n.look(live, true)
	said := live.contents(sessions.Assistant)
	if len(said) != 1 || !strings.HasSuffix(said[0], "é\n[relay: more than 1 MiB]\n") || len(said[0]) > 1<<20+100 {
		t.Errorf("%d messages, the first of %d bytes ends %q", len(said), len(said[0]), said[0][max(0, len(said[0])-40):])
	}
	same(t, live, n.again())
}

// TestNoTimes: the transcript of a relay that wrote no times is read at the end.
func TestNoTimes(t *testing.T) {
	t.Parallel()
	n := newNight(t, kinds.Gemini)
	dir := n.begin("", "do it")
	n.write(filepath.Join(dir, conversation.Transcript), read(t, captured(kinds.Gemini, "ok")))
	live := newTable()
	n.look(live, false)
	if len(live.messages) != 0 {
		t.Errorf("%d messages of a stream without times", len(live.messages))
	}
	n.look(live, true)
	if said := live.contents(sessions.Assistant); len(said) != 2 {
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
	if err := os.Remove(filepath.Join(n.folder(), "result", conversation.TimesFile)); err != nil {
		t.Fatal(err)
	}
	n.write(filepath.Join(n.folder(), "result", conversation.TimesFile), string(conversation.TimesLine(1, began+2, false)))
	n.write(filepath.Join(n.folder(), "fix-1", conversation.TimesFile), "")
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
	n.cap = 1 << 30
	dir := n.begin("", "do it")
	f, err := os.Create(filepath.Join(dir, conversation.Transcript))
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
	n.write(filepath.Join(dir, conversation.TimesFile), string(conversation.TimesLine(size, began, true)))
	var most uint64
	messages := 0
	count := func(b sessions.Batch) {
		messages += len(b.Messages)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	err = n.advance(looked{ended: true}, func(t *talk) error {
		b, _ := t.take()
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
