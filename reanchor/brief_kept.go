package reanchor

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// goOn returns text that says what to do with the work of an attempt that is in the checkout.
func goOn(a attempts.Attempt) string {
	if a.Outcome == attempts.Tamper {
		return "relay has restored the protected files. The rest of its work is here, not committed: look at git status and git diff HEAD, and go on from there. The same is kept in " + code(a.Receipt.Salvage) + "."
	}
	text := "It was stopped"
	if took := a.EndedAt.Sub(a.StartedAt).Round(time.Minute); took >= time.Minute {
		text += " after " + strconv.Itoa(int(took.Minutes())) + " minutes"
	}
	return text + ". Its work until then is here, not committed: look at git status and git diff HEAD, and go on from there. The same is kept in " + code(a.Receipt.Salvage) + "."
}

// lesson returns text that says what to make of a failure. Work that broke off in the middle is gone on from.
func lesson(last attempts.Attempt) string {
	switch last.Receipt.ErrorCategory {
	case attempts.ContextSpent, attempts.TurnsSpent, attempts.ModelRefused, attempts.AgentKilled, attempts.TimedOut:
		return ""
	default:
		return " Find out why it failed and address those errors; do not try the same thing again."
	}
}

// decided lists decisions, by what was open.
func decided(decisions map[string]string) string {
	return strings.Join(each.Of(slices.Sorted(maps.Keys(decisions))[:min(len(decisions), fewItems)], func(what string) string {
		return strings.TrimSuffix(plaintext.ShortLine(what, titleBytes)+": "+plaintext.ShortLine(decisions[what], 500), ": ")
	}), "; ")
}
