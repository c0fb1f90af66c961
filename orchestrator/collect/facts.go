package collect

import (
	"cmp"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/each"
	"relay/reanchor/git"
	"relay/runners"
)

// MostChanges is how many changed files of an attempt are listed.
const MostChanges = 500

// FileChanges returns what git says of each file, the first of them, and how many more there are. unlisted are changes that names does
// not have.
func FileChanges(names []git.Change, lines map[string]git.Lines, unlisted int) (told []attempts.FileChange, more int) {
	shown := names[:min(len(names), MostChanges)]
	for _, n := range shown {
		told = append(told, attempts.FileChange{
			Path: n.Path, Kind: kind(n.Code), From: n.From, Added: lines[n.Path].Added, Deleted: lines[n.Path].Deleted,
		})
	}
	return told, len(names) - len(shown) + unlisted
}

// kind returns what became of a file by the letter that git has for it.
func kind(code string) attempts.ChangeKind {
	switch code {
	case "A", "C":
		return attempts.FileAdded
	case "D":
		return attempts.FileDeleted
	case "R":
		return attempts.FileRenamed
	default:
		return attempts.FileModified
	}
}

// Tools adds how often tools were used in another turn, the most used first.
func Tools(before []attempts.ToolUse, turn []attempts.ToolUse) []attempts.ToolUse {
	all := slices.Clone(before)
	for _, use := range turn {
		i := slices.IndexFunc(all, func(one attempts.ToolUse) bool { return one.Name == use.Name })
		if i < 0 {
			all = append(all, use)
			continue
		}
		all[i].Calls += use.Calls
		all[i].Failed += use.Failed
	}
	slices.SortFunc(all, func(a, b attempts.ToolUse) int { return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Name, b.Name)) })
	return all
}

// ToolsUsed returns how often tools were used, as a runner reports it.
func ToolsUsed(tools []runners.ToolUse) []attempts.ToolUse {
	return each.Of(tools, func(use runners.ToolUse) attempts.ToolUse { return attempts.ToolUse(use) })
}
