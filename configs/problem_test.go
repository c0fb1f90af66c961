package configs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/epic"
)

// complaints loads one shared file and returns its problems without the path.
func complaints(t *testing.T, src string) []string {
	t.Helper()
	dir := repository(t, src, "")
	_, err := Load(Sources{Dir: dir})
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[epic.Problems](err); !ok {
		t.Fatalf("got %T %v, want Problems", err, err)
	}
	return strings.Split(strings.ReplaceAll(err.Error(), filepath.Join(dir, SharedFile)+":", ""), "\n")
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	got := strings.Join(complaints(t, `
foreign: {a: 1, a: 2}
relay:
  maxattempts: 3
  max_attempts_per_task: 0
  timeout_minutes: "15"
  jobs: 1.5
  review:
    enabled: yes
    provder: none
    provider: geminy
  runners: [claude, 5, codx]
  env: [FOO BAR=secret, RELAY_DIR=x]
  agents:
    MyClaude: {type: claud}
    my.agent: {}
    x:
    y: {type: command, permission: z, argv: [a], prompt: file, mcp: true}
    z: {type: claude, prompt: file}
  model:
  dir: ../x
  strictness: strict
quality_gate: [a]
relay: {}
`), "\n")
	want := `4:3: unknown key "maxattempts" under relay (did you mean "max_attempts_per_task"?)
5:26: relay.max_attempts_per_task is 0, out of range (from 1 to 100)
6:20: relay.timeout_minutes wants a number, got text (remove the quotes)
7:9: relay.jobs is 1.5, not a whole number
9:14: relay.review.enabled wants true or false, got text (write true)
10:5: unknown key "provder" under relay.review (did you mean "provider"?)
11:15: relay.review.provider: there is no agent "geminy" (did you mean "gemini"?)
12:21: relay.runners[1] wants text, got a number (put it in quotes)
13:9: relay.env[0] is not NAME, NAME* or NAME=value
13:25: relay.env[1] is set by relay itself
15:22: relay.agents.MyClaude.type cannot be "claud" (did you mean "claude"?)
16:5: relay.agents: "my.agent" is not a name: a letter, then up to 31 letters, digits, - or _
17:5: relay.agents.x has no type (add type: CLIS, command or scripted)
18:36: relay.agents.y.permission is only for type CLIS
18:69: relay.agents.y.mcp is only for type claude, codex
19:31: relay.agents.z.prompt is only for type command
20:9: relay.model wants text, got nothing (give it a value or remove the key)
21:8: relay.dir "../x" leads outside the repository
22:3: unknown key "strictness" under relay (did you mean quality_gate.strictness?)
23:15: quality_gate wants settings below it, one per line as key: value
24:1: key "relay" is already on line 3 (keep one of the two)`
	if want = strings.ReplaceAll(want, "CLIS", strings.Join(agentTypes[:len(agentTypes)-2], ", ")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProblemsOfShape(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxText+1)
	for name, test := range map[string]struct{ src, want string }{
		"nothing":            {"# only a comment\n", ""},
		"no content":         {"relay:\nquality_gate:\n", ""},
		"empty sections":     {"relay:\n  review:\n  agents:\n", ""},
		"alias":              {"x: &x {enabled: false}\nrelay: {review: *x}\n", ""},
		"not a map":          {"- relay\n", "1:1: is not a map of settings (begin with relay:)"},
		"syntax":             {"relay:\n  jobs: [1\n", "2:3: YAML: did not find expected ',' or ']' (look at the indentation of this line and the one before, and for a bracket that is not closed)"},
		"tab":                {"relay:\n\tjobs: 2\n", "2:1: YAML: found character that cannot start any token (YAML does not indent with tabs: use spaces)"},
		"tab further in":     {"relay:\n  jobs: 2\n\treview:\n\t  provider: none\n", "3:1: YAML: found a tab character that violates indentation (YAML does not indent with tabs: use spaces)"},
		"too deep":           {"relay:\n  jobs: 2\n   budget_usd: 3\n", "3:4: YAML: mapping values are not allowed in this context (correct the indentation, or put text that contains \": \" in quotes)"},
		"special character":  {"relay:\n  model: @x\n", "2:3: YAML: found character that cannot start any token (put text that begins with a special character in quotes)"},
		"unknown anchor":     {"relay: *nobody\n", `1:8: unknown anchor "nobody" (define it above with &nobody)`},
		"second document":    {"relay: {}\n---\nrelay: {}\n", "2:1: the file has a second YAML document (take the line with --- out, and what follows it)"},
		"merge key":          {"x: &x {jobs: 2}\nrelay: {<<: *x}\n", "2:9: merge keys (<<) are not read here (write the keys out, or use an alias for the whole value)"},
		"key twice":          {"relay:\n  jobs: 2\n  jobs: 3\n", `3:3: key "jobs" is already on line 2 (keep one of the two)`},
		"key is a map":       {"relay:\n  ? {a: b}\n  : 1\n", "2:5: a key must be a word"},
		"too many keys":      {"relay:\n" + manyKeys(), "2:3: relay has more than 100 keys"},
		"list too long":      {"relay: {env: [" + strings.Repeat("A,", maxItems+1) + "]}", "relay.env has 201 items, more than 200"},
		"text too long":      {"relay: {model: " + long + "}", "1:16: relay.model is longer than 4096 bytes"},
		"list of lists":      {"relay: {runners: [[claude]]}", "1:19: relay.runners[0] wants text, got a list"},
		"text for a list":    {"relay: {runners: claude}", "1:18: relay.runners wants a list, such as [a, b], got text (put it in brackets)"},
		"not a number":       {"relay: {linger_seconds: .nan}", "1:25: relay.linger_seconds is NaN, out of range (from 0 to 3600)"},
		"negative":           {"relay: {linger_seconds: -1}", "1:25: relay.linger_seconds is -1, out of range (from 0 to 3600)"},
		"absurd":             {"relay: {timeout_minutes: 1e9}", "1:26: relay.timeout_minutes is 1e+09, out of range (from 0.001 to 10080)"},
		"model as an option": {"relay: {model: --dangerous}", `1:16: relay.model "--dangerous" is not a model's name: no spaces, no leading dash`},
		"dir absolute":       {"relay: {dir: /tmp}", `1:14: relay.dir "/tmp" is not a folder inside the repository, such as .agents-os/relay`},
		"dir is the root":    {"relay: {dir: ./}", `1:14: relay.dir "./" is the repository itself`},
		"runner twice":       {"relay: {runners: [claude, claude]}", `1:27: relay.runners: "claude" is named twice`},
		"runner unknown":     {"relay: {runners: [codecs]}", `1:19: relay.runners: there is no agent "codecs" (did you mean "codex"?)`},
		"command without":    {"relay: {agents: {c: {type: command}}}", "1:18: relay.agents.c has no program to run (add argv: [program, argument])"},
		"scripted without":   {"relay: {agents: {c: {type: scripted}}}", "1:18: relay.agents.c has no script to play (add script: FILE)"},
		"script for claude":  {"relay: {agents: {claude: {script: x}}}", "1:35: relay.agents.claude.script is only for type scripted"},
		"empty program":      {`relay: {agents: {claude: {argv: [""]}}}`, "1:18: relay.agents.claude has an empty program (name a program first in argv)"},
		"no for false":       {"relay: {review: {enabled: no}}", "1:27: relay.review.enabled wants true or false, got text (write false)"},
		"a date":             {"relay: {jobs: 2026-01-01}", "1:15: relay.jobs wants a number, got a timestamp"},
		"argument with NUL":  {`relay: {agents: {c: {type: command, argv: [a, "b\0"]}}}`, `1:47: relay.agents.c.argv[1] "b\x00" is not an argument without NUL`},
		"script over lines":  {`relay: {agents: {c: {type: scripted, script: "a\nb"}}}`, `1:46: relay.agents.c.script "a\nb" is not a path without control characters`},
		"permission":         {"relay: {agents: {claude: {permission: accept all}}}", `1:39: relay.agents.claude.permission "accept all" is not one word, such as acceptEdits`},
		"worktrees at home":  {"relay: {worktree: {dir: ~/w}}", `1:25: relay.worktree.dir "~/w" is not a folder, absolute or in the repository, with ~ written out`},
		"worktrees above":    {"relay: {worktree: {dir: ..}}", `1:25: relay.worktree.dir ".." holds more than worktrees`},
		"worktrees in .git":  {"relay: {worktree: {dir: .git/w}}", `1:25: relay.worktree.dir ".git/w" belongs to git`},
		"copy of elsewhere":  {"relay: {worktree: {copy: [/etc/passwd]}}", `1:27: relay.worktree.copy[0] "/etc/passwd" is not a path in the repository, such as .env or config/*.local`},
		"share of .git":      {"relay: {worktree: {share: [.git/config]}}", `1:28: relay.worktree.share[0] ".git/config" belongs to git`},
		"backoff lowered":    {"relay: {backoff_max_seconds: 5}", "1:30: relay.backoff_seconds is more than relay.backoff_max_seconds (change one of the two)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := complaints(t, test.src)
			if test.want == "" && got == nil {
				return
			}
			if len(got) != 1 || test.want == "" || !strings.Contains(got[0], test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func manyKeys() string {
	var b strings.Builder
	for i := range maxKeys + 1 {
		fmt.Fprintf(&b, "  key%d: 1\n", i)
	}
	return b.String()
}

func TestMistakesAreCounted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("relay:\n  env:\n")
	for range maxItems {
		b.WriteString("    - 1\n")
	}
	if got := complaints(t, b.String()); len(got) != maxProblems {
		t.Errorf("got %d problems, want %d", len(got), maxProblems)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yml")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                           "is a folder, not a file",
		large:                         "is larger than 1048576 bytes",
		filepath.Join(dir, "missing"): "",
	} {
		_, err := Load(Sources{UserFile: path})
		if want == "" && err == nil {
			continue
		}
		if err == nil || want == "" || err.Error() != path+": "+want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestVariableAndFlagMistakes(t *testing.T) {
	t.Parallel()
	_, err := Load(Sources{
		Environ: []string{"RELAY_JOBS=many", "RELAY_REVIEW_ENABLED=maybe", "RELAY_RUNNERS=[a", "RELAY_ENV=A=\xff"},
		Flags:   map[string]any{"relay.isolation": "shard", "relay.learn": "apply", "relay.bogus": 1, "relay.jobs": []int{1}},
	})
	want := `RELAY_JOBS: relay.jobs wants a number, got "many"
RELAY_REVIEW_ENABLED: relay.review.enabled wants true or false, got "maybe"
RELAY_RUNNERS: relay.runners wants a list, such as [a, b]
RELAY_ENV: relay.env[0] is not valid UTF-8
flag: unknown key "relay.bogus"
flag: relay.isolation cannot be "shard" (did you mean "shared"?)
flag: relay.jobs cannot be a []int
flag: relay.learn cannot be "apply" (known: off, propose)`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestMistakesInPathsOfWorktrees(t *testing.T) {
	t.Parallel()
	got := strings.Join(append(complaints(t, `relay:
  worktree:
    copy: ["a[b", /etc/x, ../x, sub/.git/config]
    setup: [" "]
    dir: .git/trees
  setup_timeout: 3
`), append(complaints(t, "relay: {worktree: {dir: ../..}}"), complaints(t, "relay: {worktree: {dir: '~/x'}}")...)...), "\n")
	want := `3:12: relay.worktree.copy[0] "a[b" is not a glob: * stands for any name, ** for any folders, [ab] and {a,b} for one of them
3:19: relay.worktree.copy[1] "/etc/x" is not a path in the repository, such as .env or config/*.local
3:27: relay.worktree.copy[2] "../x" leads outside the repository
3:33: relay.worktree.copy[3] "sub/.git/config" belongs to git
4:13: relay.worktree.setup[0] " " is not a shell command
5:10: relay.worktree.dir ".git/trees" belongs to git
6:3: unknown key "setup_timeout" under relay (did you mean "setup_timeout_minutes"?)
1:25: relay.worktree.dir "../.." holds more than worktrees
1:25: relay.worktree.dir "~/x" is not a folder, absolute or in the repository, with ~ written out`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
