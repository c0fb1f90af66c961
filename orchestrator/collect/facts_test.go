package collect

import (
	"fmt"
	"reflect"
	"testing"

	"relay/attempts"
	"relay/reanchor/git"
	"relay/runners"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	names := []git.Change{
		{Code: "A", Path: "a"}, {Code: "M", Path: "m"}, {Code: "T", Path: "t"}, {Code: "D", Path: "d"}, {Code: "R", Path: "new", From: "old"}, {Code: "C", Path: "c", From: "m"},
	}
	lines := map[string]git.Lines{"a": {Added: 3}, "m": {Added: 1, Deleted: 2}, "d": {Deleted: 9}, "new": {Added: 1}}
	want := []attempts.FileChange{
		{Path: "a", Kind: attempts.FileAdded, Added: 3},
		{Path: "m", Kind: attempts.FileModified, Added: 1, Deleted: 2},
		{Path: "t", Kind: attempts.FileModified},
		{Path: "d", Kind: attempts.FileDeleted, Deleted: 9},
		{Path: "new", Kind: attempts.FileRenamed, From: "old", Added: 1},
		{Path: "c", Kind: attempts.FileAdded, From: "m"},
	}
	if got, more := FileChanges(names, lines, 0); !reflect.DeepEqual(got, want) || more != 0 {
		t.Errorf("got %+v and %d more", got, more)
	}
	if got, more := FileChanges(nil, nil, 0); got != nil || more != 0 {
		t.Errorf("of nothing: %+v and %d more", got, more)
	}
	var many []git.Change
	for i := range MostChanges + 7 {
		many = append(many, git.Change{Code: "A", Path: fmt.Sprint(i)})
	}
	if got, more := FileChanges(many, nil, 100_000); len(got) != MostChanges || more != 100_007 {
		t.Errorf("%d and %d more", len(got), more)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	first := ToolsUsed([]runners.ToolUse{{Name: "Read", Calls: 2}, {Name: "Bash", Calls: 1, Failed: 1}})
	got := Tools(first, ToolsUsed([]runners.ToolUse{{Name: "Bash", Calls: 4, Failed: 1}, {Name: "Edit", Calls: 2}}))
	want := []attempts.ToolUse{{Name: "Bash", Calls: 5, Failed: 2}, {Name: "Edit", Calls: 2}, {Name: "Read", Calls: 2}}
	if !reflect.DeepEqual(got, want) || first[1].Calls != 1 {
		t.Errorf("got %v, and before %v", got, first)
	}
	if got := Tools(nil, nil); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}
