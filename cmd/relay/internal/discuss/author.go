package discuss

import (
	"strconv"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/reanchor"
)

func gitName() reanchor.Call { return reanchor.Call{Args: []string{"config", "user.name"}} }

// agent names the attempt that has started this process, as in "codex T1/2", by what relay has put into its environment; "": none has.
func agent(a *cli.App) string {
	mark := append(strings.SplitN(a.Lookup("RELAY_ATTEMPT"), "/", 4), "", "", "")
	task, attempt := mark[1], mark[2]
	if task == "" || attempt == "" {
		return ""
	}
	name := task + "/" + attempt
	if role := mark[3]; role != "" { // of another runner than the attempt's
		return name + " " + role
	}
	view, err := attempts.Read(a.Lookup("RELAY_DIR"), nil, nil)
	if err != nil {
		return name
	}
	if record := view.Ledger.Tasks[task]; record != nil {
		for _, there := range record.Attempts {
			if strconv.Itoa(there.ID) == attempt && there.Runner != "" {
				return there.Runner + " " + name
			}
		}
	}
	return name
}
