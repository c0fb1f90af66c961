package worker

import (
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// says prints a tool call as Claude Code prints it: SAY(TOOL, INPUT) in a script.
const says = `say() { echo '{"type":"system","subtype":"init","session_id":"s"}'; echo '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"'$1'","input":{"file_path":"'$2'"}}]}}'; }; `

// Files that an agent wrote in the user's checkout are its work, and those that may not be its own are looked at.
func TestWorkBesideTheSlot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, script string // of the user, of the agent
		want           string // the files of the work
		notes, looks   string
		unsaid         string // what no note says
	}{
		"a new file": {
			script: "mkdir ROOT/lib; echo x > ROOT/lib/x; say Write ROOT/lib/x", want: "lib/x",
			notes: "the agent wrote lib/x in your checkout: relay copied that into the work of the task; to take back the copy that is left there, before relay finish: git clean -f -- lib/x",
		},
		"a changed file": {
			script: "echo x > ROOT/seed.txt; say Edit ROOT/seed.txt", want: "seed.txt", unsaid: "if that was not you",
			notes: "to take back the copy that is left there, before relay finish: git restore --source=BASE --worktree -- seed.txt",
		},
		"a program":                     {script: "echo x > ROOT/x; chmod +x ROOT/x; say Write ROOT/x; echo y > y", want: "x y", notes: "wrote x in"},
		"one that no call names":        {script: "echo x > x; echo y > ROOT/y; say Write x", want: "x", unsaid: "your checkout"},
		"one that was only read":        {script: "echo x > x; echo y > ROOT/y; say Read ROOT/y", want: "x", unsaid: "your checkout"},
		"one of before":                 {before: "echo y > y", script: "echo x > x; say Write ROOT/y", want: "x", unsaid: "your checkout"},
		"an ignored one":                {script: "echo x > x; echo y > ROOT/y.log; say Write ROOT/y.log", want: "x", unsaid: "your checkout"},
		"one of relay's":                {script: "echo x > x; echo y > ROOT/.agents.yml; say Write ROOT/.agents.yml", want: "x", unsaid: "your checkout"},
		"a link":                        {script: "echo x > x; ln -s /etc/passwd ROOT/y; say Write ROOT/y", want: "x", unsaid: "your checkout"},
		"one below a link":              {script: "echo x > x; echo y > ../y; ln -s $PWD/.. ROOT/l; say Write ROOT/l/y", want: "x", unsaid: "your checkout"},
		"a large one":                   {script: "echo x > x; head -c 2097153 /dev/zero > ROOT/y; say Write ROOT/y", want: "x", unsaid: "your checkout"},
		"a secret":                      {script: "echo x > x; echo TOKEN > ROOT/y; say Write ROOT/y", want: "x", notes: "relay did not commit y (github-pat), as the task does not name it"},
		"a link in the slot":            {script: "mkdir ROOT/l; echo x > ROOT/l/x; ln -s /tmp l; say Write ROOT/l/x", want: "l/x"},
		"a link in place of it":         {script: "echo x > ROOT/x; ln -s /dev/null x; say Write ROOT/x", want: "x"},
		"a link to git's own":           {script: "mkdir ROOT/l; echo x > ROOT/l/config; ln -s .git l; say Write ROOT/l/config", want: "l/config", looks: "from your checkout: it takes l/config from your checkout, and it replaces another version, from which the task began"},
		"the same in both":              {script: "echo x > ROOT/x; echo x > x; say Write ROOT/x", want: "x", notes: "wrote x in"},
		"changed by the user, too":      {before: "echo mine >> seed.txt", script: "echo x >> ROOT/seed.txt; say Edit ROOT/seed.txt", want: "seed.txt", looks: "from your checkout: it takes seed.txt from your checkout, and you had changed it before the run"},
		"changed since by another task": {script: "echo x >> ROOT/tests/a.txt; say Edit ROOT/tests/a.txt; echo y >> tests/a.txt", want: "tests/a.txt", looks: "from your checkout: it takes tests/a.txt from your checkout, and it replaces another version, from which the task began"},
		"no calls are known":            {script: "echo x > x; echo y > ROOT/y", want: "x", unsaid: "your checkout"},
		"named by a command":            {script: "echo x > ROOT/x; say Bash ROOT/x", want: "x", looks: "from your checkout: it takes x from your checkout, and only a command of its agent names it"},
		"one that it removed":           {script: "echo x > x; rm ROOT/seed.txt; say Edit ROOT/seed.txt", want: "x", looks: "from your checkout: it does not take seed.txt, which has changed in your checkout too"},
		"a name that is no text":        {script: `echo x > ROOT/x; printf y > ROOT/$(printf 'caf\351.txt'); say Write ROOT/x`, want: "x", notes: "wrote x in"},
		"a commit of its own, before":   {script: "echo y > y; git add y; git commit -qm Y; echo x > ROOT/x; say Write ROOT/x", want: "x y", notes: "wrote x in", unsaid: "left uncommitted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "true")
			o := l.slotOptions()
			o.Limits.MaxFile = 2 << 20
			l.Sh(c.before)
			y := l.inSlots(o)
			script := says + strings.NewReplacer("ROOT", l.Root, "TOKEN", token).Replace(c.script)
			r := y.proved("T1", script, "true").Result
			if got := strings.Join(r.Receipt.FilesChanged, " "); got != c.want {
				t.Errorf("the work has %q, want %q", got, c.want)
			}
			notes := strings.ReplaceAll(texts(r.Notes), l.Git("rev-parse", "HEAD"), "BASE")
			if !strings.Contains(notes, c.notes) || c.unsaid != "" && strings.Contains(notes, c.unsaid) {
				t.Errorf("got %s", notes)
			}
			var looks []string
			for _, look := range r.Receipt.Looks {
				looks = append(looks, look.Cause+": "+look.Text)
			}
			if got := strings.Join(looks, "; "); got != c.looks {
				t.Errorf("got a look %q, want %q", got, c.looks)
			}
		})
	}
}

// A further attempt is not held for a file that the first one wrote there, and does not take it again.
func TestWorkBesideTheSlotThatFails(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	work := says + "echo 'exit 1' > " + y.Root + "/check.sh; say Write " + y.Root + "/check.sh"
	if r := y.does("T1", work, "sh check.sh").Result; r.Outcome == attempts.Success || r.Outcome == attempts.Environment {
		t.Errorf("got %s %q", r.Outcome, r.Receipt.ErrorSummary)
	}
	a := engine.Attempt{
		Run: y.l.run.o.Run, Number: 2, Runner: says + "echo 'exit 0' > check.sh; say Read " + y.Root + "/check.sh",
		Task: epic.Task{ID: "T1", Title: "One", Checks: checksOf([]string{"sh check.sh"})}, Base: y.Git("rev-parse", "HEAD"),
	}
	r, err := y.l.Run(y.Context(), a)
	if err != nil || r.Outcome != attempts.Success || len(r.Receipt.Looks) > 0 {
		t.Errorf("got %s %q, %v, %v", r.Outcome, r.Receipt.ErrorSummary, r.Receipt.Looks, err)
	}
}

// Two agents that work at the same time name the same file.
func TestWorkBesideTwoSlots(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	meet := "; echo > " + y.Root + "/$1.log; while ! test -e " + y.Root + "/$2.log; do sleep 0.01; done"
	script := says + "echo x >> " + y.Root + "/seed.txt; say Edit " + y.Root + "/seed.txt"
	done := make(chan engine.Verified)
	for _, two := range [][2]string{{"1", "2"}, {"2", "1"}} {
		go func() {
			done <- y.does("T"+two[0], "set "+two[0]+" "+two[1]+"; "+script+meet, "true")
		}()
	}
	for range 2 {
		r := <-done
		if got := r.Result.Receipt.Looks; len(got) != 1 || !strings.Contains(got[0].Text, "it takes seed.txt from your checkout, and the agent of T") {
			t.Errorf("%s: got %v, %q", r.Attempt.Task.ID, got, r.Result.Receipt.ErrorSummary)
		}
	}
}
