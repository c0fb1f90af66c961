package labtest

import (
	"os"
	"strings"
	"testing"
)

// An acceptance command is the user's, but what it runs an agent may have written: it is watched as an agent is.
func TestAdversaryChecks(t *testing.T) {
	t.Parallel()
	timedOut := fails("check", "test_failure", "took longer")
	for name, c := range map[string]struct {
		script string
		verdict
	}{
		"no .git":     {`rm -rf .git`, tampered.saying(".git")},
		"bare":        {`git config core.bare true`, believed},
		"ledger":      {`echo '{}' > .agents-os/relay/attempt-ledger.yml`, tampered.saying("relay's own files")},
		"no folder":   {`rm -rf .agents-os`, tampered.saying("relay's own files")},
		"fails":       {`rm -rf .git; exit 7`, tampered.saying(".git")},
		"says no":     {`echo "line 1"; echo "eels everywhere"; exit 7`, fails("check", "test_failure", "exit status 7")},
		"killed":      {`kill -KILL $$`, fails("check", "test_failure", "")},
		"hangs":       {`exec sleep 600`, timedOut},
		"stubborn":    {`trap '' TERM INT; while :; do sleep 600; done`, timedOut},
		"daemon":      {`(env -i setsid "$HOME/zzz" 6000 &); "$HOME/zzz" 6000 &`, believed},
		"flood":       {`yes "all work" | head -c 64M; head -c 32M /dev/zero | tr '\0' x >&2`, believed},
		"edits":       {`echo cheat > work.txt; echo junk > junk.txt; git add -A`, believed},
		"commits":     {`echo cheat > work.txt; git commit -qam cheat`, believed},
		"moves":       {`git switch -qc elsewhere; git reset -q --hard HEAD~1`, believed},
		"index.lock":  {`touch .git/index.lock`, believed},
		"half merge":  {`git switch -qc side HEAD~1; echo a > work.txt; git add .; git commit -qm a; git switch -q main; git merge side; :`, believed},
		"control":     {`printf '\033[2J\033]0;owned\007\000\377'; exit 1`, fails("check", "test_failure", "exit status 1")},
		"no shell":    {`exec /nonexistent`, fails("check", "test_failure", "exit status 127")},
		"reads stdin": {`cat; read x || true`, believed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyFirst(t, name, "no .git", "ledger", "says no", "stubborn", "daemon", "commits", "moves", "index.lock", "control")
			limit := "1"
			if c.says == timedOut.says {
				limit = "0.01"
			}
			plan := strings.Replace(hostilePlan, "max_attempts: 1", "max_attempts: 1, checks: [{name: proof, run: sh check.sh, timeout_minutes: "+limit+"}]", 1)
			l := newLab(t, plan, measuring+"echo work > work.txt\ncat > check.sh <<'END'\n"+c.script+"\nEND\nok\n")
			l.env = append(l.env, "RELAY_TRANSCRIPT_MIB=2")
			sleep, err := os.ReadFile("/bin/sleep")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(l.inHome("zzz"), sleep, 0o755); err != nil {
				t.Fatal(err)
			}
			judged(t, l, c.verdict)
			l.modest()
			if left := l.alive(func(_ int, _, args string) bool { return strings.Contains(args, l.inHome("zzz")) }); len(left) > 0 {
				t.Errorf("%d processes live on", len(left))
			}
			if c.outcome == "success" {
				if got := l.git("show", "main:work.txt"); got != "work" {
					t.Errorf("work.txt landed as %q", got)
				}
			}
			harmless(t, "status", l.run("status", "--verbose"))
			harmless(t, "show", l.run("show", "T1"))
		})
	}
}
