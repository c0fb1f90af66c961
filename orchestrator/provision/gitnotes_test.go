package provision

import "testing"

// Notes of programs stay in git's configuration; what decides what git reads, runs or sends is put back, however it is written.
func TestOnlyNotes(t *testing.T) {
	t.Parallel()
	const was = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = /here\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
	for added, want := range map[string]bool{
		"[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n":    true,
		"[remote \"up\"]\n\turl = /there\n\tfetch = +refs/*:refs/*\n":    true,
		"[submodule \"s\"]\n\tactive = true\n\turl = ../s\n":             true,
		"[branch \"x\"]\n\tpushRemote = evil\n":                          false,
		"[BRANCH \"x\"]\n\tPushRemote=evil\n":                            false,
		"[branch \"x\"][core]\n\tbare = true\n":                          false,
		"[branch \"x\"] [core] bare = true\n":                            false,
		"[branch \"x\"] # note\n\tremote = origin\n":                     false,
		"[branch \"x\"]\n\tdescription = a \\\n[core]\n\tbare = true\n":  false,
		"[core]\n\thooksPath = /evil\n":                                  false,
		"[submodule \"s\"]\n\tupdate = !evil\n":                          false,
		"[remote \"origin\"]\n\turl = /evil\n":                           false,
		"[Remote \"origin\"]\n\turl = /evil\n":                           false,
		"[remote]\n\tpushDefault = evil\n":                               false,
		"[gc]\n\trecentObjectsHook = evil\n":                             false,
		"[lfs]\n\turl = evil\n":                                          false,
		"[branch \"x\"]\n\tremote = origin\n[alias]\n\tx = !evil\n":      false,
		"[branch \"x\"]\n\tremote = origin\n[include]\n\tpath = /evil\n": false,
		"[branch \"x\"]\n\tremote = origin\n\trebase\n":                  false,
		"rubbish\n": false,
	} {
		if got := onlyNotes(was, was+added); got != want {
			t.Errorf("%q: got %v", added, got)
		}
	}
	if onlyNotes(was, "[core]\n\tbare = false\n") || !onlyNotes(was+"[branch \"x\"]\n\tremote = origin\n", was) {
		t.Error("a remote was removed, or a branch was not")
	}
	if !onlyNotes(was, "[core]\n\tbare = false\n\thooksPath = .husky/_\n"+was[len("[core]\n\tbare = false\n"):]) {
		t.Error("the hooks of a package manager")
	}
}
