package labtest

import (
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

// Side by side nobody can say whose doing it was: what is destroyed is put back and told of, and nobody is gated for it.
func TestAdversarySideBySide(t *testing.T) {
	needsMore(t)
	t.Parallel()
	for name, agent := range map[string]string{
		"no .git":       `rm -rf .git`,
		"nothing":       `rm -rf .git .agents-os * .[a-z]*`,
		"ledger":        `echo 'task_status: {T1: completed, T2: completed}' > "$RELAY_DIR/attempt-ledger.yml"`,
		"no log":        `rm -rf "$RELAY_DIR/runs"`,
		"log":           `for f in "$RELAY_DIR"/runs/*/events.jsonl; do : > "$f"; done`,
		"linked folder": `mv "$RELAY_DIR" "$HOME/moved"; ln -s "$HOME/moved" "$RELAY_DIR"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// T2 is at work while T1 strikes, and ends after it.
			l := newLab(t, crashPlan, `
claim() { mkdir -p "${RELAY_RESULT%/*}"; ok; }
if [ "$RELAY_TASK" = T1 ]; then
  until [ -e "$HOME/up" ]; do sleep 0.01; done
  `+agent+`
  claim; touch "$HOME/struck"; exit 0
fi
touch "$HOME/up"
until [ -e "$HOME/struck" ]; do sleep 0.01; done
claim
`)
			l.env = append(l.env, "RELAY_ISOLATION=shared", "RELAY_JOBS=2")
			r := l.work(terminal.OK)
			r.says(t, "put it back")
			f := l.ledger()
			if f.TaskStatus["T1"] != "completed" || f.TaskStatus["T2"] != "completed" || len(f.Gated) != 0 {
				t.Errorf("the ledger says %+v", f)
			}
			l.commits()
			l.quiet()
			l.run("ledger", "validate").wants(t, terminal.OK)
			l.accounted()
			if text := l.run("status").stdout.String(); !strings.Contains(text, "2 of 2 completed") {
				t.Errorf("status says\n%s", text)
			}
		})
	}
}

// Agents of a shared checkout that flood, linger and leave daemons, several at a time: all of it is swept, and the
// promise on memory holds.
func TestAdversaryCrowd(t *testing.T) {
	needsMore(t)
	t.Parallel()
	var plan strings.Builder
	plan.WriteString("version: 2\nid: 20260101-crowd\ntitle: Survive\ntasks:\n")
	for _, id := range []string{"A1", "A2", "A3", "A4", "A5", "A6"} {
		plan.WriteString("  " + id + ": {title: Crowd}\n")
	}
	plan.WriteString("  T2: {title: Measure, depends_on: [A1, A2, A3, A4, A5, A6]}\n")
	l := newLab(t, plan.String(), measuring+`
(env -i setsid sleep 6000 &)
head -c 24M /dev/zero | tr '\0' x
ok
exec sleep 600
`)
	l.settings(strings.Replace(strings.Replace(l.read(l.inHome(".config/relay/agents.yml")), "linger_seconds: 1", "linger_seconds: 0.2", 1), "relay:\n", "relay:\n  transcript_mib: 1\n", 1))
	l.env = append(l.env, "RELAY_ISOLATION=shared", "RELAY_JOBS=6")
	l.work(terminal.OK)
	l.modest()
	l.quiet()
	for id, list := range l.ledger().Attempts {
		if len(list) != 1 || list[0].Result != "success" {
			t.Errorf("%s: %+v", id, list)
		}
	}
}
