package opencode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/opencode"
	"relay/runners/process"
	"relay/runners/runnertest"
)

// TestOpencodePermission fails when a mode takes anything from the user's own permissions, or gives more than it says.
func TestOpencodePermission(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, theirs, own, want string }{
		{"workspace", "", "", `{"external_directory":{"*":"deny","RESULTS":"allow"}}`},
		{"readonly", "", "", `{"edit":"deny","bash":"deny","external_directory":{"*":"deny","RESULTS":"allow"}}`},
		{"auto", `{"edit":"ask"}`, "", `{"edit":"ask"}`},
		{"config", "", "", ""},
		{
			"workspace", `{"webfetch":"deny","external_directory":"allow","bash":{"z *":"allow","a *":"deny"}}`, "",
			`{"webfetch":"deny","bash":{"z *":"allow","a *":"deny"},"external_directory":{"*":"deny","RESULTS":"allow"}}`,
		},
		{"workspace", `{"webfetch":"deny"}`, `{"task":"deny"}`, `{"task":"deny","external_directory":{"*":"deny","RESULTS":"allow"}}`},
		{"workspace", `{"edit":"deny"`, "", `{"external_directory":{"*":"deny","RESULTS":"allow"}}`},
		{"workspace", `["deny"]`, "", `{"external_directory":{"*":"deny","RESULTS":"allow"}}`},
		{"workspace", `{"edit":"deny"} more`, "", `{"external_directory":{"*":"deny","RESULTS":"allow"}}`},
	} {
		const content = `OPENCODE_CONFIG_CONTENT={"permission":{"bash":"deny"}}`
		req := runnertest.Request(t, runnertest.VoiceVariable+"=opencode", content, runnertest.ActVariable+"="+string(runnertest.LookAround))
		if c.theirs != "" {
			req.Env = append(req.Env, "OPENCODE_PERMISSION="+c.theirs)
		}
		o := opencode.Options{Program: runnertest.Self(t), Permission: c.mode}
		if c.own != "" {
			o.Env = []string{"OPENCODE_PERMISSION=" + c.own}
		}
		runnertest.Run(t, newOpencode(process.NewLocal(), o), req)
		data, err := os.ReadFile(filepath.Join(req.Dir, "env"))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		env := strings.Split(string(data), "\n")
		for _, entry := range env {
			if value, ok := strings.CutPrefix(entry, "OPENCODE_PERMISSION="); ok {
				got += value
			}
		}
		want := strings.ReplaceAll(c.want, "RESULTS", filepath.Join(filepath.Dir(req.Result), "*"))
		if got != want || !slices.Contains(env, content) {
			t.Errorf("%s with %q: got %s, want %s", c.mode, c.theirs, got, want)
		}
	}
}

// TestOpencodeSilence fails when an agent pays for the silence of its provider, or its provider for the agent's.
func TestOpencodeSilence(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	for _, c := range []struct {
		name   string
		lines  []string
		limits runners.Limits
		want   runners.Outcome
	}{
		{"no answer at all", nil, runners.Limits{FirstAnswer: short}, runners.Network},
		{"silent from the start", nil, runners.Limits{Silence: short}, runners.Network},
		{"no answer in all its time", nil, runners.Limits{Wall: short}, runners.Network},
		{"no answer after a tool", []string{ocStart, ocTools}, runners.Limits{Silence: short}, runners.Network},
		{"no answer after a summary", []string{ocStart, ocStop, `{"type":"text","part":{"synthetic":true,"text":"Continue."}}`}, runners.Limits{Silence: short}, runners.Network},
		{"silent within a step", []string{ocStart}, runners.Limits{Silence: short}, runners.SilenceLimit},
		{"out of time", []string{ocStart, ocTools}, runners.Limits{Wall: short}, runners.WallLimit},
		{"lingers after its end", []string{ocStart, ocDone, ocStop}, runners.Limits{Linger: short}, runners.Claimed},
		{"lingers after a fault", []string{ocFault(401, nil, "")}, runners.Limits{Linger: short}, runners.Auth},
		{"sums up what was too long", []string{`{"type":"error","error":{"name":"ContextOverflowError"}}`}, runners.Limits{Linger: short / 10, Wall: 2 * short}, runners.Network},
	} {
		r, _ := opencodePrints(t, func(r *runners.Request) {
			r.Env = append(r.Env, "STAYS=1")
			r.Limits.Silence, r.Limits.FirstAnswer, r.Limits.Linger = c.limits.Silence, c.limits.FirstAnswer, c.limits.Linger
			if c.limits.Wall > 0 {
				r.Limits.Wall = c.limits.Wall
			}
		}, append(c.lines, "")...)
		if r.Outcome != c.want || !r.Exit.Stopped {
			t.Errorf("%s: got %q (%s), want %q", c.name, r.Outcome, r.Detail, c.want)
		}
	}
}

func TestOpencodeReport(t *testing.T) {
	t.Parallel()
	var kinds []runners.EventKind
	var texts []string
	r, _ := opencodePrints(t, func(r *runners.Request) {
		r.Model = "p/m"
		r.Observe = func(e runners.Event) {
			if e.Kind != runners.EventUsage { // as often as somebody looked
				kinds, texts = append(kinds, e.Kind), append(texts, e.Text)
			}
		}
	},
		ocStart, `{"type":"text","part":{"text":"I look."}}`,
		`{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","title":"ls -l","input":{"command":"ls"}}}}`,
		`{"type":"tool_use","part":{"tool":"bash","state":{"status":"error","error":"no","input":{"command":"make"}}}}`,
		ocDenied, ocTools, ocStart, ocDone, ocStop)
	if r.Session != opencodeSession || r.Model != "p/m" || !strings.HasPrefix(r.FinalText, "All done.") {
		t.Errorf("session %q, model %q, text %q", r.Session, r.Model, r.FinalText)
	}
	used := runners.Usage{InputTokens: 17, CachedTokens: 3, CacheWrites: 4, OutputTokens: 5, CostUSD: 0.5, Priced: true}
	if r.Usage != used {
		t.Errorf("usage %+v, want %+v", r.Usage, used)
	}
	if r.Outcome != runners.Claimed || r.Detail != "not allowed to use write" {
		t.Errorf("outcome %q, detail %q", r.Outcome, r.Detail)
	}
	want := []runners.EventKind{
		runners.EventSession, runners.EventText, runners.EventTool, runners.EventTool, runners.EventTool, runners.EventText, runners.EventResult,
	}
	if !slices.Equal(kinds, want) || texts[2] != "bash ls -l" || texts[3] != "bash make" {
		t.Errorf("events %q %q, want %q", kinds, texts, want)
	}
	if r, _ := opencodePrints(t, nil, ocStart, ocDone, ocTools, ocFree); r.Usage.Priced || r.Usage.CostUSD != 0 || r.Usage.OutputTokens != 4 {
		t.Errorf("a step without a price: %+v", r.Usage)
	}
}

// TestOpencodeSpeaksForTheUser fails when what opencode itself says to the model is taken for the agent's words.
func TestOpencodeSpeaksForTheUser(t *testing.T) {
	t.Parallel()
	synthetic := `{"type":"text","part":{"synthetic":true,"text":"Continue."}}`
	var heard []string
	r, _ := opencodePrints(t, func(r *runners.Request) {
		r.Observe = func(e runners.Event) { heard = append(heard, e.Text) }
	}, ocStart, `{"type":"text","part":{"text":"One."}}`, ocStop, synthetic, ocStart, `{"type":"text","part":{"text":"Two."}}`, `{"type":"text","part":{"text":"Three."}}`, ocTools, synthetic, ocStart, ocStop)
	if r.FinalText != "Two.\nThree." || slices.Contains(heard, "Continue.") {
		t.Errorf("final text %q, events %q", r.FinalText, heard)
	}
}

// TestOpencodeLongAnswer fails when the result at the end of a long answer is lost.
func TestOpencodeLongAnswer(t *testing.T) {
	t.Parallel()
	long := `{"type":"text","part":{"text":"` + strings.Repeat("é", 200_000) + `"}}`
	if r, _ := opencodePrints(t, nil, ocStart, long, ocDone, ocStop); r.Outcome != runners.Claimed || len(r.FinalText) > 64<<10 {
		t.Errorf("got %q (%s), %d bytes", r.Outcome, r.Detail, len(r.FinalText))
	}
}

func TestOpencodeModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"":         "workspace: works unasked, its file tools stay in the checkout; no sandbox",
		"auto":     "auto: works unasked, everywhere; only what your opencode configuration denies is denied; no sandbox",
		"readonly": "readonly: no edits, no commands",
		"config":   "config: your opencode configuration alone; what it would ask for ends the attempt; no sandbox",
	} {
		if got := newOpencode(process.NewLocal(), opencode.Options{Permission: mode}).Mode(); got != want {
			t.Errorf("%q: got %q", mode, got)
		}
	}
}

// TestOpencodeLogsItsRetries fails when nobody can say in the morning why the model did not answer.
func TestOpencodeLogsItsRetries(t *testing.T) {
	t.Parallel()
	const logged = `timestamp=2026-11-21T23:19:32.122Z level=ERROR run=7 message="stream error" providerID=p error.error="AI_APICallError: You \"exceeded\" your quota."` + "\n"
	r, _ := opencodePrints(t, func(r *runners.Request) {
		r.Env, r.Limits.FirstAnswer = append(r.Env, "STAYS=1"), 300*time.Millisecond
		if err := os.WriteFile(r.Stderr, []byte(strings.Replace(logged, "You", "Not you", 1)+logged), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if want := `no answer from the model: 300ms; its last request failed: AI_APICallError: You \"exceeded\" your quota.`; r.Outcome != runners.Network || r.Detail != want {
		t.Errorf("got %q (%s), want %q", r.Outcome, r.Detail, want)
	}
}
