package checks

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/verdict"
)

// hookScript runs a hook as git commit would where a task is one commit: what it has changed is staged on its base. A hook that changes
// files would have another commit than the one that lands, and fails: what it changes is taken into the work once. Afterwards the checkout
// is at that commit again.
const hookScript = `git reset -q --soft %[1]s || exit 1
%[3]s; ended=$?
changed=$(git diff --name-only %[2]s --) || exit 1; git reset -q --soft %[2]s
[ -z "$changed" ] || { echo "error: the pre-commit hook changes" $changed; exit 1; }
exit $ended`

// Hook is the user's pre-commit hook, a file, as one more check of a task's work between two commits.
func Hook(file, base, head string, index int) Check {
	quoted := "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	return Check{
		Check: epic.Check{Name: verdict.HookName, Run: fmt.Sprintf(hookScript, base, head, quoted)},
		Index: index, Phase: attempts.PhaseTask,
	}
}
