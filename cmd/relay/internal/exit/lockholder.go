package exit

import (
	"errors"
	"fmt"
	"time"

	"relay/attempts"
	"relay/orchestrator/runlock"
	"relay/orchestrator/text"
)

// HolderText returns text that says who holds the epic.
func HolderText(h *attempts.Holder) string {
	if h == nil || h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.UTC().Format(time.RFC3339))
}

// HolderMessage returns text that says that another relay holds the epic, or else what err is about.
func HolderMessage(err error, e *attempts.HeldError) string {
	who, inUse := HolderText(&e.Holder), new(*runlock.InUseError)
	switch checkout := errors.As(err, inUse); {
	case checkout && (*inUse).Epic && e.Foreign:
		return "this epic is held in " + text.Line(e.Holder.Dir, 200) + " by " + who + ", another machine"
	case checkout && (*inUse).Epic:
		return "relay is already at work on this epic in " + text.Line(e.Holder.Dir, 200) + ": " + who
	case checkout && e.Foreign:
		return "this checkout is held by " + atWork(&e.Holder) + ", another machine"
	case checkout:
		return "relay is already at work in this checkout: " + atWork(&e.Holder)
	case e.Path != "" && e.Foreign:
		return "this repository is held by " + who + ", another machine"
	case e.Path != "":
		return "another relay has been changing the worktrees of this repository for too long: " + who
	case e.Foreign:
		return "the epic is held by " + who + ", another machine"
	}
	return "relay is already at work on this epic: " + who
}

// atWork returns text that says who holds a checkout, and for which epic.
func atWork(h *attempts.Holder) string {
	shown := HolderText(h)
	if h.Epic != "" {
		shown += ", on epic " + text.Line(h.Epic, 80)
	}
	if h.Dir != "" {
		shown += " in " + text.Line(h.Dir, 200)
	}
	return shown
}

// holderHint returns text that says what to type about whoever is in the way.
func holderHint(err error, e *attempts.HeldError) string {
	stop := "wait until it ends"
	if e.Holder.PID > 0 {
		stop += fmt.Sprintf(", or stop it cleanly: kill %d", e.Holder.PID)
	}
	inUse := new(*runlock.InUseError)
	switch {
	case e.Foreign && e.Path != "":
		return "if that run is over: rm " + text.ShellWord(e.Path) + ", then type the command again"
	case e.Foreign:
		return "if that run is over, remove the file lock in relay's folder, then type the command again"
	case errors.As(err, inUse) && (*inUse).Epic:
		return stop + "\nrelay init BLUEPRINT.md, with another title in it, makes an epic that can be worked here meanwhile"
	case errors.As(err, inUse):
		return stop + "\nto work on both, give one a checkout of its own: git worktree add"
	case e.Path != "":
		return stop
	}
	return "relay status --watch follows it\nCtrl-C or TERM stops it cleanly"
}
