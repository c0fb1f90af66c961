package labtest

import (
	"os"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

const hostilePlan = `version: 2
id: 20260101-hostile
title: Survive
protected: ["seed.txt", "ci/**"]
tasks:
  T1: {title: One, max_attempts: 1}
  T2: {title: Two}
`

// honest lets T2 do its work and leaves T1 to the adversary.
const honest = `
if [ "$RELAY_TASK" = T2 ]; then echo two > T2.txt; ok; exit 0; fi
`

// verdict is what an adversary's attempt must come to.
type verdict struct {
	outcome  string // of the attempt: success, agent, timeout, tamper, …
	category string
	gate     string
	says     string   // part of the error
	landed   []string // commits of T1 on the branch
}

var (
	notTold  = verdict{outcome: "agent", category: "no_result", gate: "max_attempts_exceeded"}
	tampered = verdict{outcome: "tamper", category: "tamper", gate: "tampered"}
	believed = verdict{outcome: "success", landed: []string{"T1: One"}}
)

func (v verdict) saying(text string) verdict {
	v.says = text
	return v
}

// fails is the verdict on an attempt that failed as itself says.
func fails(outcome, category, says string) verdict {
	return verdict{outcome: outcome, category: category, gate: "max_attempts_exceeded", says: says}
}

// judged runs an adversary as T1 and wants its verdict, T2 done, a checkout as if T1 had never been, and nothing left.
func judged(t *testing.T, l *lab, v verdict) *running {
	t.Helper()
	code := terminal.Gated
	if v.outcome == "success" {
		code = terminal.OK
	}
	r := l.work(code)
	a := l.last("T1")
	if a.Outcome != v.outcome || a.Receipt.ErrorCategory != v.category || !strings.Contains(a.Receipt.ErrorSummary, v.says) {
		t.Errorf("T1 ended as %s, %s: %q\nwant %s, %s: … %q …", a.Outcome, a.Receipt.ErrorCategory, a.Receipt.ErrorSummary, v.outcome, v.category, v.says)
	}
	f := l.ledger()
	if got := f.Gated["T1"].Reason; got != v.gate {
		t.Errorf("T1 is gated as %q, want %q", got, v.gate)
	}
	if f.TaskStatus["T2"] != "completed" {
		t.Errorf("T2 is %s, want it completed", f.TaskStatus["T2"])
	}
	l.commits(append(v.landed, "T2: Two")...)
	l.clean()
	l.quiet()
	return r
}

// What an agent says, does not say, and how it ends.
func TestAdversaryClaims(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent string
		verdict
	}{
		"silent":            {`echo work > work.txt; exit 0`, notTold},
		"no change":         {`ok`, fails("agent", "no_change", "nothing has changed")},
		"no JSON":           {`echo work > work.txt; echo done > "$RELAY_RESULT"`, notTold},
		"half JSON":         {`echo work > work.txt; printf '{"status":"succ' > "$RELAY_RESULT"`, notTold},
		"empty":             {`: > "$RELAY_RESULT"`, notTold},
		"no status":         {`echo '{"summary":"all done"}' > "$RELAY_RESULT"`, notTold},
		"huge result":       {`{ printf '{"status":"success","summary":"'; head -c 3000000 /dev/zero | tr '\0' x; printf '"}'; } > "$RELAY_RESULT"`, notTold},
		"deep result":       {`{ printf '{"status":"success","summary":"x","decisions":'; head -c 900000 /dev/zero | tr '\0' '['; } > "$RELAY_RESULT"`, notTold},
		"linked result":     {`echo work > work.txt; ln -s /etc/passwd "$RELAY_RESULT"`, notTold.saying("not a regular file")},
		"linked good":       {`echo work > work.txt; echo '{"status":"success","summary":"x"}' > "$HOME/r.json"; ln -s "$HOME/r.json" "$RELAY_RESULT"`, notTold},
		"result is a pipe":  {`mkfifo "$RELAY_RESULT"`, notTold},
		"result is a dir":   {`mkdir -p "$RELAY_RESULT/x"`, notTold},
		"success, exit 3":   {`echo work > work.txt; ok; exit 3`, fails("agent", "code_error", "exit status 3")},
		"exit 137":          {`exit 137`, fails("agent", "code_error", "137")},
		"killed":            {`kill -KILL $$`, fails("agent", "code_error", "KILL")},
		"segmentation":      {`kill -SEGV $$`, fails("agent", "code_error", "SEGV")},
		"expression":        {`echo '{"status":"failure","summary":"no","error_category":"x\" | .task_status.T2 = \"completed\" | \"","error_summary":"no"}' > "$RELAY_RESULT"`, fails("agent", "code_error", "task_status")},
		"protected":         {`echo weak > seed.txt; ok`, tampered.saying("seed.txt")},
		"protected, new":    {`mkdir ci; echo x > ci/new; git add .; git commit -qm "T1: sneak"; ok`, tampered.saying("ci/new")},
		"protected, moved":  {`git mv seed.txt seeds.txt; git commit -qm "T1: move"; ok`, tampered.saying("seed.txt")},
		"lingers":           {`echo work > work.txt; ok; exec sleep 600`, believed},
		"lingers stubborn":  {`trap '' TERM; echo work > work.txt; ok; while :; do sleep 600; done`, believed},
		"ignores TERM":      {`trap '' TERM INT HUP; echo work > work.txt; while :; do sleep 600; done`, fails("timeout", "timeout", "")},
		"stops itself":      {`echo work > work.txt; kill -STOP $$`, fails("timeout", "timeout", "")},
		"outlives its word": {`echo work > work.txt; ( sleep 600 & ); ok`, believed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyFirst(t, name, "silent", "no change", "half JSON", "linked result", "result is a pipe", "success, exit 3",
				"killed", "protected", "protected, moved", "lingers stubborn", "ignores TERM", "outlives its word")
			plan := hostilePlan
			if c.outcome == "timeout" {
				plan = strings.Replace(plan, "max_attempts: 1", "max_attempts: 1, timeout_minutes: 0.05", 1)
			}
			l := newLab(t, plan, honest+c.agent+"\n")
			judged(t, l, c.verdict)
			if a := l.last("T1"); c.outcome != "success" && a.Head != "" && a.Receipt.Salvage == "" && strings.Contains(c.agent, "> work.txt") {
				t.Errorf("the work of the failed attempt is not kept: %+v", a)
			}
		})
	}
}

// What an agent leaves running is ended before the next task begins, however it hides.
func TestAdversaryDaemons(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]string{
		"background":      `"$HOME/zzz" 6000 &`,
		"session":         `setsid "$HOME/zzz" 6000 &`,
		"double fork":     `(setsid sh -c '"$HOME/zzz" 6000 & "$HOME/zzz" 6000 &' &)`,
		"no environment":  `(env -i setsid sh -c '"$0" 6000 & "$0" 6000 &' "$HOME/zzz" </dev/null >/dev/null 2>&1 &)`,
		"ignores TERM":    `(trap '' TERM; setsid "$HOME/zzz" 6000 &)`,
		"stopped":         `"$HOME/zzz" 6000 & kill -STOP $!`,
		"holds the files": `setsid "$HOME/zzz" 6000 9> "$RELAY_RESULT.lock" &`,
		"many":            `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (env -i setsid "$HOME/zzz" 6000 &) ; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyFirst(t, name, "session", "double fork", "no environment", "many")
			// T2 sees what T1 has left.
			l := newLab(t, hostilePlan, `
if [ "$RELAY_TASK" = T2 ]; then cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -c "$HOME/[z]zz" > "$HOME/seen"; fi
`+honest+agent+"\necho work > work.txt; ok\n")
			sleep, err := os.ReadFile("/bin/sleep")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(l.inHome("zzz"), sleep, 0o755); err != nil {
				t.Fatal(err)
			}
			r := judged(t, l, believed)
			r.says(t, "left behind")
			if got := strings.TrimSpace(l.read(l.inHome("seen"))); got != "0" {
				t.Errorf("T2 saw %s processes of T1", got)
			}
			if left := l.alive(func(_ int, _, args string) bool { return strings.Contains(args, l.inHome("zzz")) }); len(left) > 0 {
				t.Errorf("%d processes live on", len(left))
			}
		})
	}
}
