package attemptfiles

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// endLimit is how long a run waits for the guardian of a killed run to write down how a reviewer ended.
const endLimit = 3 * time.Second

// AwaitEnds waits until the end of each question below folder is written down (folder/REVIEWER/N/end.json), for at most endLimit.
// The guardian of a killed run ends a reviewer before it writes that. Without it the reviewer seems to have ended with the last
// line that it printed, and what it committed after that would count as a person's.
func AwaitEnds(ctx context.Context, folder string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(endLimit)
	for {
		asked, _ := filepath.Glob(filepath.Join(folder, "*", "*", "prompt.md"))
		if !slices.ContainsFunc(asked, func(prompt string) bool { return !ended(filepath.Dir(prompt)) }) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-late:
			return
		case <-tick.C:
		}
	}
}

func ended(question string) bool {
	_, err := os.Lstat(filepath.Join(question, "end.json"))
	return err == nil
}
