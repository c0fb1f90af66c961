package labtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/mcptest"
	"relay/cmd/relay/internal/terminal"
)

const secretPlan = `version: 2
id: 20260101-secrets
title: Keep them
tasks:
  T1:
    title: One
    checks:
      - {name: first, run: 'cat "$HOME/tokens"; [ -e seen.txt ]'}
  T2: {title: Two, kind: bugfix, depends_on: [T1], max_attempts: 1}
  T3: {title: Three, depends_on: [T2]}
`

// babbler is an agent that says all it knows wherever it can, and a reviewer that does the same.
const babbler = `
all=$(cat "$HOME/tokens"); json=$(cat "$HOME/tokens.json")
echo "$all"; echo "$all" >&2
case $RELAY_ATTEMPT in */review)
  printf '{"verdict":"NEEDS CHANGES","summary":"%s","findings":[{"severity":"high","file":"a.txt","line":1,"issue":"%s","fix":"%s"}]}' "$json" "$json" "$json" > "$RELAY_RESULT"
  chmod 666 "$RELAY_RESULT"; exit 0;;
esac
while read -r one; do case $one in *[!A-Za-z0-9_.-]*) ;; ?*) echo x > "$one";; esac; done < "$HOME/tokens"
git add -A; git commit -qm "T1: $(head -c 150 "$HOME/tokens")"
[ "$n" -gt 1 ] && echo yes > seen.txt
status=success; [ "$RELAY_TASK" = T2 ] && status=failure
printf '{"status":"%s","summary":"%s","error_summary":"%s","suggestion":"%s","learning":"%s","error_category":"%s","pattern_tags":["%s"],"files_changed":["%s"],"extra":{"%s":"%s"},' \
  $status "$json" "$json" "$json" "$json" "$json" "$json" "$json" "$json" "$json" > "$RELAY_RESULT"
printf '"decisions":{"%s":"%s"},"questions":["%s"],"discovered":[{"title":"%s","why":"%s"}],"confident":false,' "$json" "$json" "$json" "$json" "$json" >> "$RELAY_RESULT"
printf '"implementation":{"design_decisions":["%s"],"breaking_changes":["%s"]},' "$json" "$json" >> "$RELAY_RESULT"
printf '"bugfix":{"symptom":"%s","root_cause":"%s","fix":"%s","regression_risk":"%s"},' "$json" "$json" "$json" "$json" >> "$RELAY_RESULT"
printf '"review":{"scope":["%s"],"findings":[{"severity":"high","location":"%s","issue":"%s","recommendation":"%s"}],"assessment":"%s"}}' \
  "$json" "$json" "$json" "$json" "$json" >> "$RELAY_RESULT"
chmod 666 "$RELAY_RESULT"
[ "$RELAY_TASK" = T2 ] && exit 3
exit 0
`

// tokens are made up: each has the shape of one that a well-known service gives out, and belongs to nobody.
func tokens(r *rand.Rand) []string {
	some := func(n int, alphabet string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	const lower, digits, hex = "abcdefghijklmnopqrstuvwxyz", "0123456789", "0123456789abcdef"
	upper := strings.ToUpper(lower)
	all := lower + upper + digits
	part := func(text string) string {
		return strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(text)), "=")
	}
	return []string{
		"gh" + "p_" + some(36, all), "github" + "_pat_" + some(82, all), "gl" + "pat-" + some(20, all), "AK" + "IA" + some(16, upper+"234567"),
		"xo" + "xb-" + some(11, digits) + "-" + some(12, digits) + some(24, all), "sk" + "_live_" + some(24, all), "np" + "m_" + some(36, lower+digits),
		"AI" + "za" + some(35, all), "sk" + "-ant-api03-" + some(93, all) + "AA", "do" + "p_v1_" + some(64, hex), "h" + "f_" + some(34, lower+upper),
		part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"`+some(20, all)+`"}`) + "." + some(43, all),
	}
}

// What an agent, a check and a reviewer know of secrets is in none of relay's files and in nothing that it prints,
// whole or by half, except in the outputs as they came, which are the user's alone; nor is what the configuration has of them.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	needsMore(t)
	t.Parallel()
	for _, isolation := range []string{"none", "shared", "worktree"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			secretsStay(t, isolation)
		})
	}
}

func secretsStay(t *testing.T, isolation string) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	known := tokens(r)
	value := fmt.Sprintf(`Xy"%x/w+rd %x&z=\n`, r.Uint64(), r.Uint64())
	plain, password := fmt.Sprintf("v%xw%x", r.Uint64(), r.Uint64()), fmt.Sprintf("p%xq", r.Uint64())
	configured, agents := fmt.Sprintf("c%xd%x", r.Uint64(), r.Uint64()), fmt.Sprintf("a%xb%x", r.Uint64(), r.Uint64())
	coded := base64.StdEncoding.EncodeToString([]byte("user:" + plain + "!"))
	text := strings.Join(append(known, value, plain, password, configured, agents, "a URL with "+url.QueryEscape(value)+", "+url.PathEscape(value)+".",
		"base64 "+coded, "Over two lines: "+plain[:len(plain)/2], "    "+plain[len(plain)/2:]+" is one."), "\n") + "\n"
	needles := append([]string{
		value, plain, password, configured, agents, url.QueryEscape(value), url.PathEscape(value),
		jsonText(value), coded[10:40], plain[:len(plain)*2/3], plain[len(plain)/3:],
	}, known...)
	for _, token := range known {
		needles = append(needles, token[:2*len(token)/3], token[len(token)/3:])
	}

	l := newLab(t, secretPlan, babbler)
	settings := fmt.Sprintf(labSettings, filepath.Join(l.home, "agent.sh"))
	settings = strings.Replace(settings, "], result: final", ", --key, "+known[0]+"], env: [AGENT_API_KEY="+agents+"], result: final", 1)
	settings += fmt.Sprintf("  review: {enabled: %t, provider: fake}\n  max_attempts_per_task: 3\n", isolation != "shared")
	l.settings(settings + "  env: [CONFIGURED_SECRET=" + configured + "]\n")
	l.write(l.inHome("tokens"), text)
	l.write(l.inHome("tokens.json"), jsonText(text))
	l.env = append(l.env, "RELAY_ISOLATION="+isolation, "LAB_API_KEY="+value, "LAB_TOKEN="+plain, "DATABASE_URL=postgres://lab:"+password+"@localhost/lab")

	w := l.prepared(nil, "work")
	w.cmd.Args = []string{"sh", "-c", `umask 0; exec "$0" work`, w.cmd.Path}
	w.cmd.Path = "/bin/sh"
	l.end(l.begin(w))
	w.wants(t, terminal.Gated)
	told := map[string]string{"work": w.stdout.String() + w.stderr.String()}
	for _, args := range [][]string{
		{"status", "--verbose"},
		{"status", "--json"},
		{"show", "T1"},
		{"show", "T1", "--json"},
		{"show", "T1", "--brief"},
		{"show", "T1", "--attempt", "1", "--checks"},
		{"show", "T1", "--log"},
		{"show", "T2", "--brief"},
		{"ledger", "log"},
		{"ledger", "log", "--json"},
		{"report"},
		{"ledgersync", "log", "--json"},
		{"artifact", "list"},
		{"discuss", "open"},
		{"discuss", "replay", "t"},
		{"init", "--append", "--dry-run"},
		{"learn"},
		{"resume", "--dry-run"},
		{"gate", "T3", "--reason", plain + " " + known[0]},
	} {
		ran := l.run(args...)
		told[strings.Join(args, " ")] = ran.stdout.String() + ran.stderr.String()
	}
	var served bytes.Buffer
	err := mcptest.Ask(t.Context(), l.prepared(nil, "mcp").stdless(), []string{
		"call", "status", `{}`, "task", `{"task":"T1"}`, "receipts", `{"task":"T1"}`, "brief", `{"task":"T2"}`, "brief", `{"task":"T1","attempt":1}`,
		"sessions_search", `{"words":["a*"],"last":100}`, "extract_open_threads", `{}`, "replay_reasoning", `{"entry_id":"t"}`,
	}, &served)
	if told["mcp"] = served.String(); err != nil || !strings.Contains(told["mcp"], "relay has gated T") || !strings.Contains(told["mcp"], `"snippet"`) {
		t.Errorf("relay mcp: %v, %s", err, served.String())
	}
	l.everyFile(func(name string, info fs.FileInfo) {
		rows := strings.HasPrefix(path.Base(name), "agents-ledger") // of the transcripts, as they came
		if strings.Contains(name, "/runs") || rows {
			if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[info.IsDir()]; info.Mode().Perm() != want {
				t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
			}
		}
		raw := strings.HasSuffix(name, "/transcript.jsonl") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, "/changes.patch") || rows
		if !info.IsDir() && !raw {
			told[name] = l.read(name)
		}
	})
	settled := 0
	for name, text := range told {
		if strings.HasSuffix(name, "/settings.yml") && strings.Contains(text, "CONFIGURED_SECRET") && strings.Contains(text, "AGENT_API_KEY") {
			settled++
		}
	}
	if settled != 1 {
		t.Errorf("%d settings.yml name the variables of the configuration, want 1", settled)
	}
	if !strings.Contains(told["ledger log --json"], `"discovered"`) || told["ledgersync log --json"] == "" || told["artifact list"] == "" {
		t.Error("not all that agents say is recorded")
	}
	if len(told) < 20 {
		t.Errorf("only %d files and outputs were looked at", len(told))
	}
	for where, said := range told {
		for _, needle := range needles {
			if strings.Contains(said, needle) {
				t.Errorf("%s has %q:\n%.3000s", where, needle, said)
			}
		}
	}
	for _, name := range []string{"LAB_API_KEY", "LAB_TOKEN", "DATABASE_URL", "github-pat", "jwt"} {
		if !strings.Contains(told["show T1"], "[redacted "+name+"]") {
			t.Errorf("nothing says that %s was left out:\n%s", name, told["show T1"])
		}
	}
}

// jsonText is a text as it stands between the quotes of a JSON string.
func jsonText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}

// everyFile visits what is in relay's folder, and the records for other programs.
func (l *lab) everyFile(visit func(name string, info fs.FileInfo)) {
	l.t.Helper()
	for _, folder := range []string{".agents-os/relay", ".ledger", ".ledgersync", "thoughts"} {
		err := filepath.WalkDir(l.path(folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil {
				visit(filepath.ToSlash(name), info)
			}
			return err
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
}
