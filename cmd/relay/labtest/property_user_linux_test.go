package labtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// user is whose repository it is, and what they do in it while relay works: in most nights, nothing.
type user struct {
	*lab
	does  []string
	own   string            // files, index, HEAD and branch as they have left them
	refs  map[string]string // commits of other branches and of tags, by full names
	stash []string          // messages
}

func newUser(l *lab, made map[string]string, dice *rand.Rand) *user {
	u := &user{lab: l, stash: []string{"On main: mine"}}
	if dice.IntN(4) == 0 {
		for range 1 + dice.IntN(6) {
			u.does = append(u.does, []string{"commit", "stage", "stash", "tag", "branch"}[dice.IntN(5)])
		}
	}
	for _, kind := range made {
		if strings.Contains(kind, "pops") { // what is stashed and popped before relay looks, it cannot know of
			u.does = slices.DeleteFunc(u.does, func(what string) bool { return what == "stash" })
		}
	}
	u.own, u.refs = u.inFront(), u.names()
	return u
}

// names are the user's branches but for main, and tags.
func (u *user) names() map[string]string {
	refs := make(map[string]string)
	for line := range strings.Lines(u.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/feature", "refs/heads/doomed", "refs/heads/mine-*", "refs/tags")) {
		name, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = commit
	}
	return refs
}

// during lets relay work, and the user do something whenever another agent has begun.
func (u *user) during(r *running) {
	u.t.Helper()
	u.begin(r)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for begun := len(u.starts()); len(u.does) > 0; {
		select {
		case <-r.done:
			return
		case <-tick.C:
		}
		if now := len(u.starts()); now > begun {
			begun = now
			u.act()
		}
	}
	u.end(r)
}

// act does the next thing.
func (u *user) act() {
	u.t.Helper()
	name := fmt.Sprintf("mine-%d", len(u.does))
	switch u.does[0] {
	case "commit":
		u.write(name, "mine\n")
		u.git("add", name)
		u.git("commit", "-q", "-m", name)
	case "stage":
		u.write(name, "staged\n")
		u.git("add", name)
	case "stash":
		u.write("mine.txt", name+"\n")
		u.git("stash", "push", "-q", "-m", name)
		u.stash = append(u.stash, "On main: "+name)
	case "tag":
		u.git("tag", name)
		u.refs["refs/tags/"+name] = u.git("rev-parse", "main")
	case "branch":
		u.git("branch", name)
		u.refs["refs/heads/"+name] = u.git("rev-parse", "main")
	}
	u.does, u.own = u.does[1:], u.inFront()
}

// undisturbed wants everything of the user's to be as they have left it.
func (u *user) undisturbed() {
	u.t.Helper()
	if now := u.inFront(); now != u.own {
		u.t.Errorf("the user's checkout is not what it was:\n%s\nbefore:\n%s", now, u.own)
	}
	stash := strings.Split(u.git("stash", "list", "--format=%gs"), "\n")
	slices.Sort(stash)
	slices.Sort(u.stash)
	if !slices.Equal(stash, u.stash) {
		u.t.Errorf("the stash holds %q, want %q", stash, u.stash)
	}
	now := u.names()
	for name, commit := range u.refs {
		if now[name] != commit {
			u.t.Errorf("%s is at %s, and was at %s", name, now[name], commit)
		}
	}
}
