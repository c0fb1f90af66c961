package labtest

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"

	"relay/cmd/relay/internal/terminal"
)

// memoryPromise is what neither relay nor its guardian may ever use, in KiB. On a quiet machine it is some 58 MiB, of which a
// third are the pages of the program; where the load is ten times what the machine can carry, the collector is late.
const memoryPromise = 72 << 10

// measuring lets T2 write down the peak memory of its guardian and of relay, and where they are.
const measuring = `
if [ "$RELAY_TASK" = T2 ]; then
  up=$(awk '/^PPid/ {print $2}' /proc/$PPID/status)
  awk '/^VmHWM/ {print $2}' /proc/$PPID/status /proc/$up/status > "$HOME/peak"
fi
` + honest

// modest wants that relay and its guardian have kept their promise.
func (l *lab) modest() {
	l.t.Helper()
	peaks := strings.Fields(l.read(l.inHome("peak")))
	if len(peaks) != 2 {
		l.t.Fatalf("peaks are %q, want two", peaks)
	}
	for _, text := range peaks {
		peak, err := strconv.Atoi(text)
		if err != nil {
			l.t.Fatal(err)
		}
		l.t.Logf("peak %d MiB", peak>>10)
		if peak > memoryPromise && !raceEnabled {
			l.t.Errorf("relay or its guardian used %d KiB, promised are %d", peak, memoryPromise)
		}
	}
}

// Output without end costs neither memory nor the result, and little disk.
func TestAdversaryFloods(t *testing.T) {
	t.Parallel()
	size, keep := "32M", 4
	if *full {
		size, keep = "1G", 32
	}
	for name, agent := range map[string]string{
		"lines":          `yes "all work and no play" | head -c $SIZE; ok`,
		"errors":         `yes "all work and no play" | head -c $SIZE >&2; ok`,
		"one line":       `head -c $SIZE /dev/zero | tr '\0' x; ok`,
		"NULs":           `head -c $SIZE /dev/zero; ok`,
		"returns":        `yes "" | tr '\n' '\r' | head -c $SIZE; ok`,
		"result behind":  `head -c $SIZE /dev/zero | tr '\0' x; printf '\n~~~relay-result\n{"status":"success","summary":"done"}\n~~~\n'`,
		"result between": `printf '~~~relay-result\n{"status":"failure","summary":"not this one"}\n~~~\n'; yes | head -c $SIZE; printf '\n~~~relay-result\n{"status":"success","summary":"done"}\n~~~\n'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyFirst(t, name, "lines", "one line", "result between")
			l := newLab(t, hostilePlan,
				measuring+"echo work > work.txt\n"+strings.ReplaceAll(agent, "$SIZE", size)+"\n")
			l.env = append(l.env, fmt.Sprint("RELAY_TRANSCRIPT_MIB=", keep))
			judged(t, l, believed)
			l.modest()
			var kept int64
			files, err := filepath.Glob(l.path(filepath.Join(".agents-os/relay/runs", l.last("T1").Run, "T1/1", "[ts]*.[jl]*")))
			if err != nil || len(files) != 2 { // the transcript, compressed perhaps, and what it has printed on stderr
				t.Fatalf("%v, %v", files, err)
			}
			for _, file := range files {
				info, err := os.Stat(file)
				if err != nil {
					t.Fatal(err)
				}
				kept += info.Size()
			}
			if kept > int64(keep)<<20+1<<20 {
				t.Errorf("%d bytes of output are kept, want about %d MiB", kept, keep)
			}
			r := l.run("show", "T1", "--log")
			r.wants(t, terminal.OK)
			l.remembered()
		})
	}
}

// An agent that never stops printing is stopped long before the disk is full.
func TestAdversaryEndlessFlood(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, hostilePlan, measuring+"yes\n")
	l.env = append(l.env, "RELAY_TRANSCRIPT_MIB=1")
	judged(t, l, fails("agent", "code_error", "too much output"))
	l.modest()
}

// A conversation without end is in the agents ledger as far as its transcript is kept, and fills no memory.
func TestAdversaryConversationFlood(t *testing.T) {
	needsMore(t)
	t.Parallel()
	megabytes, keep := 32, 4
	if *full {
		megabytes, keep = 1024, 32
	}
	l := newLab(t, hostilePlan, "")
	l.likeClaude(keep, fmt.Sprintf(`awk 'BEGIN {
  words = sprintf("%%900s", ""); gsub(/ /, "x", words)
  for (i = 0; i < %d * 1000; i++) printf "{\"type\":\"assistant\",\"message\":{\"id\":\"m%%d\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"%%d %%s\"}]}}\n", i, i, words
}'`, megabytes))
	if told := l.work(terminal.OK).stderr.String(); strings.Contains(told, "the agents ledger is not complete yet") { // the machine is busy
		l.run("sessions", "import").wants(t, terminal.OK)
	}
	l.modest()
	l.remembered()
	r := l.run("sessions", "search", "bytes of the transcript are missing here")
	r.wants(t, terminal.OK)
	if !strings.Contains(r.stdout.String(), "it was longer than what relay keeps of one") {
		t.Errorf("nothing says what is missing: %s", r.stdout.String())
	}
}

// The same for what Claude Code prints: its result is the last line, however long the one before is.
func TestAdversaryClaudeFlood(t *testing.T) {
	needsMore(t)
	t.Parallel()
	size := "64M"
	if *full {
		size = "200M"
	}
	l := newLab(t, hostilePlan, "")
	l.likeClaude(8, `head -c `+size+` /dev/zero | tr '\0' x; echo`)
	l.work(terminal.OK)
	l.commits("T1: One", "T2: Two")
	l.modest()
}

// likeClaude has an agent print what Claude Code prints, and for T1 what a command prints, of which so many MiB are kept.
func (l *lab) likeClaude(keep int, command string) {
	l.t.Helper()
	l.agent(strings.Replace(measuring, "echo two > T2.txt; ok; exit 0", "true", 1) + `
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
echo '{"type":"system","subtype":"init","session_id":"c9fdff09-3dfc-4542-9a6a-7470c81c6227","model":"m","tools":[]}'
if [ "$RELAY_TASK" = T1 ]; then ` + command + `; fi
echo '{"type":"result","subtype":"success","is_error":false,"session_id":"c9fdff09-3dfc-4542-9a6a-7470c81c6227","result":"x","structured_output":{"status":"success","summary":"done"}}'
`)
	script := l.inHome("claude-like")
	l.write(script, "#!/bin/sh\nexec sh "+l.inHome("agent.sh")+"\n")
	if err := os.Chmod(script, 0o755); err != nil {
		l.t.Fatal(err)
	}
	l.settings(fmt.Sprintf("relay: {runners: [claude], transcript_mib: %d, agents: {claude: {type: claude, argv: [%q]}}}\n", keep, script))
}

// Bytes that are no text reach neither the terminal nor the ledger.
func TestAdversaryBytes(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for b := range 256 {
		if b != '"' && b != '\\' && b != '\n' {
			all.WriteByte(byte(b))
		}
	}
	bytes := all.String() + "\x1b[2J\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\u202egnp\u2028\u0085\x9b31m"
	packed := base64.StdEncoding.EncodeToString([]byte(bytes))
	for name, agent := range map[string]string{
		"said":    `raw; raw >&2; bad "nothing more"`,
		"failed":  `printf '{"status":"failure","summary":"%s","error_summary":"%s","suggestion":"%s","learning":"%s","pattern_tags":["%s"]}' "$b" "$b" "$b" "$b" "$b" > "$RELAY_RESULT"`,
		"escaped": `printf '{"status":"failure","summary":"\\u001b[2J\\u009b31m\\u202e\\u0007","error_summary":"\\u001b]0;owned\\u0007\\u0000\\ud800","error_category":"\\u001b[31m","suggestion":"\\u001b"}' > "$RELAY_RESULT"`,
		"died":    `raw >&2; exit 3`,
		"named":   `printf x > "$(printf 'a\033[2Jb\007\377')"; git add -A; git commit -qm "$b"; bad "see names"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyFirst(t, name, "failed", "died", "named")
			l := newLab(t, hostilePlan, honest+fmt.Sprintf("raw() { echo %s | base64 -d; }\nb=$(raw | tr -d '\\000')\n", packed)+agent+"\n")
			r := l.work(terminal.Gated)
			harmless(t, "work", r)
			for _, args := range [][]string{
				{"status"},
				{"status", "--verbose"},
				{"status", "--json"},
				{"show", "T1"},
				{"show", "T1", "--json"},
				{"show", "T1", "--brief"},
				{"ledger", "log"},
				{"work", "--json"},
			} {
				harmless(t, strings.Join(args, " "), l.run(args...))
			}
			// What an agent wrote goes to files as it is, and to a terminal so that it can do nothing there.
			for _, what := range []string{"--log", "--diff", "--brief"} {
				l.harmlessOnTerminal("show", "T1", what)
			}
			text := l.read(".agents-os/relay/attempt-ledger.yml")
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x07\x00") {
				t.Errorf("attempt-ledger.yml holds raw bytes: %q", text)
			}
			if got := l.ledger(); got.TaskStatus["T2"] != "completed" || got.TaskStatus["T1"] != "gated" {
				t.Errorf("the ledger says %v", got.TaskStatus)
			}
			l.clean()
		})
	}
}

func (l *lab) harmlessOnTerminal(args ...string) {
	l.t.Helper()
	r := l.prepared(nil, args...)
	r.cmd.Stdout, r.cmd.Stderr = nil, nil
	terminal, err := pty.Start(r.cmd)
	if err != nil {
		l.t.Fatal(err)
	}
	_, _ = io.Copy(&r.stdout, terminal) // it ends with an error when relay does
	_ = r.cmd.Wait()
	_ = terminal.Close()
	text := strings.ReplaceAll(r.stdout.String(), "\r\n", "\n") // as the terminal ends lines
	r.stdout.Reset()
	r.stdout.WriteString(text)
	harmless(l.t, strings.Join(args, " ")+" on a terminal", r)
}

// harmless wants that an output is text a terminal does nothing with but show it.
func harmless(t *testing.T, what string, r *running) {
	t.Helper()
	for _, out := range []string{r.stdout.String(), r.stderr.String()} {
		if !utf8.ValidString(out) {
			t.Errorf("%s prints what is no UTF-8: %q", what, out)
		}
		for _, c := range out {
			if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || c == '\u202e' || c == '\u2028' {
				t.Errorf("%s prints %q in %q", what, c, out)
				break
			}
		}
	}
}

// Values of variables that look like secrets are kept out of all that is recorded or shown.
func TestAdversarySecrets(t *testing.T) {
	t.Parallel()
	const secret, other = "s3cr3t-of-the-lab-0123456789", "kept-out-by-the-list-987654"
	l := newLab(t, strings.Replace(hostilePlan, "max_attempts: 1", "max_attempts: 2", 1), honest+`
echo "it is $FOO_TOKEN"; echo "it is $FOO_TOKEN" >&2; env > "$HOME/env"
printf '{"status":"failure","summary":"%s","error_summary":"token %s attempt %s","suggestion":"use %s","learning":"%s","error_category":"%s","pattern_tags":["%s"],"files_changed":["%s"]}' \
  "$FOO_TOKEN" "$FOO_TOKEN" "$n$n$n" "$FOO_TOKEN" "$FOO_TOKEN" "$FOO_TOKEN" "$FOO_TOKEN" "$FOO_TOKEN" > "$RELAY_RESULT"
`)
	l.env = append(l.env, "FOO_TOKEN="+secret, "NOT_PASSED="+other, "RELAY_ENV=FOO_TOKEN")
	r := l.work(terminal.Gated)
	if !strings.Contains(l.read(l.inHome("env")), secret) {
		t.Error("the agent does not get what the configuration passes on")
	}
	if strings.Contains(l.read(l.inHome("env")), other) {
		t.Error("the agent gets what nobody passes on")
	}
	told := map[string]string{"work": r.stdout.String() + r.stderr.String()}
	for _, args := range [][]string{{"status", "--verbose"}, {"status", "--json"}, {"show", "T1"}, {"show", "T1", "--brief"}, {"ledger", "log", "--json"}, {"ledger", "log"}} {
		told[strings.Join(args, " ")] = l.run(args...).stdout.String()
	}
	for _, pattern := range []string{"attempt-ledger.yml", "runs/*/events.jsonl", "runs/*/T1/*/brief.md", "lock"} {
		found, err := filepath.Glob(l.path(filepath.Join(".agents-os/relay", pattern)))
		if err != nil || len(found) == 0 {
			t.Errorf("no %s: %v", pattern, err)
		}
		for _, name := range found {
			told[name] = l.read(name)
		}
	}
	for where, text := range told {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is in %s", where)
		}
	}
	if !strings.Contains(told["show T1"], "redacted FOO_TOKEN") {
		t.Errorf("nothing says that something was left out:\n%s", told["show T1"])
	}
}

// A brief longer than any argument list takes reaches the agent, cut where it says so, and nobody who looks at the
// processes sees it.
func TestAdversaryPrompt(t *testing.T) {
	needsMore(t)
	t.Parallel()
	var criteria strings.Builder
	for i := range 400 {
		fmt.Fprintf(&criteria, "      - criterion %d %s\n", i, strings.Repeat("word-of-the-brief ", 22))
	}
	l := newLab(t, fmt.Sprintf("version: 2\nid: 20260101-long\ntitle: Long\ntasks:\n  T1:\n    title: One\n    description: \"the-very-start %s\"\n    acceptance_criteria:\n%s",
		strings.Repeat("word-of-the-brief ", 12000), criteria.String()), `
told the-very-start || { bad "the start is missing"; exit 0; }
told " bytes here]" || { bad "nothing says that something is missing"; exit 0; }
[ ${#brief} -gt 131072 ] || { bad "only ${#brief} bytes"; exit 0; }
for p in /proc/[0-9]*; do
  if tr '\0' ' ' < $p/cmdline 2>/dev/null | grep -q 'word-of-the-brie[f]'; then bad "anyone can read it in $p"; exit 0; fi
done
echo x > T1.txt; ok
`)
	l.env = append(l.env, "RELAY_BRIEF_KIB=1024")
	r := l.run("work")
	if a := l.last("T1"); a.Result != "success" {
		t.Errorf("%+v\n%s", a, r.stderr.String())
	}
}

// An agent that is not there is told of before the first task, and nothing is recorded as tried.
func TestAdversaryMissingProgram(t *testing.T) {
	t.Parallel()
	l := newLab(t, hostilePlan, "ok\n")
	for name, argv := range map[string]string{"missing": "no-such-agent-anywhere", "no program": l.path("seed.txt"), "folder": l.home} {
		l.settings(fmt.Sprintf("relay: {runners: [fake], agents: {fake: {type: command, argv: [%q]}}}\n", argv))
		r := l.run("work")
		r.wants(t, terminal.NoRunner)
		r.says(t, "relay: hint: ")
		if f := l.read(".agents-os/relay/attempt-ledger.yml"); strings.Contains(f, "- id:") {
			t.Errorf("%s: something was tried:\n%s", name, f)
		}
	}
}
