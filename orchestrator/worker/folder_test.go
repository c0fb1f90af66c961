package worker

import (
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
)

// Whatever an agent or a check has put in the place of a file of an attempt's: nobody waits for it, the attempt comes to its
// own end, and what relay writes there is relay's.
func TestNothingInTheFolderIsInTheWay(t *testing.T) {
	t.Parallel()
	const folder = `W="$RELAY_DIR/runs/${RELAY_ATTEMPT%/*}/1"; echo 1 > "one$RELAY_TASK"; `
	in := func(file, how string) string { return strings.ReplaceAll(how, "FILE", `"$W/`+file+`"`) }
	for name, how := range map[string]string{
		"a pipe":           `mkdir -p $(dirname FILE); rm -rf FILE; mkfifo FILE`,
		"a folder":         `rm -rf FILE; mkdir -p FILE/x`,
		"a link":           `mkdir -p $(dirname FILE); rm -rf FILE; ln -s /dev/zero FILE`,
		"a file above it":  `rm -rf $(dirname FILE); echo x > $(dirname FILE)`,
		"a link above it":  `mkdir -p $(dirname FILE); D=$(mktemp -d -p "$PWD/.."); mv $(dirname FILE) "$D/x"; ln -s "$D/x" $(dirname FILE)`,
		"no way above it":  `mkdir -p $(dirname FILE); chmod 0 $(dirname FILE)`,
		"no way inside it": `mkdir -p $(dirname FILE); echo x > FILE; chmod 0 FILE`,
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			y := newSlotLab(t)
			y.l.run.o.Worktree.Setup = []string{"true"}
			for i, c := range []struct{ file, exit, check string }{
				{"checks/1-task.log", "", "echo said"},
				{"checks/1-setup.log", "", "echo said"},
				{"changes.patch", "exit 1", "echo said"},
				{"transcript.jsonl", "", "echo said"},
				{"stderr.log", "exit 1", "echo said"},
				{"end.json", "", "echo said"},
				{"checks/1-task.log", "", folder + in("checks/1-task.log", how)}, // the check itself, while it writes there
			} {
				a := y.does(fmt.Sprintf("T%d", i), folder+in(c.file, how)+"; "+c.exit, c.check)
				f, want := a.Result, attempts.Success
				if c.exit != "" {
					want = attempts.Agent
				}
				if own := name == "a file above it" && f.Outcome == attempts.Agent; f.Outcome != want && !own { // with its result in it
					t.Errorf("%s: %s (%s)", c.file, f.Outcome, f.Receipt.ErrorSummary)
				}
				if c.check == "echo said" && f.Outcome == attempts.Success {
					y.Wants(map[string]string{".agents-os/relay/" + f.Receipt.Checks[0].Log: "said\n"})
				}
				if f.Outcome == attempts.Success {
					y.step(a)
				}
			}
		})
	}
}
